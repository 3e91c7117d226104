// Rules of pipeline orders.
#include "workload/pipeline.h"

#include <gtest/gtest.h>

#include <set>

namespace podsim {
namespace {

TEST(PipelineOrder, every_microbatch_and_chunk_runs_once_forward_and_then_once_backward) {
  for (auto schedule : {PipelineSchedule::kGpipe, PipelineSchedule::k1F1B, PipelineSchedule::kInterleaved})
    for (int stages : {1, 2, 4})
      for (int chunks : {1, 2, 3}) {
        if (schedule != PipelineSchedule::kInterleaved && chunks > 1) continue;
        for (int stage = 0; stage < stages; ++stage) {
          std::set<std::pair<int, int>> forward, backward;
          for (const PipelineTask& task : pipeline_order({schedule, stages, chunks, 8}, stage)) {
            std::pair<int, int> key{task.microbatch, task.chunk};
            if (task.pass == Pass::kForward)
              EXPECT_TRUE(forward.insert(key).second);
            else
              EXPECT_TRUE(forward.count(key) && backward.insert(key).second);
          }
          EXPECT_EQ(forward.size(), 8u * chunks);
          EXPECT_EQ(backward.size(), 8u * chunks);
        }
      }
}

TEST(PipelineOrder, a_1f1b_stage_holds_at_most_as_many_microbatches_as_stages_follow_it) {
  for (int stage = 0; stage < 4; ++stage)
    EXPECT_EQ(most_held(pipeline_order({PipelineSchedule::k1F1B, 4, 1, 16}, stage), {1}), 4 - stage);
}

TEST(PipelineOrder, a_shifting_buffer_runs_the_same_iterations_on_every_stage) {
  const auto first = pipeline_order({PipelineSchedule::kShifting, 4, 1, 16}, 0);
  EXPECT_EQ(first.size(), 2u * 19);
  for (int stage = 1; stage < 4; ++stage) {
    const auto order = pipeline_order({PipelineSchedule::kShifting, 4, 1, 16}, stage);
    ASSERT_EQ(order.size(), first.size());
    for (std::size_t i = 0; i < order.size(); ++i) EXPECT_EQ(order[i].microbatch, first[i].microbatch);
  }
}

TEST(MostHeld, chunks_in_flight_follow_the_schedule) {
  const auto held = [](PipelineSchedule schedule, int stage, int chunks, int microbatches) {
    return most_held(pipeline_order({schedule, 8, chunks, microbatches}, stage),
                     std::vector<double>(static_cast<std::size_t>(chunks), 1));
  };
  EXPECT_EQ(held(PipelineSchedule::k1F1B, 0, 1, 64), 8);
  EXPECT_EQ(held(PipelineSchedule::k1F1B, 7, 1, 64), 1);
  EXPECT_EQ(held(PipelineSchedule::k1F1B, 0, 1, 4), 4);
  EXPECT_EQ(held(PipelineSchedule::kGpipe, 7, 1, 64), 64);
  // Korthikanti et al. (arXiv 2205.05198), section 4.2.3: L (1 + (p - 1) / (p m)) layers on the first stage.
  EXPECT_EQ(held(PipelineSchedule::kInterleaved, 0, 3, 64), 8 * 3 + 8 - 1);
}

}  // namespace
}  // namespace podsim
