// A question about weeks in one call: the same on any thread count, the interval that is best, what is
// derived.
#include "prediction/weeks.h"

#include <gtest/gtest.h>

#include <atomic>

#include "prediction/predict.h"
#include "proto/scenario/load.h"
#include "proto/scenario/load_reliability.h"
#include "report/tables/reliability_text.h"

namespace podsim::weeks_test {
namespace {

ReliabilityQuestion question(const std::vector<Override>& overrides = {}) {
  const std::string text = R"(cluster { chip: "h100" chips: 2048 fabric: "dgx_h100" }
seeds: 100
reliability {
  days: 20
  failures: "llama3_16k_h100"
  failure_factor: 8
  recovery { restart { mean_s: 300 } }
  checkpoint { save_s: 30 }
})";
  static const Catalog catalog;
  const LoadReliabilityResult loaded = load_reliability("weeks", text, catalog, overrides);
  for (const Problem& problem : loaded.problems) ADD_FAILURE() << format_problem(problem);
  return loaded.question.value_or(ReliabilityQuestion{});
}

ReliabilityReport report(const std::vector<Override>& overrides = {}, int threads = 1) {
  WeeksOptions options;
  options.threads = threads;
  return predict_weeks(question(overrides), options);
}

TEST(Weeks, threads_make_no_difference) {
  const std::vector<Override> searched = {{"reliability.checkpoint.auto", "simulated"}};
  const ReliabilityReport one = report(searched, 1), three = report(searched, 3);
  EXPECT_EQ(reliability_table(one), reliability_table(three));
  EXPECT_EQ(one.figures.ettr.mean, three.figures.ettr.mean);
  EXPECT_EQ(one.figures.energy_mwh.standard_deviation, three.figures.energy_mwh.standard_deviation);
}

TEST(Weeks, every_run_is_told_of_once_whatever_the_threads) {
  for (const int threads : {1, 3}) {
    std::atomic<int> told = 0;
    WeeksOptions options;
    options.threads = threads;
    options.run_done = [&] { ++told; };
    predict_weeks(question(), options);
    EXPECT_EQ(told, 100);
  }
}

TEST(Weeks, the_simulation_agrees_with_the_formula) {
  const ReliabilityReport weeks = report();
  EXPECT_NEAR(weeks.closed_forms.mttf_h, 3.093, 5e-4);
  EXPECT_EQ(weeks.interval.choice, "exact");
  EXPECT_NEAR(weeks.figures.ettr.mean, weeks.closed_forms.goodput,
              3 * weeks.figures.ettr.standard_error + 1e-4);
  EXPECT_NEAR(weeks.closed_forms.ettr, weeks.closed_forms.goodput, 0.02);
}

TEST(Weeks, the_simulated_optimum_is_close_to_that_of_the_formula_and_flat) {
  const ReliabilityReport weeks = report({{"reliability.checkpoint.auto", "simulated"}});
  EXPECT_EQ(weeks.interval.choice, "simulated");
  EXPECT_NEAR(weeks.interval.interval_s / weeks.closed_forms.best_interval_s, 1, 0.3);
  EXPECT_LT(weeks.interval.flat_from_s, weeks.interval.interval_s);
  EXPECT_GT(weeks.interval.flat_to_s, weeks.interval.interval_s);
  double best = 0;
  for (const IntervalTrial& trial : weeks.interval.trials) best = std::max(best, trial.ettr);
  EXPECT_NEAR(weeks.figures.ettr.mean, best, 1e-12);  // the same seeds
}

TEST(Weeks, shares_of_the_buckets_sum_to_one_and_derived_figures_follow) {
  const ReliabilityReport weeks =
      report({{"reliability.spares.nodes", "4"}, {"reliability.repair.time.mean_s", "80000"}});
  double sum = 0;
  for (const BucketReport& bucket : weeks.buckets) sum += bucket.share;
  EXPECT_NEAR(sum, 1, 1e-12);
  EXPECT_LT(weeks.figures.goodput.mean, weeks.figures.ettr.mean);  // spares and repair
  EXPECT_LE(weeks.figures.ettr.mean, weeks.figures.runtime_goodput.mean);
  EXPECT_LE(weeks.figures.scheduling_goodput.mean, 1);
  double repair_h = 0, bill_usd = 0;
  for (const BucketReport& bucket : weeks.buckets)
    if (bucket.bucket == "repair") repair_h = bucket.chip_hours;
  for (const BillLine& line : weeks.bill) bill_usd += line.usd;
  EXPECT_GT(repair_h, 0);
  EXPECT_NEAR(weeks.unpaid_chip_hours, repair_h, 1e-6) << "on demand nobody pays for a broken node";
  EXPECT_NEAR(weeks.figures.cost_usd.mean,
              (260 * 8 * 24 * 20 - repair_h) * question().cluster.price.usd_per_chip_hour, 1);
  EXPECT_NEAR(bill_usd, weeks.figures.cost_usd.mean, 1e-6 * bill_usd);
}

TEST(Weeks, a_commitment_is_paid_to_its_end_unless_others_use_the_rest) {
  const ReliabilityReport idle = report({{"cluster.price_term", "committed_1y"}});
  EXPECT_NEAR(idle.figures.cost_usd.mean, 2048 * 24 * 365 * idle.usd_per_chip_hour, 1);
  const ReliabilityReport used =
      report({{"cluster.price_term", "committed_1y"}, {"cluster.contract.rest_used_share", "1"}});
  EXPECT_NEAR(used.figures.cost_usd.mean, 2048 * 24 * 20 * idle.usd_per_chip_hour, 1);
}

// A slice of 512 has an eighth of a pod's cables, traffic goes round one that fails, and no cube is lost:
// with 12,288 cables, each of which took a cube for a day, it kept 83.8 % of three weeks.
TEST(Weeks, of_a_small_slice_are_not_stopped_by_the_cables_of_its_pod) {
  static const Catalog catalog;
  const LoadReliabilityResult loaded =
      load_reliability("slice", R"(cluster { chip: "tpu_v4" fabric: "v4_pod" slice_shape: [8, 8, 8] }
seeds: 100
reliability { days: 21 nodes_per_unit: 16 spares { nodes: 16 } repair { time { mean_s: 86400 } }
  recovery { detection { mean_s: 60 } restart { mean_s: 300 } } checkpoint { mode: asynchronous pause_s: 2 save_s: 60 } })",
                       catalog, {});
  ASSERT_TRUE(loaded.question.has_value());
  const ReliabilityReport weeks = predict_weeks(*loaded.question, {});
  EXPECT_GT(weeks.figures.ettr.mean, 0.97);
  double cables = 0;
  for (const ComponentFailures& component : weeks.components)
    if (component.component == "ici_link") cables = component.mean;
  EXPECT_NEAR(cables, 21 * 1536 * 0.00005, 0.5) << "1.6 in three weeks, not 11.3";
}

TEST(Weeks, a_target_of_tokens_gives_days_cost_and_energy) {
  const ReliabilityReport weeks =
      report({{"reliability.days", "1"}, {"reliability.checkpoint.interval_s", "800"}});
  EXPECT_FALSE(weeks.target_tokens.has_value());
  ReliabilityQuestion asked = question();
  asked.target_tokens = 1e11;
  asked.step_time_s = 8.64;
  asked.tokens_per_step = 1e6;  // 100,000 steps: 10 days
  const ReliabilityReport reached = predict_weeks(asked, {});
  EXPECT_EQ(reached.unfinished, 0);
  EXPECT_NEAR(reached.figures.days.mean, 10 / reached.figures.ettr.mean, 0.01);
  EXPECT_LT(reached.figures.days.p10, reached.figures.days.p50);
  EXPECT_LT(reached.figures.days.p50, reached.figures.days.p90);
  EXPECT_GT(reached.figures.energy_mwh.mean, 0);
}

ReliabilityReport report_of(const std::string& scenario, const std::vector<Override>& overrides = {}) {
  static const Catalog catalog;
  const std::string path = std::string(PODSIM_SOURCE_DIR) + "/scenarios/reliability/" + scenario;
  const LoadReliabilityResult loaded = load_reliability_file(path, catalog, overrides);
  for (const Problem& problem : loaded.problems) ADD_FAILURE() << format_problem(problem);
  return predict_weeks(loaded.question.value_or(ReliabilityQuestion{}), {});
}

// Documents of 512 tokens in half of the steps and of 2,048 in the others: what is trained by weeks are their
// tokens, at the mean of both steps. The error of the step is as large, seen from that mean.
TEST(Weeks, of_padded_documents_repeat_the_mean_step_with_the_tokens_of_documents) {
  static const Catalog catalog;
  const std::string job = R"(cluster { chip: "h100" chips: 8 fabric: "dgx_h100" }
job { model: "llama3_8b" stack: "megatron_bridge_2025" precision: bf16 mesh { name: "tensor" size: 8 }
  sharding: "megatron_sp" global_batch_sequences: 8 microbatch_sequences: 1 sequence_tokens: 2048
  lengths_override { name: "two" bin { tokens: 500 share: 1 } bin { tokens: 2000 share: 1 } }
  shapes { bucket_tokens: 512 } }
seeds: 20
)";
  const LoadResult step = load_scenario("padded", job, catalog, {});
  ASSERT_TRUE(step.spec.has_value());
  const Report longest = predict_step(*step.spec, {}).report;
  const ShapesReport shapes = longest.shapes.value();
  const auto weeks_of = [&](const std::string& step_error) {
    const std::string tokens = std::to_string(1e5 * shapes.tokens_per_s);
    const LoadReliabilityResult loaded = load_reliability(
        "weeks",
        job + "reliability { target_tokens: " + tokens +
            " failure { component: gpu per_1000_node_days: 0.001 } checkpoint { save_s: 1 }" +
            " step_error: " + step_error + " }\n",
        catalog, {});
    return predict_weeks(loaded.question.value(), {});
  };
  const ReliabilityReport certain = weeks_of("false"), weeks = weeks_of("true");
  EXPECT_NEAR(certain.figures.days.mean * certain.figures.ettr.mean, 1e5 / 86400, 1e-3);
  EXPECT_NEAR(weeks.step_band.value().high.in_seconds() / weeks.step_time_s,
              longest.band.value().high.in_seconds() / longest.step_time.in_seconds(), 1e-6);
}

TEST(Weeks, of_padded_documents_bear_the_adversities_of_all_shapes) {
  static const Catalog catalog;
  const auto weeks_of = [](const std::string& adversity) {
    const LoadReliabilityResult loaded = load_reliability("weeks", R"(
cluster { chip: "h100" chips: 8 fabric: "dgx_h100" }
job { model: "llama3_8b" stack: "megatron_bridge_2025" precision: bf16 mesh { name: "tensor" size: 8 }
  sharding: "megatron_sp" global_batch_sequences: 8 microbatch_sequences: 1 sequence_tokens: 2048
  lengths_override { name: "two" bin { tokens: 500 share: 1 } bin { tokens: 2000 share: 1 } }
  shapes { bucket_tokens: 512 } }
seeds: 20
reliability { target_tokens: 1e10 failure { component: gpu per_1000_node_days: 0.001 } checkpoint { save_s: 1 }
  step_error: false })" + adversity,
                                                          catalog, {});
    return predict_weeks(loaded.question.value(), {});
  };
  const ReliabilityReport healthy = weeks_of(""),
                          slow = weeks_of(" adversity { slow_chip { chip: 3 speed_fraction: 0.5 } }");
  const double longer = slow.step_time_s / healthy.step_time_s;
  EXPECT_GT(longer, 1.3);
  EXPECT_NEAR(slow.figures.days.mean / healthy.figures.days.mean, longer, 1e-3 * longer);
  const auto straggler = std::ranges::find(slow.buckets, "straggler", &BucketReport::bucket);
  ASSERT_NE(straggler, slow.buckets.end());
  EXPECT_NEAR(straggler->share, 1 - 1 / longer, 1e-3);
}

// Days to a number of tokens of a job whose step may be off by -12 % or +9 %, say: the p10 and p90 of days
// are those of the step where failures are rare.
TEST(Weeks, days_and_dollars_carry_the_error_band_of_the_step) {
  const auto of = [](const std::string& step_error) {
    static const Catalog catalog;
    const std::string job = R"(cluster { chip: "h100" chips: 8 fabric: "dgx_h100" }
job { model: "llama3_8b" stack: "megatron_bridge_2025" precision: bf16 mesh { name: "tensor" size: 8 }
  sharding: "megatron_sp" global_batch_sequences: 8 microbatch_sequences: 1 sequence_tokens: 2048 }
seeds: 400
reliability { target_tokens: 1e10 failure { component: gpu per_1000_node_days: 0.001 }
  checkpoint { save_s: 1 } step_error: )" +
                            step_error + " }\n";
    const LoadReliabilityResult loaded = load_reliability("weeks", job, catalog, {});
    for (const Problem& problem : loaded.problems) ADD_FAILURE() << format_problem(problem);
    return predict_weeks(loaded.question.value_or(ReliabilityQuestion{}), {});
  };
  const ReliabilityReport with = of("true"), without = of("false");
  ASSERT_TRUE(with.step_band.has_value());
  EXPECT_FALSE(without.step_band.has_value());
  EXPECT_LT(without.figures.days.p90 / without.figures.days.p10, 1.001);
  const double low = with.step_band->low.in_seconds() / with.step_time_s;
  const double high = with.step_band->high.in_seconds() / with.step_time_s;
  EXPECT_LT(low, 0.99);
  EXPECT_GT(high, 1.01);
  const double point = without.figures.days.p50;
  EXPECT_NEAR(with.figures.days.p10 / point, low, 0.02 * low);
  EXPECT_NEAR(with.figures.days.p90 / point, high, 0.02 * high);
  EXPECT_NEAR(with.figures.cost_usd.p90 / with.figures.cost_usd.p10, high / low, 0.05);
}

// Kokolis et al., HPCA 2025: 14 % of large jobs fail before lemons are removed, 4 % after.
TEST(Weeks, a_lemon_interrupts_most_of_the_jobs_that_are_interrupted) {
  EXPECT_NEAR(report_of("lemon_nodes_64.textproto").figures.uninterrupted, 0.86, 0.015);
  EXPECT_NEAR(
      report_of("lemon_nodes_64.textproto", {{"reliability.lemons.share", "0"}}).figures.uninterrupted, 0.96,
      0.01);
}

// Bamboo, NSDI 2023: up to 3.7 times the throughput of checkpoints and restarts.
TEST(Weeks, redundant_computation_beats_restarts_where_instances_are_taken_away) {
  const std::vector<Override> fewer = {{"seeds", "20"}};
  const std::vector<Override> restarts = {
      {"seeds", "20"}, {"reliability.elastic.keeps_work", "false"}, {"reliability.redundant_share", "0"}};
  const double ratio = report_of("spot_redundant_64_v100.textproto", fewer).figures.ettr.mean /
                       report_of("spot_redundant_64_v100.textproto", restarts).figures.ettr.mean;
  EXPECT_GT(ratio, 1.5);
  EXPECT_LT(ratio, 3.7);
}

TEST(Weeks, causes_have_the_shares_of_the_mix) {
  const ReliabilityReport weeks = report({{"seeds", "2000"}});
  ASSERT_FALSE(weeks.components.empty());
  EXPECT_EQ(weeks.components[0].component, "gpu");
  EXPECT_NEAR(weeks.components[0].share, 148.0 / 419, 0.002);
  EXPECT_NEAR(weeks.components[1].share, 72.0 / 419, 0.002);
}

}  // namespace
}  // namespace podsim::weeks_test
