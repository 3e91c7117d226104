// Hosts that launch gradient collectives late, and loads that stall: who waits, in which bucket, how long.
#include "scheduler/simulation/state/late_launches.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/rounds.h"
#include "tests/scheduler/fixture.h"

namespace podsim::late_launches_test {
namespace {

using testing::collective;

constexpr AxisSet kData = 1;

// Four chips, 10 ms of computation, then an all-reduce of 1 ms.
struct Case {
  Spec spec = testing::plain_spec();
  StepProgram program = testing::pipeline_program({{{"data", 4}}}, PipelineSchedule::k1F1B, 1, 1, 1, 4, 6);
  FabricSpec fabric = testing::ring_fabric(4);

  Case() {
    spec.cluster.fabric = fabric;
    spec.cluster.fabric.chips_per_host = 1;
    testing::layer_of(program).gradient_reduce = {
        collective(CollectiveKind::kAllReduce, kData, 66e6, Purpose::kGradient)};
  }
  StepVariation& variation() { return spec.adversities.variation; }
  Timeline run(bool fold = true) const {
    return testing::simulate_step(spec, program, build_fabric(fabric), fold).timeline;
  }
};

double ms(Time time) { return time.in_seconds() * 1e3; }

const ChipTotals& totals_of(const Timeline& timeline, ChipId chip) {
  for (const ChipTotals& each : timeline.chips)
    if (each.representative == chip) return each;
  return timeline.chips.front();
}

double ms(const ChipTotals& chip, Bucket bucket) { return ms(chip.bucket[static_cast<int>(bucket)]); }

TEST(LateLaunch, delays_the_collective_of_all_by_what_one_host_is_late) {
  Case on_time, late;
  late.variation().late = {{1, Time::seconds(3e-3), {}, {}}};
  EXPECT_EQ(late.run().step_end.back(), on_time.run().step_end.back() + Time::seconds(3e-3));
}

TEST(LateLaunch, is_a_pause_of_its_chip_and_a_wait_of_the_others_who_name_it) {
  Case c;
  const double communication = ms(c.run().chips[0], Bucket::kCommunication);
  c.variation().late = {{1, Time::seconds(3e-3), {}, {}}};
  const Timeline timeline = c.run();
  EXPECT_EQ(timeline.chips.size(), 2u) << "the late one and the others";
  const ChipTotals &late = totals_of(timeline, 1), &other = totals_of(timeline, 0);
  EXPECT_DOUBLE_EQ(ms(late, Bucket::kPause), 3);
  EXPECT_DOUBLE_EQ(ms(late, Bucket::kPeerWait), 0);
  EXPECT_DOUBLE_EQ(ms(other, Bucket::kPeerWait), 3);
  EXPECT_TRUE(late.caused_ps == 9 * Time::seconds(1e-3).ps);
  for (const ChipTotals& chip : timeline.chips) {
    EXPECT_DOUBLE_EQ(ms(chip, Bucket::kCompute), 10);
    EXPECT_DOUBLE_EQ(ms(chip, Bucket::kCommunication), communication);
  }
}

TEST(LateLaunch, that_drifts_makes_every_step_longer_by_as_much_while_computation_stays) {
  Case c;
  c.spec.steps = 10;
  c.variation().late = {{1, {}, Time::seconds(0.5e-3), {}}};
  const Timeline timeline = c.run();
  Time begin, before;
  for (std::size_t s = 0; s < timeline.step_end.size(); ++s) {
    const Time step = timeline.step_end[s] - begin;
    if (s > 0) {
      EXPECT_EQ(step - before, Time::seconds(0.5e-3)) << s;
    }
    before = step;
    begin = timeline.step_end[s];
  }
  for (const ChipTotals& chip : timeline.chips) EXPECT_DOUBLE_EQ(ms(chip, Bucket::kCompute), 10 * 10);
  EXPECT_DOUBLE_EQ(ms(totals_of(timeline, 1), Bucket::kPause), 0.5 * 45);
}

// Two layers: the reduction of the second, which backward meets first, runs beside the backward pass of the
// first. Late by less than what is left of the pass, it costs nothing.
TEST(LateLaunch, beside_computation_costs_only_what_computation_does_not_cover) {
  Case c;
  c.spec.job.stack.gradients_overlapped = true;
  c.program.chunks[0][0].runs = {{0, 2}};
  const auto step = [&](double late_ms) {
    c.variation().late = {{2, Time::seconds(late_ms * 1e-3), {}, {}}};
    return ms(c.run().step_end.back());
  };
  const double on_time = ms(Case(c).run().step_end.back());
  EXPECT_GT(step(2), on_time) << "the last layer's launch is late and nothing is left to cover it";
  EXPECT_NEAR(step(2) - step(1), 1, 1e-9) << "the first layer's is covered, so it does not count twice";
}

TEST(LateLaunch, of_two_hosts_the_later_one_counts) {
  Case c;
  c.variation().late = {{1, Time::seconds(3e-3), {}, {}}, {2, Time::seconds(5e-3), {}, {}}};
  Case on_time;
  EXPECT_EQ(c.run().step_end.back(), on_time.run().step_end.back() + Time::seconds(5e-3));
}

TEST(LateLaunch, folded_is_unfolded_to_the_picosecond) {
  Case c;
  c.spec.steps = 5;
  c.variation().late = {{1, Time::seconds(1e-3), Time::seconds(1e-4), Time::seconds(2e-3)}};
  EXPECT_EQ(c.run(true).step_end, c.run(false).step_end);
}

// One chip, steps of 10 ms, batches that take 4 ms to load.
struct Loading : Case {
  Loading() {
    program = testing::pipeline_program({{{"data", 4}}}, PipelineSchedule::k1F1B, 1, 1, 1, 10, 0);
    program.tokens = 4e6;
    spec.job.input_rate = {1e9};
  }
};

TEST(InputStall, of_no_host_leaves_the_step) {
  Loading c;
  c.spec.steps = 10;
  c.variation().input = {0, Time::seconds(1)};
  EXPECT_EQ(c.run().step_end.back(), Time::seconds(0.1));
}

TEST(InputStall, of_every_load_sets_the_pace) {
  Loading c;
  c.spec.steps = testing::rounds(2000);
  c.variation().input = {1, Time::seconds(1)};
  const Timeline timeline = c.run();
  // The slowest of four exponential times of mean 1 s: 1 + 1/2 + 1/3 + 1/4, beside 4 ms to load and 10 ms of
  // the step that the first of them hides.
  const double mean = ms(timeline.step_end.back()) / c.spec.steps;
  EXPECT_NEAR(mean, 4 + 1e3 * 25 / 12,
              3 * 1e3 * std::sqrt(1 + 1 / 4.0 + 1 / 9.0 + 1 / 16.0) / std::sqrt(c.spec.steps));
  EXPECT_NEAR(ms(timeline.chips[0], Bucket::kInput) / c.spec.steps, mean - 10, 1e-6);
  EXPECT_EQ(timeline.chips.size(), 1u) << "all begin together, so that all wait for the slowest host";
}

TEST(InputStall, does_not_need_a_limited_rate) {
  Loading c;
  c.spec.job.input_rate = {};
  c.spec.steps = 20;
  c.variation().input = {0.5, Time::seconds(0.1)};
  const Timeline timeline = c.run();
  EXPECT_GT(ms(timeline.chips[0], Bucket::kInput), 0);
  EXPECT_DOUBLE_EQ(ms(timeline.chips[0], Bucket::kInput) + 20 * 10, ms(timeline.step_end.back()));
}

TEST(InputStall, is_absorbed_by_batches_loaded_ahead) {
  const auto stalled = [](int ahead) {
    Loading c;
    c.spec.steps = testing::rounds(2000);
    c.spec.job.batches_ahead = ahead;
    c.variation().input = {0.02, Time::seconds(20e-3)};
    return ms(c.run().chips[0], Bucket::kInput);
  };
  EXPECT_GT(stalled(1), 0);
  EXPECT_LT(stalled(4), 0.5 * stalled(1));
  EXPECT_LT(stalled(32), 0.1 * stalled(1));
}

}  // namespace
}  // namespace podsim::late_launches_test
