// The partitioned training step of a job, put together from its parts.
#include <algorithm>
#include <utility>

#include "workload/job/job.h"
#include "workload/job/measured_layers.h"
#include "workload/model/model_program.h"
#include "workload/partition/measured_part.h"
#include "workload/partition/model_flops.h"
#include "workload/partition/partitioned_model.h"
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
  const Flops stated = job.measured->model_flops_per_token;
  program.flops_per_token = {stated, stated, stated, stated, stated, {}};
}

}  // namespace

PartitionedModel partitioned_parts(const Job& job, const CostModel& cost, PartitionTrace* trace) {
  PartitionedModel pieces;
  pieces.model = model_program(job);
  split_recomputing_layers(job, pieces.model);
  if (job.measured) return pieces;
  for (const ModelPart& piece : pieces.model.parts)
    pieces.parts.push_back(partition_part(job, cost, piece, trace));
  return pieces;
}

PartitionedModel partition_model(const Job& job, const CostModel& cost, PartitionTrace* trace) {
  PartitionedModel pieces = partitioned_parts(job, cost, trace);
  if (job.measured) return pieces;
  pieces.parameters = parameter_count(pieces.model);
  pieces.flops_per_token = flops_per_token(job, pieces.model);
  return pieces;
}

Job job_of_pieces(const Job& job) {
  const Job none;
  Job pieces = job;
  pieces.global_batch = none.global_batch;
  if (job.recompute_layers == 0 && job.recompute_every == 1) {
    pieces.schedule = none.schedule;
    pieces.chunks_per_stage = none.chunks_per_stage;
    pieces.layers_per_chunk = none.layers_per_chunk;
  }
  pieces.input_bytes_per_token = none.input_bytes_per_token;
  pieces.input_rate = none.input_rate;
  pieces.storage_rate = none.storage_rate;
  pieces.batches_ahead = none.batches_ahead;
  pieces.evaluation = none.evaluation;
  pieces.lengths = none.lengths;
  return pieces;
}

StepProgram step_program(const Job& job, const PartitionedModel& pieces) {
  StepProgram program;
  program.mesh = job.mesh;
  program.pipeline_axis = job.pipeline_axis.empty() ? -1 : job.mesh.find(job.pipeline_axis);
  const PipelineShape pipeline = pipeline_shape(job);
  program.stages = pipeline.stages;
  program.schedule = job.schedule;
  program.microbatches = microbatches(job);
  const int count = piece_count(pipeline);
  program.chunks = pipeline_chunks(
      model_pieces(pieces.model, count, layers_of_pieces(job, pieces.model, count)), pipeline);
  if (job.measured) {
    add_measured(job, program);
    return program;
  }
  const std::vector<bool> beside = beside_owners(program.chunks, pipeline, pieces.parts.size());
  for (int stage = 0; stage < program.stages; ++stage)
    program.memory.push_back(stage_memory(job, pieces.parts, beside,
                                          program.chunks[static_cast<std::size_t>(stage)], pipeline, stage));
  for (std::size_t p = 0; p < pieces.parts.size(); ++p)
    program.parts.push_back(pieces.parts[p].where(beside[p]));
  program.parameters = pieces.parameters;
  program.tokens = static_cast<double>(job.global_batch) * job.sequence;
  program.flops_per_token = pieces.flops_per_token;
  return program;
}

StepProgram partition(const Job& job, const CostModel& cost, PartitionTrace* trace) {
  return step_program(job, partition_model(job, cost, trace));
}

StepProgram partition(const Job& job) { return partition(job, SentBytes()); }

}  // namespace podsim
