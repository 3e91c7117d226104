// Rules of a whole prediction.
#include "prediction/predict.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "proto/writing/write.h"
#include "tests/prediction/scenario.h"
#include "workload/partition/job_validity.h"
#include "workload/sharding/sharding.h"

namespace podsim::predict_test {
namespace {

// The report without what tells how it was computed.
std::string result(const Spec& spec, bool fold, bool steady = true) {
  PredictOptions options;
  options.fold = fold;
  options.steady = steady;
  Report report = predict_step(spec, options).report;
  report.chip_classes = report.group_classes = report.link_classes = 0;
  report.events = report.periods_skipped = 0;
  return report_json(report);
}

TEST(Predict, folding_does_not_change_the_report) {
  for (const char* name : {"llama3_70b_512_v5p", "llama3_70b_512_h100"}) {
    Spec spec = testing::load(name);
    // A quarter of the batch: a shorter step of the same shape.
    spec.job.global_batch = std::max(spec.job.global_batch / 4, batch_shards(spec.job) * spec.job.microbatch);
    ASSERT_TRUE(explain_invalid(spec.job).empty()) << name;
    EXPECT_EQ(result(spec, true), result(spec, false)) << name;
    spec.adversities.add(Degradation::of_chip(7, 0.9));
    spec.adversities.add(
        Degradation::of_link(100, spec.cluster.fabric.torus ? LinkKind::kIci : LinkKind::kNic, 0.5));
    EXPECT_EQ(result(spec, true), result(spec, false)) << name << " with a slow chip and slow links";
  }
}

// What is told of how much of a prediction is done.
std::vector<double> shares_told(const Spec& spec) {
  std::vector<double> shares;
  PredictOptions options;
  options.share_done = [&](double share) { shares.push_back(share); };
  predict_step(spec, options);
  return shares;
}

TEST(Predict, tells_a_share_of_one_job_and_of_several_that_rises_from_nothing_to_all) {
  for (const char* name : {"llama3_70b_512_h100", "two_jobs_oversubscribed"})
    for (const bool healthy : {true, false}) {
      Spec spec = testing::load(name);
      if (!healthy)
        spec.adversities.degradations = {Degradation::of_chip(7, 0.9), Degradation::of_chip(9, 0.8)};
      const std::vector<double> shares = shares_told(spec);
      ASSERT_GE(shares.size(), 2u) << name;
      EXPECT_LT(shares.front(), 0.01) << name;
      EXPECT_EQ(shares.back(), 1) << name;
      EXPECT_TRUE(std::ranges::is_sorted(shares)) << name;
    }
}

TEST(Predict, tells_each_job_alone_as_a_part_of_the_share) {
  const std::vector<double> shares = shares_told(testing::load("two_jobs_oversubscribed"));
  for (const double done : {1.0 / 3, 2.0 / 3})  // both together, then one
    EXPECT_TRUE(std::ranges::any_of(shares, [&](double share) { return std::abs(share - done) < 1e-9; }))
        << done;
}

TEST(Predict, jumping_over_periods_does_not_change_the_report) {
  for (const char* name : {"gpt3_175b_1024_a100", "dense_100b_512_h100", "deepseek_v3_2048_h800"}) {
    Spec spec = testing::load(name);
    EXPECT_GT(predict_step(spec, {}).report.periods_skipped, 0) << name;
    EXPECT_EQ(result(spec, true, true), result(spec, true, false)) << name;
    spec.adversities.add(Degradation::of_chip(7, 0.9));
    EXPECT_EQ(result(spec, true, true), result(spec, true, false)) << name << " with a slow chip";
  }
}

TEST(Predict, buckets_sum_to_the_step_time_to_the_picosecond) {
  for (const char* name : {"llama31_405b_16384_h100", "palm_540b_6144_v4", "one_slow_chip_512"}) {
    Report r = predict_step(testing::load(name), {}).report;
    Time exposed;
    for (const ExposedCommunication& part : r.exposed) exposed += part.time;
    EXPECT_EQ(exposed, r.exposed_communication) << name;
    EXPECT_EQ(r.compute + exposed + r.pipeline_bubble + r.optimizer + r.input_stall + r.offload_wait +
                  r.skew_wait + r.evaluation + r.straggler_delay,
              r.step_time)
        << name;
  }
}

TEST(Predict, one_chip_at_80_percent_costs_at_most_a_quarter_of_the_step_and_more_than_nothing) {
  Spec spec = testing::load("one_slow_chip_512");
  Report slow = predict_step(spec, {}).report;
  spec.adversities = {};
  Report clean = predict_step(spec, {}).report;
  EXPECT_EQ(slow.straggler_delay, slow.step_time - clean.step_time);
  EXPECT_GT(slow.straggler_delay.ps, 0);
  EXPECT_LE(slow.step_time.in_seconds(), 1.25 * clean.step_time.in_seconds());
  ASSERT_FALSE(slow.slow_parties.empty());
  EXPECT_NE(slow.slow_parties[0].who.find("speed 0.8"), std::string::npos) << slow.slow_parties[0].who;
}

TEST(Predict, each_adversity_costs_what_the_step_gains_without_it) {
  Spec spec = testing::load("llama3_70b_512_v5p");
  spec.adversities.add(Degradation::of_chip(3, 0.9));
  spec.adversities.add(Degradation::of_chip(200, 0.7));
  spec.adversities.add(Degradation::of_link(9, LinkKind::kIci, 0.25));
  const Report all = predict_step(spec, {}).report;
  ASSERT_EQ(all.fault_costs.size(), 3u);
  for (std::size_t i = 1; i < all.fault_costs.size(); ++i)
    EXPECT_GE(all.fault_costs[i - 1].cost, all.fault_costs[i].cost);
  EXPECT_EQ(all.fault_costs[0].what, "chip 200 at speed 0.7");
  Spec without = spec;
  std::vector<Degradation>& left = without.adversities.degradations;
  left.erase(left.begin() + 1);  // chip 200
  EXPECT_EQ(all.fault_costs[0].cost, all.step_time - predict_step(without, {}).report.step_time);
  left.erase(left.begin());
  const Report link = predict_step(without, {}).report;
  ASSERT_EQ(link.fault_costs.size(), 1u);
  EXPECT_EQ(link.fault_costs[0].what, "ici of chip 9 at speed 0.25");
  EXPECT_EQ(link.fault_costs[0].cost, link.straggler_delay);
}

TEST(Predict, each_failure_is_among_the_costs) {
  Spec spec = testing::load("llama3_70b_512_v5p");
  spec.adversities.failures = {FailedOcs{0, {0, 0}}, FailedCable{0, 1}};
  spec.adversities.add(Degradation::of_chip(3, 0.9));
  const Report all = predict_step(spec, {}).report;
  ASSERT_EQ(all.fault_costs.size(), 3u);
  Spec without = spec;
  without.adversities.failures.pop_back();
  const auto cable = std::ranges::find(all.fault_costs, "cable chip 0 - chip 1 failed", &FaultCost::what);
  ASSERT_NE(cable, all.fault_costs.end());
  EXPECT_EQ(cable->cost, all.step_time - predict_step(without, {}).report.step_time);
  without.adversities.degradations.clear();
  const Report ocs = predict_step(without, {}).report;
  EXPECT_EQ(ocs.fault_costs[0].what, "ocs x (0, 0) failed");
  EXPECT_GT(ocs.straggler_delay.ps, 0);
}

TEST(Predict, a_failure_is_predicted_alike_with_and_without_folding) {
  Spec spec = testing::load("llama3_70b_512_v5p");
  spec.adversities.failures = {FailedOcs{1, {2, 0}}};
  EXPECT_EQ(predict_step(spec, {.fold = true, .dump = {}}).report.step_time,
            predict_step(spec, {.fold = false, .dump = {}}).report.step_time);
}

TEST(Predict, utilisation_never_exceeds_what_the_chips_can_do) {
  for (const char* name :
       {"llama3_70b_512_h100", "llama3_70b_512_v5p", "dense_100b_512_h100", "palm_540b_6144_v4"}) {
    Report r = predict_step(testing::load(name), {}).report;
    EXPECT_GT(r.mfu_causal, 0) << name;
    EXPECT_LE(r.mfu_causal, r.mfu_full) << name;
    EXPECT_LE(r.mfu_full, r.hfu_full) << name;
    EXPECT_LT(r.hfu_full, 1) << name;
    for (const LinkUse& use : r.link_use) {
      EXPECT_LE(use.mean_utilisation, use.max_utilisation) << name;
      EXPECT_LE(use.max_utilisation, 1) << name << " " << use.kind;
    }
  }
}

TEST(Predict, a_narrower_network_is_never_faster) {
  Report full = predict_step(testing::load("oversubscribed_1to1"), {}).report;
  Report half = predict_step(testing::load("oversubscribed_2to1"), {}).report;
  EXPECT_GT(half.step_time, full.step_time);
  EXPECT_GE(half.exposed_communication, full.exposed_communication);
}

TEST(Predict, random_jitter_makes_a_step_longer_and_steps_differ) {
  Spec spec = testing::load("llama3_70b_512_v5p");
  Report clean = predict_step(spec, {}).report;
  spec.adversities.jitter.coefficient_of_variation = 0.05;
  spec.steps = 4;
  Report jittered = predict_step(spec, {}).report;
  EXPECT_GT(jittered.step_time, clean.step_time);
  EXPECT_GT(jittered.step_time_p99, jittered.step_time_p50);
  EXPECT_EQ(report_json(jittered), report_json(predict_step(spec, {}).report));
}

}  // namespace
}  // namespace podsim::predict_test
