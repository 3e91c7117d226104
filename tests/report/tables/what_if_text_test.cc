// The heat map of workers and their names.
#include "report/tables/what_if_text.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace podsim::what_if_text_test {
namespace {

WhatIf of_workers(int ranks, int stages, double slowest) {
  WhatIf result;
  for (int row = 0; row < ranks; ++row) {
    for (int stage = 0; stage < stages; ++stage) {
      result.workers.push_back({row, row, stage, row * stages + stage, 1});
      result.by_worker.push_back(row == ranks - 1 && stage == 0 ? slowest : 1);
    }
    result.by_data_rank.push_back({1, {}});
    result.ranks_alike.push_back(1);
  }
  for (int stage = 0; stage < stages; ++stage) result.by_stage.push_back({1, {}});
  return result;
}

TEST(HeatMap, marks_the_slowest_worker_darkest) {
  EXPECT_EQ(heat_map(of_workers(2, 2, 1.5)),
            "data rank  stage 0  stage 1\n"
            "0          1.000    1.000\n"
            "1          1.500 @  1.000\n");
}

TEST(HeatMap, does_not_mark_what_is_rounding) {
  EXPECT_EQ(heat_map(of_workers(2, 1, 1 + 1e-12)),
            "data rank  stage 0\n"
            "0          1.000\n"
            "1          1.000\n");
}

TEST(HeatMap, has_marks_only_where_stages_are_many) {
  EXPECT_EQ(heat_map(of_workers(2, 12, 1.5)),
            "data rank    stages 0..11\n"
            "0          |            |\n"
            "1          |@           |\n");
}

TEST(HeatMap, many_data_ranks_share_lines_that_show_the_slowest) {
  const std::string text = heat_map(of_workers(100, 2, 1.5));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1 + 25);
  EXPECT_NE(text.find("96..99     1.500 @"), std::string::npos) << text;
}

TEST(HeatMap, workers_that_stand_for_others_say_how_many) {
  EXPECT_EQ(name_of({0, 3, 1, 7, 1}), "data rank 3 stage 1");
  EXPECT_EQ(name_of({0, 3, 1, 7, 15}), "15 data ranks like 3 stage 1");
}

}  // namespace
}  // namespace podsim::what_if_text_test
