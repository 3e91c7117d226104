// Loops whose periods are known.
#include "scheduler/simulation/fast_forward/steady_state.h"

#include <gtest/gtest.h>

#include "scheduler/folding/laid_job.h"
#include "scheduler/simulation/simulate.h"
#include "tests/scheduler/fixture.h"

namespace podsim::steady_state_test {
namespace {

using testing::collective;

constexpr AxisSet kData = 1;

Timeline run(const Spec& spec, const StepProgram& program, const FabricSpec& fabric,
             SimulateOptions options = {}) {
  const Fabric built = build_fabric(fabric);
  const LaidJob job = testing::lay(spec, program, built, 0);
  return simulate(assemble(built, {&job, 1}, spec.adversities, true), options).front();
}

// 1 ms forward and 2 ms backward of every microbatch, on two chips that reduce gradients at the end: 12 MB
// over 50 GB/s in both directions of a ring are 0.12 ms and 2 us of latency, twice half of the bytes.
StepProgram accumulation(int microbatches) {
  StepProgram program =
      testing::pipeline_program(Mesh{{{"data", 2}}}, PipelineSchedule::k1F1B, 1, 1, microbatches, 1, 2);
  testing::layer_of(program).gradient_reduce = {
      collective(CollectiveKind::kAllReduce, kData, 12e6, Purpose::kGradient)};
  return program;
}

StepProgram one_f_one_b(int microbatches) {
  StepProgram program =
      testing::pipeline_program(Mesh{{{"pipeline", 4}}}, PipelineSchedule::k1F1B, 4, 1, microbatches, 1, 2);
  testing::layer_of(program).output = {5e6};
  return program;
}

TEST(SteadyState, an_accumulation_loop_takes_as_long_as_its_microbatches) {
  const Spec spec = testing::plain_spec();
  SimulateOptions whole;
  whole.steady = false;
  const Timeline one = run(spec, accumulation(1), testing::ring_fabric(2), whole);
  const Timeline all = run(spec, accumulation(1000), testing::ring_fabric(2));
  EXPECT_EQ(all.step_end.front() - one.step_end.front(), Time::seconds(999 * 3e-3));
  EXPECT_EQ(all.chips.front().bucket[static_cast<int>(Bucket::kCompute)], Time::seconds(3));
  EXPECT_GT(all.periods_skipped, 990);
  EXPECT_LT(all.events, 50);
}

TEST(SteadyState, chip_time_that_is_waited_for_one_chip_may_exceed_64_bits) {
  Spec spec = testing::plain_spec();
  spec.adversities.add(Degradation::of_chip(3, 0.5));
  StepProgram program =
      testing::pipeline_program(Mesh{{{"data", 32}}}, PipelineSchedule::k1F1B, 1, 1, 100, 1.25e6, 2.5e6);
  testing::layer_of(program).backward.push_back(
      collective(CollectiveKind::kAllReduce, kData, 12e6, Purpose::kActivation));
  SimulateOptions whole;
  whole.steady = false;
  const Timeline jumped = run(spec, program, testing::ring_fabric(32));
  EXPECT_GT(jumped.periods_skipped, 90);
  for (const Timeline& timeline : {jumped, run(spec, program, testing::ring_fabric(32), whole)}) {
    ASSERT_EQ(timeline.chips.size(), 2u);
    EXPECT_EQ(timeline.chips[0].waited, 100 * Time::seconds(3.75e3)) << "as long as its own computation";
    EXPECT_TRUE(timeline.chips[1].caused_ps == Int128{31} * timeline.chips[0].waited.ps);
    EXPECT_GT(static_cast<double>(timeline.chips[1].caused_ps), 0x1p63);
  }
}

TEST(SteadyState, in_a_pipeline_every_further_microbatch_takes_as_long) {
  const Spec spec = testing::plain_spec();
  SimulateOptions whole;
  whole.steady = false;
  const auto step = [&](int microbatches, const SimulateOptions& options) {
    return run(spec, one_f_one_b(microbatches), testing::ring_fabric(4), options).step_end.front();
  };
  const Time ten = step(110, whole) - step(100, whole);
  EXPECT_EQ(step(10000, {}) - step(100, whole), 990 * ten);
}

TEST(SteadyState, events_do_not_grow_with_the_number_of_microbatches) {
  const Spec spec = testing::plain_spec();
  const Timeline few = run(spec, one_f_one_b(256), testing::ring_fabric(4));
  const Timeline many = run(spec, one_f_one_b(4096), testing::ring_fabric(4));
  EXPECT_EQ(few.events, many.events);
  EXPECT_EQ(many.periods_skipped - few.periods_skipped, 4096 - 256);
}

TEST(SteadyState, each_step_jumps_on_its_own_until_steps_repeat) {
  const Spec spec = testing::plain_spec();
  SimulateOptions options;
  const Timeline one = run(spec, one_f_one_b(256), testing::ring_fabric(4), options);
  options.steps = 3;
  const Timeline three = run(spec, one_f_one_b(256), testing::ring_fabric(4), options);
  EXPECT_EQ(three.periods_skipped, 2 * one.periods_skipped + 1) << "the third step is the second again";
  EXPECT_EQ(three.step_end.back(), 3 * one.step_end.front());
}

TEST(SteadyState, a_host_that_runs_ahead_of_its_chip_does_not_keep_it_from_jumping) {
  Spec spec = testing::plain_spec();
  spec.job.stack.host_launch = Time::seconds(1e-5);
  const Timeline timeline = run(spec, accumulation(1000), testing::ring_fabric(2));
  EXPECT_GT(timeline.periods_skipped, 990);
}

TEST(SteadyState, nothing_is_jumped_when_switched_off_or_under_jitter_or_where_intervals_are_kept) {
  const Spec spec = testing::plain_spec();
  SimulateOptions off, jitter, intervals;
  off.steady = false;
  jitter.jitter = 0.1;
  intervals.keep_intervals = true;
  for (const SimulateOptions& options : {off, jitter, intervals})
    EXPECT_EQ(run(spec, one_f_one_b(64), testing::ring_fabric(4), options).periods_skipped, 0);
}

// State captures.

TEST(StateCapture, a_state_repeats_when_all_that_moves_has_moved_by_the_period) {
  const auto capture = [](std::int64_t now, std::int64_t event, std::int64_t since, int queued) {
    StateCapture state(Time{now});
    state.fixed(queued);
    state.moving(Time{event});
    state.moving(INT64_MAX);
    state.past(Time{since});
    return state;
  };
  const StateCapture before = capture(100, 130, 90, 2);
  EXPECT_TRUE(capture(150, 180, 140, 2).repeats(before));
  EXPECT_TRUE(capture(150, 180, 90, 2).repeats(before)) << "a wait that goes on";
  EXPECT_FALSE(capture(150, 180, 141, 2).repeats(before));
  EXPECT_FALSE(capture(150, 181, 140, 2).repeats(before));
  EXPECT_FALSE(capture(150, 180, 140, 3).repeats(before));
  EXPECT_FALSE(capture(100, 130, 90, 2).repeats(before)) << "no time has passed";
}

TEST(StateCapture, a_host_may_gain_on_its_chip_as_long_as_they_do_not_meet) {
  const auto capture = [](std::int64_t now, std::int64_t host, std::int64_t met) {
    StateCapture state(Time{now});
    state.host(Time{host}, Time{met});
    return state;
  };
  const StateCapture before = capture(100, 80, 50);
  EXPECT_TRUE(capture(150, 130, 120).repeats(before)) << "keeps its distance";
  EXPECT_TRUE(capture(150, 110, 50).repeats(before));
  EXPECT_FALSE(capture(150, 110, 120).repeats(before)) << "met";
  EXPECT_FALSE(capture(150, 140, 50).repeats(before)) << "the chip gains on the host";
}

TEST(StateJump, every_number_gains_as_much_in_each_period) {
  const auto capture = [](std::int64_t now, std::int64_t since, std::int64_t total, std::int32_t position) {
    StateCapture state(Time{now});
    state.past(Time{since});
    state.total(total);
    state.position(position);
    return state;
  };
  StateJump jump(capture(100, 90, 1000, 4), capture(150, 140, 1007, 6), 3);
  Time since{140}, event{180};
  std::int64_t total = 1007, never = INT64_MAX;
  std::int32_t position = 6;
  jump.past(since);
  jump.moving(event);
  jump.moving(never);
  jump.total(total);
  jump.position(position);
  EXPECT_EQ(jump.span(), Time{150});
  EXPECT_EQ(since, Time{290});
  EXPECT_EQ(event, Time{330});
  EXPECT_EQ(never, INT64_MAX);
  EXPECT_EQ(total, 1028);
  EXPECT_EQ(position, 12);
}

}  // namespace
}  // namespace podsim::steady_state_test
