// What a chip draws by what it does, on steps of one operation.
#include "report/summary/activity.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/report/example.h"
#include "workload/job/chip.h"

namespace podsim::activity_test {
namespace {

// 100 TFLOP/s sustained and 1 TB/s; 100 W without work, 500 W at work.
Spec spec_of_round_chip() {
  Spec spec = example_spec();
  Chip& chip = spec.cluster.chip;
  chip.matmul[Dtype::kBf16] = {{200e12}, 0.5};
  chip.hbm = {1e12};
  chip.memory_exposed = 1;
  return spec;
}

StepProgram program_of(const ComputeOp& op) {
  StepProgram program = example_program();
  Part part;
  part.forward = {op};
  program.parts = {part};
  program.chunks = {{{{{0, 1}}}}};
  return program;
}

ComputeOp moves(double seconds) {
  ComputeOp op;
  op.op_class = OpClass::kMemoryBound;
  op.hbm = {seconds * 1e12};
  return op;
}

Activity active(const StepProgram& program) {
  return activity_of(spec_of_round_chip(), program, one_draw(example_timeline()));
}

TEST(Activity, of_memory_is_its_bytes_over_what_it_can_carry_in_a_step) {
  const Activity activity = active(program_of(moves(4)));
  EXPECT_NEAR(activity.memory, 0.4, 1e-12) << "4 s of 10";
  EXPECT_EQ(activity.matmul, 0);
}

TEST(Activity, of_experts_is_that_of_the_mean_device_and_not_of_the_busiest) {
  ComputeOp op = moves(4);
  op.of_experts = true;
  Spec spec = spec_of_round_chip();
  spec.job.model.experts = MixtureOfExperts{.experts = 8, .imbalance = 1.6};
  const Activity activity = activity_of(spec, program_of(op), one_draw(example_timeline()));
  EXPECT_NEAR(activity.memory, 0.4 / 1.6, 1e-12);
  EXPECT_NEAR(activity.waiting, 1 - 0.4 / 1.6 - 0.005, 1e-12) << "the others wait for the busiest";
}

TEST(Activity, what_is_no_operation_and_no_lack_of_work_is_waiting) {
  const Activity activity = active(program_of(moves(4)));
  EXPECT_NEAR(activity.waiting, 1 - 0.4 - 0.005, 1e-12) << "0.05 s of 10 are without input";
}

TEST(Activity, of_work_that_is_repeated_grows_with_it) {
  StepProgram program = program_of(moves(1));
  program.microbatches = 3;
  EXPECT_NEAR(active(program).memory, 0.3, 1e-12);
  program.chunks = {{{{{0, 2}}}}, {{{{0, 0}}}}};
  program.stages = 2;
  EXPECT_NEAR(active(program).memory, 0.3, 1e-12) << "two pieces on one of two stages: one on the mean chip";
}

TEST(Activity, of_an_operation_counts_for_no_longer_than_it_takes) {
  ComputeOp hidden = moves(8);
  Spec spec = spec_of_round_chip();
  spec.cluster.chip.memory_exposed = 0.5;
  const Activity activity = activity_of(spec, program_of(hidden), one_draw(example_timeline()));
  EXPECT_NEAR(activity.memory, 0.4, 1e-12) << "8 s of traffic in 4 s";
}

TEST(Activity, measured_layers_count_as_work_for_as_long_as_they_take) {
  ComputeOp measured;
  measured.op_class = OpClass::kMeasured;
  measured.measured = Time::seconds(6);
  EXPECT_NEAR(active(program_of(measured)).matmul, 0.6, 1e-12);
}

// Both chunks of a stage hold the piece, and each sees half of the microbatches.
TEST(Activity, of_dualpipe_is_that_of_other_schedules) {
  StepProgram program = program_of(moves(1));
  program.stages = 2;
  program.microbatches = 4;
  program.chunks = {{{{{0, 1}}}}, {{{{0, 1}}}}};
  const double once = active(program).memory;
  program.schedule = PipelineSchedule::kDualPipe;
  program.chunks = {{{{{0, 1}}}, {{{0, 1}}}}, {{{{0, 1}}}, {{{0, 1}}}}};
  EXPECT_NEAR(active(program).memory, once, 1e-12);
}

// Of M v + p - 1 iterations p - 1 are on padding.
TEST(Activity, of_a_shifting_buffer_counts_its_padding) {
  StepProgram program = program_of(moves(1));
  program.stages = 2;
  program.microbatches = 4;
  program.chunks = {{{{{0, 1}}}}, {{{{0, 1}}}}};
  const double once = active(program).memory;
  program.schedule = PipelineSchedule::kShifting;
  EXPECT_NEAR(active(program).memory, once * 5 / 4, 1e-12);
}

TEST(Power, of_a_chip_is_the_sum_of_what_it_does) {
  Chip chip = spec_of_round_chip().cluster.chip;
  const PowerReport power = power_of({0.5, 0.25, 0.2, 0.05}, chip, 8);
  EXPECT_NEAR(power.matmul_w, 200, 1e-12);
  EXPECT_NEAR(power.memory_w, 100, 1e-12);
  EXPECT_NEAR(power.waiting_w, 0.2 * 0.5 * 400, 1e-12);
  EXPECT_NEAR(power.communication_w, power.waiting_w / 4, 1e-12) << "a part of waiting";
  EXPECT_NEAR(power.chip_w, power.idle_w + power.matmul_w + power.memory_w + power.waiting_w, 1e-12);
  EXPECT_NEAR(power.system_w, power.chip_w + 50, 1e-12) << "as the chip states";
}

TEST(Power, of_a_host_is_shared_by_its_chips_and_grows_with_what_they_draw) {
  Chip chip = spec_of_round_chip().cluster.chip;
  chip.power_overhead_w.reset();
  chip.power_of_host_w = 400;
  chip.power_host_share = 0.3;
  const PowerReport power = power_of({1, 0, 0}, chip, 4);
  EXPECT_NEAR(power.system_w, 500 + 100 + 150, 1e-12);
}

// Watts times seconds of a step of so many chips.
double joules(const Ensemble& ensemble, double step_s) {
  const Spec spec = spec_of_round_chip();
  return power_of(activity_of(spec, program_of(moves(4)), ensemble), spec.cluster.chip, 8).chip_w * step_s;
}

TEST(Activity, energy_of_several_draws_is_that_of_each_added_up_whichever_comes_first) {
  Timeline stalled = example_timeline(), slowed = example_timeline();
  stalled.step_end = slowed.step_end = {Time::seconds(15)};
  stalled.chips[0].bucket[static_cast<std::size_t>(Bucket::kInput)] += Time::seconds(5);
  slowed.chips[0].bucket[static_cast<std::size_t>(Bucket::kCommunication)] += Time::seconds(5);
  slowed.chips[0].exposed[0] += Time::seconds(5);
  const double sum =
      joules(one_draw(example_timeline()), 10) + joules(one_draw(stalled), 15) + joules(one_draw(slowed), 15);
  std::vector<Timeline> draws = {example_timeline(), stalled, slowed};
  for (int first = 0; first < 3; ++first) {
    Ensemble ensemble;
    for (const Timeline& draw : draws) add_draw(ensemble, draw, {});
    EXPECT_NEAR(3 * joules(ensemble, 40.0 / 3), sum, 1e-9 * sum) << first;
    std::rotate(draws.begin(), draws.begin() + 1, draws.end());
  }
}

}  // namespace
}  // namespace podsim::activity_test
