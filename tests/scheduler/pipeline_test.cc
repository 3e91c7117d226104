// Rules of pipeline orders, and the published bubble fractions from events.
#include "scheduler/pipeline.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/scheduler/fixture.h"

namespace podsim {
namespace {

TEST(PipelineOrder, every_microbatch_and_chunk_runs_once_forward_and_then_once_backward) {
  for (auto schedule : {PipelineSchedule::kGpipe, PipelineSchedule::k1F1B, PipelineSchedule::kInterleaved})
    for (int stages : {1, 2, 4})
      for (int chunks : {1, 2, 3}) {
        if (schedule != PipelineSchedule::kInterleaved && chunks > 1) continue;
        for (int stage = 0; stage < stages; ++stage) {
          std::set<std::pair<int, int>> forward, backward;
          for (const PipelineTask& task : pipeline_order(schedule, stages, stage, chunks, 8)) {
            std::pair<int, int> key{task.microbatch, task.chunk};
            if (task.forward)
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
  for (int stage = 0; stage < 4; ++stage) {
    int held = 0, peak = 0;
    for (const PipelineTask& task : pipeline_order(PipelineSchedule::k1F1B, 4, stage, 1, 16)) {
      held += task.forward ? 1 : -1;
      peak = std::max(peak, held);
    }
    EXPECT_EQ(peak, 4 - stage);
  }
}

// Step time of equal stages with free transfers, in milliseconds.
double step_ms(PipelineSchedule schedule, int stages, int chunks, int microbatches, double forward,
               double backward) {
  Mesh mesh{{{"pipeline", stages}}};
  StepProgram program =
      testing::pipeline_program(mesh, schedule, stages, chunks, microbatches, forward, backward);
  Fabric fabric = build_fabric(testing::gpu_fabric(stages, stages, 8));
  for (Link& link : fabric.links) link.latency = {0};
  return testing::simulate_step(testing::plain_spec(), program, fabric, true)
             .timeline.step_end.back()
             .in_seconds() *
         1e3;
}

TEST(PipelineBubble, gpipe_and_1f1b_idle_for_stages_minus_1_microbatches) {
  for (int stages : {2, 4, 8})
    for (int microbatches : {4, 8, 16})
      for (auto schedule : {PipelineSchedule::kGpipe, PipelineSchedule::k1F1B})
        EXPECT_NEAR(step_ms(schedule, stages, 1, microbatches, 1, 2), 3.0 * (microbatches + stages - 1),
                    1e-9);
}

// Every stage computes in each of M + S - 1 iterations, on padding where it has no microbatch.
TEST(PipelineBubble, a_shifting_buffer_computes_on_padding_for_stages_minus_1_iterations) {
  for (int stages : {2, 4, 8})
    for (int microbatches : {4, 16})
      EXPECT_NEAR(step_ms(PipelineSchedule::kShifting, stages, 1, microbatches, 1, 2),
                  3.0 * (microbatches + stages - 1), 1e-9);
}

// One permute of the state in each of the M + S - 1 iterations, forward and backward.
TEST(PipelineBubble, a_shifting_buffer_passes_its_state_on_in_every_iteration) {
  const int stages = 4, microbatches = 16;
  Mesh mesh{{{"pipeline", stages}}};
  StepProgram program =
      testing::pipeline_program(mesh, PipelineSchedule::kShifting, stages, 1, microbatches, 0, 0);
  testing::layer_of(program).output = {400e6};  // 1 ms over NVLink
  Fabric fabric = build_fabric(testing::gpu_fabric(stages, stages, 8));
  for (Link& link : fabric.links) link.latency = {0};
  const Time step =
      testing::simulate_step(testing::plain_spec(), program, fabric, true).timeline.step_end.back();
  EXPECT_NEAR(step.in_seconds() * 1e3, 2 * 19, 1e-9);
}

TEST(PipelineOrder, a_shifting_buffer_runs_the_same_iterations_on_every_stage) {
  const auto first = pipeline_order(PipelineSchedule::kShifting, 4, 0, 1, 16);
  EXPECT_EQ(first.size(), 2u * 19);
  for (int stage = 1; stage < 4; ++stage) {
    const auto order = pipeline_order(PipelineSchedule::kShifting, 4, stage, 1, 16);
    ASSERT_EQ(order.size(), first.size());
    for (std::size_t i = 0; i < order.size(); ++i) EXPECT_EQ(order[i].microbatch, first[i].microbatch);
  }
}

TEST(PipelineBubble, interleaving_divides_the_bubble_by_the_chunks) {
  for (int stages : {2, 4})
    for (int chunks : {2, 4})
      for (int microbatches : {4, 8, 16})
        EXPECT_NEAR(step_ms(PipelineSchedule::kInterleaved, stages, chunks, microbatches, 1, 2),
                    3.0 * (microbatches * chunks + stages - 1), 1e-9);
}

}  // namespace
}  // namespace podsim
