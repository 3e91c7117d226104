// The partitioned training step of a job, put together from its parts.
#include <utility>

#include "workload/memory.h"
#include "workload/model_flops.h"
#include "workload/partition_part.h"
#include "workload/program.h"
#include "workload/sharding.h"
#include "workload/stages.h"
#include "workload/transformer.h"

namespace podsim {

StepProgram partition(const Job& job, const PartitionCosts& costs) {
  StepProgram program;
  program.mesh = job.mesh;
  program.pipeline_axis = job.pipeline_axis.empty() ? -1 : job.mesh.find(job.pipeline_axis);
  program.stages =
      program.pipeline_axis < 0 ? 1 : job.mesh.axes[static_cast<std::size_t>(program.pipeline_axis)].size;
  program.chunks = pipeline_chunks(job.model.layers, program.stages, job.chunks_per_stage);
  program.schedule = job.schedule;
  program.microbatches = job.microbatches();

  // A tied table is the embedding's own unless another stage holds the head.
  const bool head_owns_table = !job.model.tied_embedding || program.stages > 1;
  PartitionedModel model = {
      partition_part(job, costs, embedding_graph(job), "embedding", Recompute::kNone, true),
      partition_part(job, costs, layer_graph(job), "layer", job.recompute, true),
      partition_part(job, costs, head_graph(job), "head", Recompute::kNone, head_owns_table),
  };
  program.boundary = model.layer.footprint.output;
  for (int stage = 0; stage < program.stages; ++stage) {
    program.memory.push_back(
        stage_memory(job, model, program.chunks[static_cast<std::size_t>(stage)], stage, program.stages));
  }
  program.embedding = std::move(model.embedding.part);
  program.layer = std::move(model.layer.part);
  program.head = std::move(model.head.part);

  program.parameters =
      program.embedding.parameters + job.model.layers * program.layer.parameters + program.head.parameters;
  program.tokens = static_cast<double>(job.global_batch) * job.sequence;
  program.model_flops_per_token_full = model_flops_per_token(job.model, job.sequence, false);
  program.model_flops_per_token_causal = model_flops_per_token(job.model, job.sequence, true);
  program.hardware_flops_per_token_full = hardware_flops_per_token(job);
  return program;
}

std::string axis_names(const Mesh& mesh, AxisSet axes) {
  std::string names;
  for (std::size_t axis = 0; axis < mesh.axes.size(); ++axis) {
    if (!(axes & axis_bit(static_cast<int>(axis)))) continue;
    if (!names.empty()) names += '+';
    names += mesh.axes[axis].name;
  }
  return names.empty() ? "none" : names;
}

}  // namespace podsim
