// Goodput by formula held against simulated weeks, for each kind of checkpoint.
#include <gtest/gtest.h>

#include <cmath>

#include "prediction/weeks.h"
#include "proto/scenario/load_reliability.h"
#include "scheduler/reliability/weeks/closed_forms.h"
#include "tests/rounds.h"

namespace podsim::weeks_closed_forms_test {
namespace {

// 60 days of 128 nodes, restarts of 5 minutes.
ReliabilityReport weeks_of(const std::string& reliability) {
  static const Catalog catalog;
  const LoadReliabilityResult loaded = load_reliability(
      "weeks",
      "cluster { chip: \"h100\" chips: 1024 fabric: \"dgx_h100\" }\nseeds: " +
          std::to_string(testing::rounds(200)) +
          "\nreliability { days: 60 recovery { restart { mean_s: 300 } } " + reliability + " }\n",
      catalog, {});
  for (const Problem& problem : loaded.problems) ADD_FAILURE() << format_problem(problem);
  return predict_weeks(loaded.question.value_or(ReliabilityQuestion{}), {});
}

// A failure of `nodes` of them 2.56 times a day.
ReliabilityReport weeks_with(const std::string& checkpoint, int nodes = 1) {
  return weeks_of("failure { component: gpu per_1000_node_days: 20 nodes: " + std::to_string(nodes) +
                  " } checkpoint { " + checkpoint + " }");
}

void expect_formula(const ReliabilityReport& weeks) {
  EXPECT_NEAR(weeks.closed_forms.goodput, weeks.figures.ettr.mean,
              4 * weeks.figures.ettr.standard_error + 1e-3);
  EXPECT_NEAR(weeks.closed_forms.ettr, weeks.closed_forms.goodput, 5e-3);
}

TEST(WeeksClosedForms, of_asynchronous_saves_lose_what_is_trained_while_a_save_is_written) {
  for (const char* save_s : {"0.001", "100", "1000", "1800"}) {
    SCOPED_TRACE(save_s);
    expect_formula(
        weeks_with(std::string("mode: asynchronous pause_s: 2 interval_s: 1800 save_s: ") + save_s));
  }
}

TEST(WeeksClosedForms, of_copies_in_memory_go_back_to_storage_where_they_are_lost) {
  for (const int nodes : {1, 4})
    for (const char* survives : {"1", "4"})
      for (const char* mode : {"save_s: 60", "mode: asynchronous pause_s: 2 save_s: 1000"}) {
        SCOPED_TRACE(std::to_string(nodes) + " of " + survives + " " + mode);
        expect_formula(weeks_with(std::string(mode) +
                                      " interval_s: 300 replicas { pause_s: 1 restore { mean_s: 10 } "
                                      "saves_per_storage_save: 10 survives_units: " +
                                      survives + " }",
                                  nodes));
      }
}

const std::string kRepaired = "failure { component: gpu per_1000_node_days: 20 repair { mean_s: 3600 } ";

// 2.56 losses of a node a day, and a failure of the software every two days that stops all.
TEST(WeeksClosedForms, of_elastic_jobs_that_keep_their_work_go_back_after_other_failures_alone) {
  const std::string rest =
      " } failure { component: software per_day: 0.5 } elastic { replicas: 128 least_replicas: 64 "
      "keeps_work: "
      "true reconfigure { mean_s: 60 } } spares { nodes: 8 } checkpoint { save_s: 60 ";
  const ReliabilityReport given = weeks_of(kRepaired + rest + "interval_s: 900 }");
  expect_formula(given);
  EXPECT_NEAR(given.closed_forms.failures_per_day, 3.06, 1e-9);
  EXPECT_NEAR(given.closed_forms.best_interval_s, best_interval_s(60, 2 * 86400), 1e-6);
  const ReliabilityReport chosen = weeks_of(kRepaired + rest + "auto: exact }");
  EXPECT_NEAR(chosen.interval.interval_s, best_interval_s(60, 2 * 86400), 1e-6);
  EXPECT_GT(chosen.figures.ettr.mean, given.figures.ettr.mean);
}

TEST(WeeksClosedForms, of_jobs_that_are_slower_and_go_on_have_their_mean_speed) {
  // Short saves: a job that goes on trains a whole interval again before the next.
  const std::string save = "checkpoint { save_s: 6 interval_s: 3600 }";
  const std::string elastic =
      "elastic { replicas: 128 least_replicas: 64 keeps_work: true speed_of_rest: 0.9 reconfigure { mean_s: "
      "20 } } ";
  expect_formula(weeks_of(kRepaired + "} " + elastic + save));
  expect_formula(weeks_of(kRepaired + "} redundant_share: 0.2 " + elastic + save));
  expect_formula(weeks_of(kRepaired + "slows_to: 0.7 } " + save));
  expect_formula(
      weeks_of(kRepaired + "slows_to: 0.7 swapped_after { mean_s: 1800 } } spares { nodes: 8 } " + save));
}

TEST(WeeksClosedForms, of_failures_that_are_known_before_lose_no_training) {
  const std::string rest = "spares { nodes: 8 } checkpoint { save_s: 60 interval_s: 3600 }";
  const ReliabilityReport announced = weeks_of(kRepaired + "notice_s: 120 } " + rest);
  expect_formula(announced);
  EXPECT_EQ(announced.closed_forms.best_interval_s, 0) << "nothing is saved for that cannot be known";
  expect_formula(weeks_of(kRepaired + "notice_s: 1800 } " + rest));
  const ReliabilityReport late = weeks_of(kRepaired + "notice_s: 30 } " + rest);
  expect_formula(late);
  EXPECT_LT(late.closed_forms.goodput, announced.closed_forms.goodput);
}

TEST(WeeksClosedForms, of_nodes_that_are_slow_until_they_are_mended_count_none_in_repair) {
  const std::string rest = "checkpoint { save_s: 60 interval_s: 3600 }";
  const double out = 128 * 20e-3 / 86400 * 3600;
  EXPECT_NEAR(weeks_of(kRepaired + "} " + rest).closed_forms.nodes_in_repair, out, 1e-9);
  EXPECT_EQ(weeks_of(kRepaired + "slows_to: 0.5 } " + rest).closed_forms.nodes_in_repair, 0);
  EXPECT_NEAR(weeks_of(kRepaired + "slows_to: 0.5 swapped_after { mean_s: 600 } } " + rest)
                  .closed_forms.nodes_in_repair,
              out, 1e-9);
}

// Nodes that are out beyond the spares: an elastic job is short of the replicas that they are of, another
// waits. Runs begin with all nodes in order, which is worth repair / length of what nodes in repair cost.
TEST(WeeksClosedForms, wait_for_nodes_in_repair_and_count_whole_replicas) {
  const double repair_s = 36000, days = 60, out = 128 * 20e-3 / 86400 * repair_s;
  const std::string failing =
      "failure { component: gpu per_1000_node_days: 20 repair { mean_s: 36000 } } checkpoint { save_s: 60 } ";
  const auto expect_near = [&](const ReliabilityReport& weeks) {
    const double lost = 1 - weeks.closed_forms.goodput;
    EXPECT_NEAR(weeks.closed_forms.goodput, weeks.figures.ettr.mean,
                4 * weeks.figures.ettr.standard_error + 5e-3 + lost * repair_s / (days * 86400));
  };
  const ReliabilityReport waiting = weeks_of(failing);
  expect_near(waiting);
  EXPECT_LT(waiting.closed_forms.goodput, std::exp(-out)) << "it trains while no node is out";
  for (const char* spares : {"1", "2", "4"})
    expect_near(weeks_of(failing + "spares { nodes: " + spares + " }"));
  for (const char* replicas : {"8", "32", "128"}) {
    SCOPED_TRACE(replicas);
    for (const char* spares : {"0", "1"})
      expect_near(weeks_of(
          failing + "elastic { replicas: " + replicas +
          " least_replicas: 4 keeps_work: true reconfigure { mean_s: 20 } } spares { nodes: " + spares +
          " }"));
  }
}

TEST(WeeksClosedForms, of_failures_count_those_that_only_slow) {
  const double a_day = 128 * 20e-3;
  const ReliabilityReport slowed = weeks_of(kRepaired + "slows_to: 0.7 } checkpoint { save_s: 60 }");
  EXPECT_NEAR(slowed.closed_forms.failures_per_day, a_day, 1e-9);
  EXPECT_NEAR(slowed.closed_forms.mttf_h, 24 / a_day, 1e-9);
  EXPECT_NEAR(slowed.closed_forms.failures_per_day, slowed.figures.failures.mean / 60,
              4 * slowed.figures.failures.standard_error / 60);
  EXPECT_EQ(slowed.closed_forms.rollbacks_per_day, 0);
}

}  // namespace
}  // namespace podsim::weeks_closed_forms_test
