// How a job runs: pipeline schedule, precision, recompute and input.
#include "proto/convert.h"
#include "proto/job_resolver.h"
#include "workload/pipeline.h"

namespace podsim {

namespace {

PipelineSchedule schedule_of(schema::Pipeline::Schedule schedule, int chunks) {
  switch (schedule) {
    case schema::Pipeline::gpipe:
      return PipelineSchedule::kGpipe;
    case schema::Pipeline::one_f_one_b:
      return PipelineSchedule::k1F1B;
    case schema::Pipeline::shifting:
      return PipelineSchedule::kShifting;
    case schema::Pipeline::interleaved:
      return PipelineSchedule::kInterleaved;
    case schema::Pipeline::zero_bubble_h1:
      return PipelineSchedule::kZeroBubbleH1;
    case schema::Pipeline::zero_bubble_v:
      return PipelineSchedule::kZeroBubbleV;
    case schema::Pipeline::dualpipe:
      return PipelineSchedule::kDualPipe;
    default:
      return chunks > 1 ? PipelineSchedule::kInterleaved : PipelineSchedule::k1F1B;
  }
}

}  // namespace

void JobResolver::pipeline() {
  const auto& pipeline = choice_.pipeline();
  const std::string axis = pipeline.has_axis() ? pipeline.axis() : "pipeline";
  const bool in_mesh = job_.mesh.find(axis) >= 0;
  if (!choice_.has_pipeline() && !in_mesh) return;
  if (!in_mesh && document_.clean_below(at("mesh"))) {
    std::vector<std::string> axes;
    for (const MeshAxis& each : job_.mesh.axes) axes.push_back(each.name);
    document_.report(at("pipeline.axis"), "the mesh has no axis \"" + axis + "\" for the pipeline",
                     suggest(axis, axes, "it has"));
  }
  job_.pipeline_axis = axis;
  job_.schedule = schedule_of(pipeline.schedule(), pipeline.chunks_per_stage());
  job_.chunks_per_stage = pipeline.has_chunks_per_stage() ? pipeline.chunks_per_stage()
                                                          : fixed_chunks(job_.schedule).value_or(1);
  job_.layers_per_chunk = {pipeline.layers_per_chunk().begin(), pipeline.layers_per_chunk().end()};
}

void JobResolver::precision() {
  job_.matmul_dtype = choice_.has_precision() ? to_dtype(choice_.precision()) : Dtype::kBf16;
  if (!cluster_.chip || cluster_.chip->matmul.count(job_.matmul_dtype)) return;
  std::vector<std::string> dtypes;
  for (const auto& [dtype, rate] : cluster_.chip->matmul) dtypes.emplace_back(to_string(dtype));
  document_.report(
      at("precision"),
      cluster_.chip->name + " has no matrix unit for " + std::string(to_string(job_.matmul_dtype)),
      "it has: " + list_names(dtypes));
}

void JobResolver::recompute() {
  switch (choice_.recompute()) {
    case schema::JobChoice::selective:
      job_.recompute = Recompute::kSelective;
      break;
    case schema::JobChoice::full:
      job_.recompute = Recompute::kFull;
      break;
    default:
      job_.recompute = Recompute::kNone;
  }
}

void JobResolver::input() {
  if (choice_.has_input_bytes_per_token()) job_.input_bytes_per_token = choice_.input_bytes_per_token();
  job_.input_rate = {choice_.input_rate_mb_per_s() * 1e6};
}

}  // namespace podsim
