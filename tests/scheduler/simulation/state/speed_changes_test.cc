// Speeds that change while the simulation runs: hand-computed cases.
#include <gtest/gtest.h>

#include "scheduler/folding/laid_job.h"
#include "tests/scheduler/fixture.h"

namespace podsim::speed_changes_test {
namespace {

using testing::collective;

Time ms(double value) { return Time::seconds(1e-3 * value); }

Degradation slow(PartKind kind, double factor, Time from, Time to) {
  Degradation entry;
  entry.which.kind = kind;
  entry.factor.mean = factor;
  entry.season.windows = {{from, to}};
  return entry;
}

// One chip that computes 15 ms.
Time one_chip(const std::vector<Degradation>& entries, int steps = 1) {
  Spec spec = testing::plain_spec();
  spec.steps = steps;
  spec.adversities.degradations = entries;
  const StepProgram program =
      testing::pipeline_program({{{"data", 1}}}, PipelineSchedule::k1F1B, 1, 1, 1, 5, 10);
  const Fabric fabric = build_fabric(testing::ring_fabric(1));
  return testing::simulate_step(spec, program, fabric, true).timeline.step_end.back();
}

TEST(SpeedChanges, a_computation_has_done_its_share_when_the_speed_changes) {
  // 3 ms at full speed, 5 ms at half speed do 2.5 ms, and 9.5 ms are left.
  EXPECT_EQ(one_chip({slow(PartKind::kChip, 0.5, ms(3), ms(8))}), ms(17.5));
  // Two hosts' worth of slowness multiply: 3 ms, 5 ms at a quarter do 1.25 ms, 10.75 ms are left.
  EXPECT_EQ(one_chip({slow(PartKind::kChip, 0.5, ms(3), ms(8)), slow(PartKind::kHost, 0.5, ms(3), ms(8))}),
            ms(18.75));
}

TEST(SpeedChanges, a_part_is_rounded_to_the_nearest_picosecond_at_full_speed) {
  // 7 ps at 0.3 of the speed do 2.1 ps, which counts as 2: 5 ps are lost.
  EXPECT_EQ(one_chip({slow(PartKind::kChip, 0.3, ms(3), ms(3) + Time{7})}), ms(15) + Time{5});
  // 6 ps do 1.8 ps, which counts as 2.
  EXPECT_EQ(one_chip({slow(PartKind::kChip, 0.3, ms(3), ms(3) + Time{6})}), ms(15) + Time{4});
}

TEST(SpeedChanges, a_window_that_ends_when_the_computation_does_changes_nothing_afterwards) {
  EXPECT_EQ(one_chip({slow(PartKind::kChip, 0.5, ms(10), ms(20))}), ms(20));
  EXPECT_EQ(one_chip({slow(PartKind::kChip, 0.5, ms(15), ms(20))}), ms(15));
}

TEST(SpeedChanges, a_thermal_cycle_costs_its_duty_share) {
  // The first half of each millisecond at half speed: 0.75 ms are done in each.
  Degradation cycle = slow(PartKind::kChip, 0.5, {}, ms(0.5));
  cycle.season.repeat = ms(1);
  EXPECT_EQ(one_chip({cycle}), ms(20));
  EXPECT_EQ(one_chip({cycle}, 1000), 1000 * ms(20));
}

TEST(SpeedChanges, a_swing_loses_half_its_amplitude_over_whole_periods) {
  Degradation swing;
  swing.factor.mean = 1;
  swing.season.swing_amplitude = 0.2;
  swing.season.swing_period = ms(1.5);
  // Mean speed 0.9: 100 steps of 15 ms take 1000 periods of 1.5 ms and a ninth more.
  EXPECT_NEAR(static_cast<double>(one_chip({swing}, 90).ps), 1.5e12, 1e7);
}

// Eight chips in a ring that compute 15 ms, and between 5 and 15 ms of that nothing is sent.
struct Ring {
  Spec spec = testing::plain_spec();
  StepProgram program = testing::pipeline_program({{{"data", 8}}}, PipelineSchedule::k1F1B, 1, 1, 1, 5, 10);
  Fabric fabric = build_fabric(testing::ring_fabric(8));

  Ring() {
    testing::layer_of(program).backward.push_back(
        collective(CollectiveKind::kAllReduce, 1, 64e6, Purpose::kActivation));
  }
  Time run(const std::vector<Degradation>& entries) {
    spec.adversities.degradations = entries;
    return testing::simulate_step(spec, program, fabric, true).timeline.step_end.back();
  }
  Degradation one_link(double factor, Time from, Time to) const {
    Degradation entry = slow(PartKind::kIci, factor, from, to);
    entry.which.numbers = {{3, 3}};
    return entry;
  }
};

TEST(SpeedChanges, a_transfer_has_sent_its_share_when_the_capacity_changes) {
  Ring ring;
  const Time full = ring.run({}), half = ring.run({ring.one_link(0.5, {}, ms(1000))});
  const Time drain = half - full;  // of all bytes at full capacity
  ASSERT_GT(drain, ms(1));
  const Time middle = ms(15) + Time{drain.ps / 4};
  // A quarter at full capacity, three quarters at half: 1.75 times as long, but for the latency.
  EXPECT_NEAR(static_cast<double>((ring.run({ring.one_link(0.5, middle, ms(1000))}) - full).ps),
              0.75 * static_cast<double>(drain.ps), 1);
}

TEST(SpeedChanges, a_link_that_is_down_stalls_what_is_on_it_and_nothing_else) {
  Ring ring;
  const Time full = ring.run({});
  EXPECT_EQ(ring.run({ring.one_link(0, ms(16), ms(21))}), full + ms(5)) << "in the middle of the transfer";
  EXPECT_EQ(ring.run({ring.one_link(0, ms(2), ms(14))}), full) << "while chips compute";
  EXPECT_EQ(ring.run({ring.one_link(0, ms(14), ms(19))}), full + ms(4)) << "it was to begin at 15 ms";
}

TEST(SpeedChanges, the_longest_standstill_on_a_link_that_flaps_is_told) {
  Ring ring;
  Degradation flap = ring.one_link(0, ms(14), ms(19)), idle = ring.one_link(0, ms(1), ms(3));
  flap.cause = idle.cause = Degradation::Cause::kFlap;
  ring.spec.adversities.degradations = {idle, flap};
  const Timeline timeline = testing::simulate_step(ring.spec, ring.program, ring.fabric, true).timeline;
  ASSERT_EQ(timeline.standstills.size(), 1u) << "nothing was to be sent at 1 ms";
  EXPECT_EQ(timeline.standstills[0].entry, 1);
  EXPECT_EQ(timeline.standstills[0].begin, ms(15));
  EXPECT_EQ(timeline.standstills[0].end, ms(19));
}

TEST(SpeedChanges, hours_with_one_window_cost_few_events) {
  Ring ring;
  ring.spec.steps = 100000;
  const Degradation window = ring.one_link(0.5, Time::seconds(300), Time::seconds(600));
  ring.spec.adversities.degradations = {window};
  const LaidJob job = testing::lay(ring.spec, ring.program, ring.fabric, 0);
  const System system = assemble(ring.fabric, {&job, 1}, ring.spec.adversities, true);
  SimulateOptions options;
  options.steps = ring.spec.steps;
  const Timeline jumping = simulate(system, options).front();
  options.steady = false;
  const Timeline whole = simulate(system, options).front();
  EXPECT_EQ(jumping.step_end, whole.step_end);
  for (std::size_t c = 0; c < whole.chips.size(); ++c)
    EXPECT_EQ(jumping.chips[c].bucket, whole.chips[c].bucket);
  EXPECT_GT(whole.step_end.back(), Time::seconds(600));
  EXPECT_LT(1000 * jumping.events, whole.events);
}

}  // namespace
}  // namespace podsim::speed_changes_test
