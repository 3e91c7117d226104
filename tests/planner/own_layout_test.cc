// The scenario's own layout on clusters of other sizes.
#include "planner/plan/own_layout.h"

#include <gtest/gtest.h>

#include <string>

#include "planner/space/space.h"
#include "tests/planner/layout_scenario.h"

namespace podsim::own_layout_test {
namespace {

Spec llama(int chips, const std::string& microbatch) {
  return testing::layout_question("chip: \"h100\" fabric: \"dgx_h100\" chips: " + std::to_string(chips),
                                  "model: \"llama3_2_1b\" stack: \"torchtitan\" "
                                  "global_batch_sequences: 512 sequence_tokens: 2048 " +
                                      microbatch)
      .question.spec;
}

// Microbatches of the layouts that are left, of which there is one at most.
std::vector<int> microbatches_on(int chips, const std::string& microbatch) {
  const Spec scenario = llama(64, microbatch), cluster = llama(chips, "microbatch_sequences: 1");
  const auto layout = layout_of(scenario);
  EXPECT_TRUE(layout);
  std::vector<int> found;
  for (const JobLayout& each :
       testing::all_layouts(Space(cluster, space_of({*layout, scenario.job.all_at_once}, cluster))))
    found.push_back(each.microbatch);
  return found;
}

TEST(OwnLayout, takes_all_that_a_data_rank_has_where_no_microbatch_is_stated) {
  for (const int chips : {8, 64, 512}) EXPECT_EQ(microbatches_on(chips, ""), std::vector{512 / chips});
}

TEST(OwnLayout, keeps_a_microbatch_that_is_stated) {
  const std::string stated = "microbatch_sequences: 8";
  for (const int chips : {8, 64}) EXPECT_EQ(microbatches_on(chips, stated), std::vector{8});
  EXPECT_EQ(microbatches_on(512, stated), std::vector<int>{}) << "a rank has one sequence";
}

}  // namespace
}  // namespace podsim::own_layout_test
