// Loading batches: who sets the pace, and how far ahead.
#include <gtest/gtest.h>

#include "scheduler/folding/laid_job.h"
#include "scheduler/simulation/state/running.h"
#include "tests/scheduler/fixture.h"

namespace podsim::input_test {
namespace {

using testing::milliseconds;

// Steps of 10 ms on one chip.
struct Case {
  Spec spec = testing::plain_spec();
  StepProgram program = testing::pipeline_program({{{"data", 1}}}, PipelineSchedule::k1F1B, 1, 1, 1, 10, 0);
  Fabric fabric = build_fabric(testing::ring_fabric(1));

  Case() {
    program.tokens = 1e6;  // 4 MB
    spec.cluster.fabric.chips_per_host = 1;
  }
  Timeline run() const { return testing::simulate_step(spec, program, fabric, true).timeline; }
  double stall_ms() const {
    return run().chips[0].bucket[static_cast<int>(Bucket::kInput)].in_seconds() * 1e3;
  }
};

TEST(Input, the_slower_of_host_and_storage_sets_the_pace) {
  Case c;
  c.spec.job.input_rate = {1e9};
  EXPECT_DOUBLE_EQ(c.stall_ms(), 0) << "4 ms to load";
  c.spec.job.storage_rate = {0.25e9};
  EXPECT_DOUBLE_EQ(c.stall_ms(), 6) << "16 ms to load";
  c.spec.job.input_rate = {0.2e9};
  EXPECT_DOUBLE_EQ(c.stall_ms(), 10) << "20 ms to load";
}

TEST(Input, hosts_share_the_storage_but_not_each_other) {
  Case c;
  c.program.mesh = {{{"data", 4}}};
  c.fabric = build_fabric(testing::ring_fabric(4));
  c.spec.job.input_rate = {0.1e9};
  EXPECT_DOUBLE_EQ(c.stall_ms(), 0) << "1 MB for each of four hosts, 10 ms";
  c.spec.job.storage_rate = {0.1e9};
  EXPECT_DOUBLE_EQ(c.stall_ms(), 30) << "4 MB in 40 ms";
}

TEST(Input, a_host_reads_for_the_chips_of_the_job_alone) {
  for (const int chips : {1, 2, 4, 8, 16}) {
    Case c;
    c.program.mesh = {{{"data", chips}}};
    c.fabric = build_fabric(testing::ring_fabric(chips));
    c.spec.cluster.fabric.chips_per_host = 8;
    c.spec.job.input_rate = {0.1e9};
    EXPECT_DOUBLE_EQ(c.stall_ms(), chips <= 8 ? 30 : 10)
        << chips << " chips: 4 MB for all, 40 ms of one host";
    if (chips < 2) continue;
    c.spec.cluster.fabric.slices = 2;
    EXPECT_DOUBLE_EQ(c.stall_ms(), 10) << chips << " chips in two slices, which have no host in common";
  }
}

TEST(Input, a_pace_too_slow_stalls_every_step_however_far_ahead) {
  for (int ahead : {1, 2, 16}) {
    Case c;
    c.spec.steps = 50;
    c.spec.job.batches_ahead = ahead;
    c.spec.job.storage_rate = {0.25e9};
    EXPECT_EQ(c.run().step_end.back(), Time::seconds(50 * 16e-3));
  }
}

// A chip that slows down for a while makes room for batches ahead, which are then used up.
TEST(Input, jumps_over_steps_know_of_the_batches_ahead) {
  for (const int ahead : {1, 3}) {
    for (const double load_ms : {4.0, 12.0}) {
      Case c;
      c.spec.job.batches_ahead = ahead;
      c.spec.job.storage_rate = {4e6 / (1e-3 * load_ms)};
      Degradation slow;
      slow.factor.mean = 0.5;
      slow.season.windows = {{Time::seconds(1), Time::seconds(2)}};
      c.spec.adversities.degradations = {slow};
      const LaidJob job = testing::lay(c.spec, c.program, c.fabric, 0);
      const System system = assemble(c.fabric, {&job, 1}, c.spec.adversities, true);
      SimulateOptions options;
      options.steps = 500;
      const Timeline jumping = simulate(system, options).front();
      options.steady = false;
      const Timeline whole = simulate(system, options).front();
      EXPECT_EQ(jumping.step_end, whole.step_end) << ahead << " ahead, " << load_ms << " ms";
      EXPECT_EQ(jumping.chips[0].bucket, whole.chips[0].bucket);
      EXPECT_GT(jumping.periods_skipped, 400);
    }
  }
}

// Steps that would take 4 and 16 ms in turn, batches that take 10 ms to load.
std::vector<std::int64_t> step_begins(int ahead) {
  const InputPipeline input{{10}, ahead};
  RunningJob job;
  job.input = &input;
  Time now;
  for (int step = 0; step < 6; ++step) {
    job.begin_step(now);
    now = std::max(now + Time{step % 2 == 0 ? 4 : 16}, job.next_batch);
  }
  std::vector<std::int64_t> begins;
  for (const Time begin : job.begins) begins.push_back(begin.ps);
  return begins;
}

TEST(Input, one_batch_ahead_a_short_step_waits_for_the_load_that_began_with_it) {
  EXPECT_EQ(step_begins(1), (std::vector<std::int64_t>{0, 10, 26, 36, 52, 62}));
}

TEST(Input, two_ahead_the_long_steps_make_up_for_the_short_ones) {
  // Loads 0-10, 10-20, 20-30, and from then on each when there is room: at 26, 30, 46.
  EXPECT_EQ(step_begins(2), (std::vector<std::int64_t>{0, 10, 26, 30, 46, 50}));
}

TEST(Input, depth_absorbs_jitter) {
  const auto stall = [](int ahead) {
    Case c;
    c.spec.steps = 400;
    c.spec.adversities.jitter.coefficient_of_variation = 0.4;
    c.spec.job.batches_ahead = ahead;
    c.spec.job.storage_rate = {4e6 / 9e-3};  // 9 ms, 0.9 of the mean step
    return c.stall_ms() / 400;
  };
  EXPECT_GT(stall(1), 0.5) << "ms per step";
  EXPECT_LT(stall(2), 0.5 * stall(1));
  EXPECT_LT(stall(4), 0.5 * stall(2));
  EXPECT_LE(stall(32), stall(4));
}

// Steps of 10 ms whose batches take 16, as every loop simulates them.
std::vector<Timeline> by_every_loop(SimulateOptions options) {
  Case c;
  c.spec.job.storage_rate = {0.25e9};
  const LaidJob job = testing::lay(c.spec, c.program, c.fabric, 0);
  const System system = assemble(c.fabric, {&job, 1}, {}, true);
  std::vector<Timeline> timelines;
  for (const Loop loop : {Loop::kReference, Loop::kOrdered, Loop::kFast}) {
    options.loop = loop;
    timelines.push_back(simulate(system, options).front());
  }
  return timelines;
}

TEST(Input, a_wait_for_a_batch_is_told_as_one_by_every_loop) {
  SimulateOptions options;
  options.keep_intervals = true;
  options.steps = 2;
  for (const Timeline& timeline : by_every_loop(options)) {
    Time waited, computed;
    for (const Interval& each : timeline.intervals) {
      if (each.what == "wait for input") waited += each.end - each.begin;
      if (each.what == "compute") computed += each.end - each.begin;
    }
    EXPECT_EQ(waited, Time::seconds(2 * 6e-3));
    EXPECT_EQ(computed, Time::seconds(2 * 10e-3));
  }
}

TEST(Input, a_wait_for_a_batch_is_no_pass_of_the_chip) {
  SimulateOptions options;
  options.keep_passes = 1;
  for (const Timeline& timeline : by_every_loop(options)) {
    const StepPasses& step = timeline.passes.at(0);
    EXPECT_EQ(step.next_batch, Time::seconds(16e-3));
    EXPECT_EQ(step.end, step.next_batch);
    Time own;
    for (const PassTime& pass : step.chips.at(0).passes) own += pass.own;
    EXPECT_EQ(own, Time::seconds(10e-3));
  }
}

}  // namespace
}  // namespace podsim::input_test
