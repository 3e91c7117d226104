// The published bubbles, from events.
#include <gtest/gtest.h>

#include "tests/scheduler/fixture.h"

namespace podsim {
namespace {

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

TEST(PipelineBubble, interleaving_divides_the_bubble_by_the_chunks) {
  for (int stages : {2, 4})
    for (int chunks : {2, 4})
      for (int microbatches : {4, 8, 16})
        EXPECT_NEAR(step_ms(PipelineSchedule::kInterleaved, stages, chunks, microbatches, 1, 2),
                    3.0 * (microbatches * chunks + stages - 1), 1e-9);
}

}  // namespace
}  // namespace podsim
