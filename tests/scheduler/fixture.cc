// Builds the small steps of the scheduler's tests.
#include "tests/scheduler/fixture.h"

#include "scheduler/folding/laid_job.h"
#include "scheduler/placement/place.h"

namespace podsim::testing {

Spec plain_spec() {
  Spec spec;
  Chip& chip = spec.cluster.chip;
  chip.name = "plain";
  chip.matmul[Dtype::kBf16] = {{1e15}, 1};
  chip.hbm = {1e12};
  chip.hbm_capacity = {1e11};
  Stack& stack = spec.job.stack;
  stack.name = "plain";
  stack.prefetch_forward = stack.prefetch_backward = 0;
  stack.gradients_overlapped = false;
  stack.send_exposed = 1;
  spec.cluster.fabric.gpu.emplace();  // for hosts of four chips
  return spec;
}

ComputeOp milliseconds(double ms) {
  ComputeOp op;
  op.name = "work";
  op.op_class = OpClass::kMemoryBound;
  op.hbm = {ms * 1e9};
  return op;
}

CollectiveOp collective(CollectiveKind kind, AxisSet axes, double bytes, Purpose purpose) {
  return {"tensor", kind, axes, {bytes}, purpose};
}

FabricSpec ring_fabric(int chips) {
  FabricSpec fabric;
  fabric.name = "ring";
  fabric.chips = chips;
  fabric.torus.emplace();
  fabric.torus->shape = {chips, 1, 1};
  fabric.torus->dimensions = 1;
  fabric.torus->ici = {{50e9}, 1, Time::seconds(1e-6)};
  return fabric;
}

FabricSpec gpu_fabric(int chips, int per_domain, int leaf) {
  FabricSpec fabric;
  fabric.name = "servers";
  fabric.chips = chips;
  fabric.gpu.emplace();
  fabric.gpu->gpus_per_domain = per_domain;
  fabric.gpu->nvlink = {{400e9}, 1, Time::seconds(0.5e-6)};
  fabric.gpu->nic = {{50e9}, 1, Time::seconds(1e-6)};
  fabric.gpu->tiers = {{leaf, 1}, {1024, 1}};
  return fabric;
}

StepProgram pipeline_program(const Mesh& mesh, PipelineSchedule schedule, int stages, int chunks,
                             int microbatches, double forward_ms, double backward_ms) {
  StepProgram program;
  program.mesh = mesh;
  program.pipeline_axis = stages > 1 ? 0 : -1;
  program.stages = stages;
  program.schedule = schedule;
  program.microbatches = microbatches;
  Part layer;
  layer.name = "layer";
  layer.forward = {milliseconds(forward_ms)};
  layer.backward = {milliseconds(backward_ms)};
  program.parts = {layer};
  program.chunks.assign(stages, std::vector<ChunkShape>(chunks, ChunkShape{{{0, 1}}}));
  program.memory.resize(stages);
  return program;
}

Part& layer_of(StepProgram& program) { return program.parts.front(); }

Outcome simulate_step(const Spec& spec, const StepProgram& program, const Fabric& fabric, bool fold_classes) {
  const LaidJob job{spec, program, place(fabric, program.mesh, {})};
  const Fabric slowed = with_slow_links(fabric, slow_links(spec.adversities.degradations));
  Outcome outcome{assemble(slowed, {&job, 1}, spec.adversities, fold_classes), {}};
  SimulateOptions options;
  options.seed = spec.seed;
  options.steps = spec.steps;
  options.draw(spec.adversities);
  options.keep_intervals = true;
  outcome.timeline = simulate(outcome.system, options).front();
  return outcome;
}

LaidJob lay(const Spec& spec, const StepProgram& program, const Fabric& fabric, ChipId first) {
  return {spec, program, place(fabric, program.mesh, {}, first)};
}

std::vector<Timeline> simulate_jobs(const Fabric& fabric, const std::vector<LaidJob>& jobs, int steps,
                                    bool fold_classes, const Adversities& adversities) {
  const Fabric slowed = with_slow_links(fabric, slow_links(adversities.degradations));
  SimulateOptions options;
  options.steps = steps;
  options.draw(adversities);
  return simulate(assemble(slowed, jobs, adversities, fold_classes), options);
}

}  // namespace podsim::testing
