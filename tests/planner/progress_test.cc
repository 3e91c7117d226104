// What a search tells of how far it is.
#include <gtest/gtest.h>

#include <vector>

#include "planner/search/search.h"
#include "tests/planner/layout_scenario.h"

namespace podsim::search_progress_test {
namespace {

std::vector<SearchProgress> told_of(const testing::LayoutQuestion& asked, SearchOptions options = {}) {
  std::vector<SearchProgress> told;
  options.progress = [&](const SearchProgress& progress) { told.push_back(progress); };
  const Space space(asked.question.spec, asked.question.space);
  search(space, options);
  return told;
}

// Where all layouts fit, where some do, and where none does.
std::vector<testing::LayoutQuestion> questions() {
  const auto question = [](const std::string& cluster, const std::string& model, const std::string& space) {
    return testing::layout_question(cluster,
                                    model +
                                        " stack: \"megatron_bridge_2025\" global_batch_sequences: 8 "
                                        "microbatch_sequences: 1 sequence_tokens: 2048",
                                    space);
  };
  const std::string few = "model: \"llama3_8b\" model_override { layers: 4 }";
  return {question("chip: \"h100\" chips: 8 fabric: \"dgx_h100\"", few, "tensor: [1, 2] pipeline: [1, 2]"),
          question("chip: \"h100\" chips: 8 fabric: \"dgx_h100\"", few,
                   "tensor: [1, 2] pipeline: [1, 2] memory_headroom_fraction: 0.8"),
          question("chip: \"h100\" chips: 2 fabric: \"dgx_h100\"", "model: \"llama3_70b\"", "context: 1")};
}

TEST(SearchProgress, is_done_with_all_that_it_has_to_do_at_its_end_alone) {
  for (const testing::LayoutQuestion& asked : questions())
    for (const double gap : {0.0, 0.1}) {
      SearchOptions options;
      options.gap = gap;
      const std::vector<SearchProgress> told = told_of(asked, options);
      ASSERT_GT(told.size(), 2U);
      for (std::size_t i = 0; i + 1 < told.size(); ++i) {
        EXPECT_LT(told[i].done, told[i].to_do) << i << " of " << told.size();
        EXPECT_LE(told[i].done, told[i + 1].done);
      }
      EXPECT_EQ(told.back().done, told.back().to_do);
    }
}

TEST(SearchProgress, of_a_search_that_was_stopped_never_says_that_all_is_done) {
  for (const testing::LayoutQuestion& asked : questions()) {
    const std::atomic<bool> stop = true;
    SearchOptions options;
    options.stop = &stop;
    for (const SearchProgress& progress : told_of(asked, options)) EXPECT_LT(progress.done, progress.to_do);
  }
}

}  // namespace
}  // namespace podsim::search_progress_test
