// How a job runs: pipeline schedule, precision, recompute and input.
#include <algorithm>

#include "proto/convert.h"
#include "proto/job_resolver.h"
#include "workload/apply_precision.h"

namespace podsim {

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
  if (pipeline.has_chunks_per_stage()) job_.chunks_per_stage = pipeline.chunks_per_stage();
  switch (pipeline.schedule()) {
    case schema::Pipeline::gpipe:
      job_.schedule = PipelineSchedule::kGpipe;
      break;
    case schema::Pipeline::one_f_one_b:
      job_.schedule = PipelineSchedule::k1F1B;
      break;
    case schema::Pipeline::shifting:
      job_.schedule = PipelineSchedule::kShifting;
      break;
    case schema::Pipeline::interleaved:
      job_.schedule = PipelineSchedule::kInterleaved;
      break;
    default:
      job_.schedule = job_.chunks_per_stage > 1 ? PipelineSchedule::kInterleaved : PipelineSchedule::k1F1B;
  }
}

// The stack's recipe of this name, or the format as it is; nothing when the stack has neither.
std::optional<PrecisionRecipe> JobResolver::recipe(int schema_name, const std::string& field) {
  const std::string& name = schema::PrecisionRecipe::Name_Name(schema::PrecisionRecipe::Name(schema_name));
  for (const PrecisionRecipe& known : job_.stack.recipes)
    if (known.name == name) return known;
  if (schema::DtypeName_IsValid(schema_name)) {
    PrecisionRecipe plain;
    plain.name = name;
    plain.dtype = to_dtype(schema_name);
    plain.cast_bytes = job_.stack.cast_bytes;
    return plain;
  }
  std::vector<std::string> names;
  for (int i = 1; schema::DtypeName_IsValid(i); ++i)
    names.push_back(schema::DtypeName_Name(schema::DtypeName(i)));
  for (const PrecisionRecipe& known : job_.stack.recipes)
    if (std::find(names.begin(), names.end(), known.name) == names.end()) names.push_back(known.name);
  document_.report(field, "the stack " + job_.stack.name + " has no recipe \"" + name + "\"",
                   suggest(name, names, "it has"));
  return std::nullopt;
}

void JobResolver::check_format(Dtype dtype, const std::string& field) {
  if (!cluster_.chip || cluster_.chip->matmul.count(dtype)) return;
  std::vector<std::string> dtypes;
  for (const auto& [each, rate] : cluster_.chip->matmul) dtypes.emplace_back(to_string(each));
  document_.report(field, cluster_.chip->name + " has no matrix unit for " + std::string(to_string(dtype)),
                   "it has: " + list_names(dtypes));
}

void JobResolver::precision() {
  if (!document_.clean_below(at("stack")) || !document_.clean_below(at("stack_override"))) return;
  const int name = choice_.has_precision() ? choice_.precision() : schema::PrecisionRecipe::bf16;
  if (const auto chosen = recipe(name, at("precision"))) {
    job_.precision = *chosen;
    check_format(chosen->dtype, at("precision"));
  }
  for (int i = 0; i < choice_.gemm_precision_size(); ++i) {
    const auto& own = choice_.gemm_precision(i);
    const std::string field = at("gemm_precision[" + std::to_string(i) + "]");
    const auto chosen = recipe(own.precision(), field + ".precision");
    if (!chosen) continue;
    job_.gemm_precision.push_back({own.gemm(), *chosen});
    check_format(chosen->dtype, field + ".precision");
  }
  Stack& stack = job_.stack;
  if (stack.kernels_per_layer == 0) return;
  const double more = 1 + job_.precision.extra_kernels / stack.kernels_per_layer;
  stack.kernels_per_layer *= more;
  stack.backward_kernels *= more;
}

// REQUIRES: the model is good.
void JobResolver::check_gemms() {
  const std::vector<std::string> names = matmul_names(model_program(job_));
  const auto known = [&](const std::string& gemm) {
    return std::find(names.begin(), names.end(), gemm) != names.end();
  };
  for (std::size_t i = 0; i < job_.gemm_precision.size(); ++i) {
    const std::string& gemm = job_.gemm_precision[i].gemm;
    if (!known(gemm))
      document_.report(at("gemm_precision[" + std::to_string(i) + "].gemm"),
                       "the model has no matmul \"" + gemm + "\"", suggest(gemm, names, "it has"));
  }
  const std::vector<std::string>& gemms = job_.precision.gemms;
  if (!gemms.empty() && std::none_of(gemms.begin(), gemms.end(), known))
    document_.warn(at("precision"), job_.precision.name + " has no effect: the model has none of its matmuls",
                   "it has: " + list_names(names));
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
