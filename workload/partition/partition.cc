// The partitioned training step of a job, put together from its parts.
#include <algorithm>
#include <utility>

#include "workload/job/job.h"
#include "workload/job/measured_layers.h"
#include "workload/model/model_program.h"
#include "workload/partition/measured_part.h"
#include "workload/partition/model_flops.h"
#include "workload/partition/partition_part.h"
#include "workload/partition/program.h"
#include "workload/partition/recompute.h"
#include "workload/partition/stage_memory.h"
#include "workload/pipeline/stages.h"
#include "workload/sharding/sharding.h"

namespace podsim {
namespace {

// Part.layer stays unset: measured times hold the gaps between kernels.
void add_measured(const Job& job, StepProgram& program) {
  for (const MeasuredLayer& layer : job.measured->layers) {
    program.parts.push_back(measured_part(job, layer));
    program.parts.back().name = layer.name;
    program.parts.back().layer = false;
  }
  program.memory.resize(static_cast<std::size_t>(program.stages));
  program.tokens = static_cast<double>(job.global_batch) * job.sequence;
  program.model_flops_per_token_full = program.model_flops_per_token_causal =
      program.hardware_flops_per_token_full = job.measured->model_flops_per_token;
}

}  // namespace

StepProgram partition(const Job& job, const CostModel& cost, PartitionTrace* trace) {
  StepProgram program;
  program.mesh = job.mesh;
  program.pipeline_axis = job.pipeline_axis.empty() ? -1 : job.mesh.find(job.pipeline_axis);
  const PipelineShape pipeline = pipeline_shape(job);
  program.stages = pipeline.stages;
  ModelProgram model = model_program(job);
  split_recomputing_layers(job, model);
  program.schedule = job.schedule;
  program.microbatches = microbatches(job);
  const int pieces = piece_count(pipeline);
  program.chunks =
      pipeline_chunks(model_pieces(model, pieces, layers_of_pieces(job, model, pieces)), pipeline);

  if (job.measured) {
    add_measured(job, program);
    return program;
  }
  std::vector<PartitionedPart> parts;
  for (const ModelPart& piece : model.parts) {
    // A shared table lives with its owner unless that may be on another stage.
    parts.push_back(partition_part(job, cost, piece, program.stages > 1, trace));
    parts.back().part.name = piece.name;
    parts.back().part.layer = piece.layer;
    parts.back().part.loss = std::any_of(piece.graph.operations.begin(), piece.graph.operations.end(),
                                         [](const Operation& op) { return op.kind == OperationKind::kLoss; });
  }
  for (int stage = 0; stage < program.stages; ++stage) {
    program.memory.push_back(
        stage_memory(job, parts, program.chunks[static_cast<std::size_t>(stage)], pipeline, stage));
  }
  for (PartitionedPart& piece : parts) program.parts.push_back(std::move(piece.part));

  program.parameters = parameter_count(model);
  program.tokens = static_cast<double>(job.global_batch) * job.sequence;
  program.model_flops_per_token_full = model_flops_per_token(job, model, false);
  program.model_flops_per_token_causal = model_flops_per_token(job, model, true);
  program.hardware_flops_per_token_full = hardware_flops_per_token(job, model);
  return program;
}

StepProgram partition(const Job& job) { return partition(job, SentBytes()); }

}  // namespace podsim
