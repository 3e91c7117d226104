// Every published number against its definition, on an example with round figures.
#include "report/summary/summarize.h"

#include <gtest/gtest.h>

#include "tests/report/example.h"

namespace podsim::summarize_test {
namespace {

constexpr double kTolerance = 1e-12;  // relative: a few roundings of double

void expect_near(double value, double expected) {
  EXPECT_NEAR(value, expected, kTolerance * std::abs(expected));
}

Time sum_of_buckets(const Report& report) {
  return report.compute + report.exposed_communication + report.pipeline_bubble + report.straggler_delay +
         report.optimizer + report.input_stall + report.offload_wait + report.skew_wait;
}

TEST(Summarize, buckets_sum_to_the_step_time) {
  const Report report = example_report();
  EXPECT_EQ(report.step_time, Time::seconds(10));
  EXPECT_EQ(sum_of_buckets(report), report.step_time);
  EXPECT_EQ(report.compute, Time::seconds(6));
  EXPECT_EQ(report.exposed_communication, Time::seconds(2.5));
  EXPECT_EQ(report.pipeline_bubble, Time::seconds(0.45));
  EXPECT_EQ(report.optimizer, Time::seconds(1));
  EXPECT_EQ(report.input_stall, Time::seconds(0.05));
  EXPECT_EQ(report.straggler_delay, Time{});
}

TEST(Summarize, exposed_communication_is_told_apart_by_axes_and_kind_largest_first) {
  const Report report = example_report();
  ASSERT_EQ(report.exposed.size(), 2u);
  EXPECT_EQ(report.exposed[0].axes, "data");
  EXPECT_EQ(report.exposed[0].kind, "reduce-scatter");
  EXPECT_EQ(report.exposed[0].time, Time::seconds(2));
  EXPECT_EQ(report.exposed[1].time, Time::seconds(0.5));
}

TEST(Summarize, straggler_delay_is_the_step_minus_the_same_step_without_adversities) {
  const Timeline clean = example_timeline();
  Timeline slowed = clean;
  slowed.step_end = {Time::seconds(12.5)};
  slowed.chips[0].bucket[static_cast<std::size_t>(Bucket::kCompute)] += Time::seconds(2.5);
  const Report report = report_of(example_spec(), slowed, clean);
  EXPECT_EQ(report.step_time, Time::seconds(12.5));
  EXPECT_EQ(report.straggler_delay, Time::seconds(2.5));
  EXPECT_EQ(report.compute, Time::seconds(6));
  EXPECT_EQ(sum_of_buckets(report), report.step_time);
}

TEST(Summarize, mean_median_and_p99_are_over_steps) {
  Timeline timeline = example_timeline();
  timeline.step_end.clear();
  for (const double end : {3.0, 4.0, 9.0, 10.0})
    timeline.step_end.push_back(Time::seconds(end));  // 3, 1, 5, 1 s
  const Report report = report_of(example_spec(), timeline, timeline);
  EXPECT_EQ(report.steps, 4);
  EXPECT_EQ(report.step_time, Time::seconds(2.5));
  EXPECT_EQ(report.step_time_p50, Time::seconds(1));
  EXPECT_EQ(report.step_time_p99, Time::seconds(5));
  EXPECT_EQ(sum_of_buckets(report), report.step_time);
}

TEST(Summarize, mfu_is_useful_flops_over_the_dense_peak_of_the_matmul_type) {
  const Report report = example_report();
  const double possible = 10.0 * 4 * 100e12;  // step, chips, peak
  expect_near(report.mfu_causal, 1e12 * 1000 / possible);
  expect_near(report.mfu_full, 1.2e12 * 1000 / possible);
  expect_near(report.hfu_full, 1.5e12 * 1000 / possible);
  expect_near(report.mfu_bf16_full, report.mfu_full);
}

TEST(Summarize, fp8_jobs_have_half_the_mfu_but_the_same_against_bf16) {
  Spec spec = example_spec();
  spec.job.precision.dtype = Dtype::kFp8;
  const Timeline timeline = example_timeline();
  const Report report = report_of(spec, timeline, timeline);
  expect_near(report.mfu_full, example_report().mfu_full / 2);
  expect_near(report.mfu_bf16_full, example_report().mfu_full);
}

TEST(Summarize, chips_without_bf16_compare_with_fp16) {
  Spec spec = example_spec();
  spec.cluster.chip.matmul = {{Dtype::kFp16, {{100e12}, 1}}};
  spec.job.precision.dtype = Dtype::kFp16;
  const Timeline timeline = example_timeline();
  expect_near(report_of(spec, timeline, timeline).mfu_bf16_full, example_report().mfu_full);
}

TEST(Summarize, throughput_is_tokens_over_step_time) {
  const Report report = example_report();
  expect_near(report.tokens_per_s, 100);
  expect_near(report.tokens_per_s_per_chip, 25);
}

TEST(Summarize, power_is_that_of_all_chips_with_their_hosts_and_has_a_range) {
  const Report report = example_report();
  constexpr double kWaiting = 0.995;  // it has no operations, and waits for input for 0.05 s of 10
  expect_near(report.power_kw, 4 * (100 + kWaiting * 0.5 * 400 + 50) / 1e3);
  expect_near(report.power.low_kw, 0.9 * report.power_kw);
  expect_near(report.power.high_kw, 1.1 * report.power_kw);
  expect_near(report.power.energy_high_j_per_token, 1.1 * report.energy_j_per_token);
  expect_near(report.energy_j_per_token, report.power_kw * 1e3 / 100);
}

TEST(Summarize, cost_is_the_hourly_price_and_the_energy_on_top) {
  Spec spec = example_spec();
  spec.cluster.price.usd_per_kwh = 0.5;
  spec.cluster.price.pue = 1.25;
  const Timeline timeline = example_timeline();
  const Report report = report_of(spec, timeline, timeline);
  expect_near(report.power_kw, 1.25 * example_report().power_kw);
  expect_near(report.cost_usd_per_hour, 4 * 2.0 + 0.5 * report.power_kw);
  expect_near(report.power.usd_per_hour, 0.5 * report.power_kw);
  expect_near(report.power.low_usd_per_hour, 0.9 * report.power.usd_per_hour);
  expect_near(report.cost_usd_per_million_tokens, report.cost_usd_per_hour / (100.0 * 3600) * 1e6);
  EXPECT_EQ(report.price, "list on_demand");
}

TEST(Summarize, memory_is_that_of_the_fullest_stage_in_gib) {
  const Report report = example_report();
  EXPECT_EQ(report.memory.worst_stage, 1);
  EXPECT_EQ(report.memory.total, 40);
  EXPECT_EQ(report.memory.weights, 20);
  EXPECT_EQ(report.memory.capacity, 80);
  EXPECT_TRUE(report.memory.fits);
  EXPECT_TRUE(report.memory.advice.empty());
}

TEST(Summarize, a_stage_of_exactly_the_capacity_fits) {
  Spec spec = example_spec();
  spec.cluster.chip.hbm_capacity = example_program().memory[1].total();
  const Timeline timeline = example_timeline();
  EXPECT_TRUE(report_of(spec, timeline, timeline).memory.fits);
}

TEST(Summarize, link_use_is_bytes_over_what_the_links_could_carry_in_the_step) {
  const Report report = example_report();
  ASSERT_EQ(report.link_use.size(), 2u);
  EXPECT_EQ(report.link_use[0].kind, to_string(LinkKind::kNvlink));
  EXPECT_DOUBLE_EQ(report.link_use[0].mean_utilisation, 0.4);
  EXPECT_DOUBLE_EQ(report.link_use[1].mean_utilisation, 0.2);
  EXPECT_DOUBLE_EQ(report.link_use[1].max_utilisation, 0.3);
}

class SlowChipReport : public ::testing::Test {
 protected:
  // Chips 0, 1 and 3 wait 2 s each for chip 2; `classes` says how the waiting three are grouped.
  Report report(const std::vector<std::pair<ChipId, int>>& classes) {
    Spec spec = example_spec();
    spec.adversities.add(Degradation::of_chip(2, 0.5));
    Timeline timeline = example_timeline();
    ChipTotals chips = timeline.chips[0];
    timeline.chips.clear();
    for (const auto& [representative, count] : classes) {
      chips.representative = representative;
      chips.chips = count;
      chips.speed = representative == 2 ? 0.5 : 1;
      chips.caused_ps = Time::seconds(representative == 2 ? 6 : 0).ps;
      chips.waited = Time::seconds(representative == 2 ? 0 : 2);
      timeline.chips.push_back(chips);
    }
    return report_of(spec, timeline, example_timeline());
  }
};

TEST_F(SlowChipReport, names_who_was_slow_and_who_waited) {
  const Report slow = report({{0, 3}, {2, 1}});
  ASSERT_EQ(slow.slow_parties.size(), 2u);
  EXPECT_EQ(slow.slow_parties[0].who, "chip 2 at speed 0.500");
  EXPECT_EQ(slow.slow_parties[0].caused_chip_s, 6);
  EXPECT_EQ(slow.slow_parties[1].who, "3 chips like chip 0");
  EXPECT_EQ(slow.slow_parties[1].waited_chip_s, 6);
}

TEST_F(SlowChipReport, folding_into_classes_does_not_show) {
  const Report folded = report({{0, 3}, {2, 1}}), unfolded = report({{0, 1}, {1, 1}, {2, 1}, {3, 1}});
  ASSERT_EQ(folded.slow_parties.size(), unfolded.slow_parties.size());
  for (std::size_t i = 0; i < folded.slow_parties.size(); ++i) {
    EXPECT_EQ(folded.slow_parties[i].who, unfolded.slow_parties[i].who);
    EXPECT_EQ(folded.slow_parties[i].waited_chip_s, unfolded.slow_parties[i].waited_chip_s);
  }
}

TEST(Summarize, nobody_is_named_slow_without_adversities) {
  EXPECT_TRUE(example_report().slow_parties.empty());
}

TEST(Summarize, algorithms_carry_axes_kind_and_largest_message) {
  EXPECT_EQ(example_report().algorithms,
            (std::vector<std::string>{"tensor all-gather 64.0 MiB: ring",
                                      "data reduce-scatter 3.0 GiB: hierarchical"}));
}

}  // namespace
}  // namespace podsim::summarize_test
