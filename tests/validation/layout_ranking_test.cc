// Order and regret of layouts on times made by hand.
#include "validation/layout_ranking.h"

#include <gtest/gtest.h>

#include <cmath>

namespace podsim::layout_ranking_test {
namespace {

PredictedRun run(double predicted_s, double measured_s, bool fits = true, const std::string& model = "m") {
  PredictedRun result;
  result.run.family = "mine";
  result.run.model = model;
  result.run.chips = 8;
  result.run.measured_s = measured_s;
  result.report.step_time = Time::seconds(predicted_s);
  result.report.memory.fits = fits;
  return result;
}

LayoutRanking one(const std::vector<PredictedRun>& runs) {
  const std::vector<LayoutRanking> all = layout_rankings(runs);
  EXPECT_EQ(all.size(), 1u);
  return all.empty() ? LayoutRanking{} : all.front();
}

TEST(LayoutRanking, the_same_order_has_tau_one_and_no_regret) {
  const LayoutRanking ranking = one({run(1, 10), run(2, 20), run(3, 30)});
  EXPECT_EQ(ranking.tau, 1);
  EXPECT_EQ(ranking.regret, 0);
  EXPECT_EQ(ranking.rows, 3);
}

TEST(LayoutRanking, the_reverse_order_chooses_the_slowest) {
  const LayoutRanking ranking = one({run(3, 10), run(2, 20), run(1, 30)});
  EXPECT_EQ(ranking.tau, -1);
  EXPECT_DOUBLE_EQ(ranking.regret, 2);
}

// Of six pairs five are in order and one is not.
TEST(LayoutRanking, one_pair_in_the_wrong_order_counts_once) {
  EXPECT_NEAR(one({run(1, 10), run(2, 20), run(4, 30), run(3, 40)}).tau, 4.0 / 6, 1e-12);
}

// Three pairs, of which one is predicted equal: tau-b = 2 / sqrt(2 x 3); the first two are chosen alike.
TEST(LayoutRanking, equal_predictions_are_no_order_and_share_the_choice) {
  const LayoutRanking ranking = one({run(1, 10), run(1, 12), run(2, 20)});
  EXPECT_NEAR(ranking.tau, 2 / std::sqrt(6.0), 1e-12);
  EXPECT_NEAR(ranking.regret, 0.1, 1e-12);
}

TEST(LayoutRanking, what_does_not_fit_is_no_choice_where_others_fit) {
  EXPECT_NEAR(one({run(1, 10, false), run(2, 11), run(3, 12)}).regret, 0.1, 1e-12);
  EXPECT_NEAR(one({run(1, 12, false), run(2, 11, false), run(3, 10, false)}).regret, 0.2, 1e-12);
}

TEST(LayoutRanking, other_jobs_pairs_and_runs_without_a_time_are_left_out) {
  PredictedRun unmeasured = run(1, 1);
  unmeasured.run.measured_s.reset();
  EXPECT_TRUE(layout_rankings({run(1, 1), run(2, 2), run(3, 3, true, "other"), unmeasured}).empty());
}

TEST(LayoutRanking, runs_that_change_fields_of_chip_network_or_stack_are_other_jobs) {
  PredictedRun slower_network = run(3, 3);
  slower_network.run.fields = " nic { bandwidth_gb_per_s: 25 }";
  EXPECT_TRUE(layout_rankings({run(1, 1), run(2, 2), slower_network}).empty());
}

TEST(LayoutRanking, a_summary_is_the_mean_over_groups) {
  const RankingSummary summary =
      summarize(std::vector<LayoutRanking>{{"a", "m", "c", 8, 3, 1, 0.1}, {"b", "m", "c", 8, 9, 0, 0.3}});
  EXPECT_EQ(summary.groups, 2);
  EXPECT_DOUBLE_EQ(summary.tau, 0.5);
  EXPECT_DOUBLE_EQ(summary.regret, 0.2);
}

}  // namespace
}  // namespace podsim::layout_ranking_test
