// Laws of all schedules, on random steps with transfers, collectives and adversities.
#include <gtest/gtest.h>

#include <numeric>

#include "scheduler/folding/laid_job.h"
#include "tests/scheduler/simulation/random_step.h"
#include "workload/pipeline/pipeline.h"

namespace podsim::schedules_random_test {
namespace {

struct RandomSchedule {
  testing::RandomJob job;
  FabricSpec fabric;
};

PipelineShape random_shape(testing::Draw& draw, int stages) {
  PipelineShape shape{static_cast<PipelineSchedule>(draw.below(static_cast<int>(all_schedules().size()))),
                      stages, 1, 1};
  shape.chunks = schedule_traits(shape.schedule).chunks.value_or(1 + draw.below(3));
  shape.microbatches = 2 * stages * (1 + draw.below(2));
  return shape;
}

RandomSchedule random_schedule(int round) {
  testing::Draw draw(round);
  const int stages = 2 << draw.below(2), data = 1 + draw.below(3), tensor = 1 + draw.below(2);
  RandomSchedule result{testing::random_job(draw, stages, data, tensor),
                        testing::gpu_fabric(stages * data * tensor, tensor, 2 * tensor)};
  const PipelineShape shape = random_shape(draw, stages);
  StepProgram& program = result.job.program;
  program.schedule = shape.schedule;
  program.microbatches = shape.microbatches;
  program.chunks.assign(static_cast<std::size_t>(stages),
                        std::vector<ChunkShape>(static_cast<std::size_t>(shape.chunks), {{{0, 1}}}));
  Part& layer = testing::layer_of(program);
  layer.local_state = 1e6;
  for (ProgramOp& op : layer.backward) {
    if (auto* work = std::get_if<ComputeOp>(&op)) work->weight_gradient = draw.below(2);
    if (auto* exchange = std::get_if<CollectiveOp>(&op)) exchange->weight_gradient = draw.below(2);
  }
  result.job.spec.adversities = testing::random_adversities(draw, result.fabric);
  return result;
}

double seconds_of(const Block& block) {
  double seconds = 0;
  for (const ProgramOp& op : block)
    if (const auto* work = std::get_if<ComputeOp>(&op)) seconds += work->hbm.value / 1e12;
  return seconds;
}

// What one stage computes at least: every microbatch passes each of its chunks, in DualPipe one of the two.
double busy_s(const StepProgram& program) {
  const Part& layer = program.parts.front();
  double passes = program.microbatches * static_cast<double>(program.chunks.front().size());
  if (program.schedule == PipelineSchedule::kDualPipe) passes /= 2;
  if (program.schedule == PipelineSchedule::kShifting) passes += program.stages - 1;
  return passes * (seconds_of(layer.forward) + seconds_of(layer.backward));
}

TEST(ScheduleLaw, every_schedule_ends_computes_everything_once_and_folds_exactly) {
  for (int round = 0; round < 150; ++round) {
    const RandomSchedule step = random_schedule(round);
    const StepProgram& program = step.job.program;
    SCOPED_TRACE("round " + std::to_string(round) + ", schedule " +
                 std::to_string(static_cast<int>(program.schedule)));
    const Fabric fabric = build_fabric(step.fabric);
    const auto folded = testing::simulate_step(step.job.spec, program, fabric, true);
    const auto whole = testing::simulate_step(step.job.spec, program, fabric, false);
    ASSERT_EQ(folded.timeline.step_end, whole.timeline.step_end);
    ASSERT_EQ(testing::chip_time(folded.timeline), testing::chip_time(whole.timeline));
    const Time end = whole.timeline.step_end.back();
    for (const ChipTotals& chip : whole.timeline.chips) {
      const Time compute = chip.bucket[static_cast<int>(Bucket::kCompute)];
      EXPECT_NEAR(compute.in_seconds() * chip.speed, busy_s(program), 1e-9);
      EXPECT_LE(compute, end);
      EXPECT_EQ(std::accumulate(chip.bucket.begin(), chip.bucket.end(), Time{}), end);
    }
  }
}

}  // namespace
}  // namespace podsim::schedules_random_test
