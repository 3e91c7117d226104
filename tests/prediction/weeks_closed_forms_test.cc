// Goodput by formula held against simulated weeks, for each kind of checkpoint.
#include <gtest/gtest.h>

#include "prediction/weeks.h"
#include "proto/scenario/load_reliability.h"
#include "tests/rounds.h"

namespace podsim::weeks_closed_forms_test {
namespace {

// 128 nodes, a failure of `nodes` of them 2.56 times a day, restarts of 5 minutes.
ReliabilityReport weeks_with(const std::string& checkpoint, int nodes = 1) {
  static const Catalog catalog;
  const LoadReliabilityResult loaded = load_reliability(
      "weeks",
      "cluster { chip: \"h100\" chips: 1024 fabric: \"dgx_h100\" }\nseeds: " +
          std::to_string(testing::rounds(200)) +
          "\nreliability { days: 60 recovery { restart { mean_s: 300 } } failure { component: gpu "
          "per_1000_node_days: 20 nodes: " +
          std::to_string(nodes) + " } checkpoint { " + checkpoint + " } }\n",
      catalog, {});
  for (const Problem& problem : loaded.problems) ADD_FAILURE() << format_problem(problem);
  return predict_weeks(loaded.question.value_or(ReliabilityQuestion{}), {});
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

}  // namespace
}  // namespace podsim::weeks_closed_forms_test
