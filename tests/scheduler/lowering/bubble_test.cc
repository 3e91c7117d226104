// The published bubbles, from events.
#include <gtest/gtest.h>

#include "tests/scheduler/fixture.h"

namespace podsim::bubble_test {
namespace {

// Step time of equal stages with free transfers, in milliseconds.
double step_ms(PipelineSchedule schedule, int stages, int chunks, int microbatches, double forward,
               double backward) {
  Mesh mesh{{{"pipeline", stages}}};
  StepProgram program =
      testing::pipeline_program(mesh, schedule, stages, chunks, microbatches, forward, backward);
  Fabric fabric = build_fabric(testing::gpu_fabric(stages, stages, 8));
  for (Link& link : fabric.links.stored()) link.latency = {0};
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

// Times of one pass over one chunk, in milliseconds.
struct PassTimes {
  double forward, input_gradient, weight_gradient;
  double sum() const { return forward + input_gradient + weight_gradient; }
};

testing::Outcome run(PipelineSchedule schedule, int stages, int chunks, int microbatches, PassTimes times) {
  StepProgram program = testing::pipeline_program({{{"pipeline", stages}}}, schedule, stages, chunks,
                                                  microbatches, times.forward, 0);
  ComputeOp weights = testing::milliseconds(times.weight_gradient);
  weights.weight_gradient = true;
  testing::layer_of(program).backward = {testing::milliseconds(times.input_gradient), weights};
  Fabric fabric = build_fabric(testing::gpu_fabric(stages, stages, 8));
  for (Link& link : fabric.links.stored()) link.latency = {0};
  return testing::simulate_step(testing::plain_spec(), program, fabric, true);
}

double idle_ms(PipelineSchedule schedule, int stages, int chunks, int microbatches, PassTimes times) {
  const Timeline timeline = run(schedule, stages, chunks, microbatches, times).timeline;
  const double passes = schedule == PipelineSchedule::kDualPipe ? microbatches : microbatches * chunks;
  return timeline.step_end.back().in_seconds() * 1e3 - passes * times.sum();
}

// Qi et al. (arXiv 2401.10241), table 2, where W is no longer than B.
TEST(PipelineBubble, zero_bubble_h1_idles_for_stages_minus_1_times_f_plus_b_minus_w) {
  for (int stages : {1, 2, 4, 8})
    for (int microbatches : {8, 16, 21})
      for (PassTimes t : {PassTimes{1, 1, 1}, PassTimes{2, 3, 2}, PassTimes{3, 3, 1}, PassTimes{4, 5, 3}})
        EXPECT_NEAR(idle_ms(PipelineSchedule::kZeroBubbleH1, stages, 1, microbatches, t),
                    (stages - 1) * (t.forward + t.input_gradient - t.weight_gradient), 1e-9)
            << stages << " stages, " << microbatches << " microbatches";
}

// As above, section 6. Stage s begins after s forward passes and ends as much after the first stage; between
// its first pass and its last it never waits.
TEST(PipelineBubble, zero_bubble_v_idles_before_its_first_and_after_its_last_pass_only) {
  for (int stages : {1, 2, 3, 4, 6, 8})
    for (int microbatches : {2 * stages, 2 * stages + 1, 4 * stages}) {
      const auto outcome = run(PipelineSchedule::kZeroBubbleV, stages, 2, microbatches, {1, 1, 1});
      EXPECT_EQ(outcome.timeline.step_end.back(), Time::seconds((6 * microbatches + stages - 1) * 1e-3));
      for (const ChipTotals& chip : outcome.timeline.chips)
        EXPECT_EQ(chip.bucket[static_cast<int>(Bucket::kBubble)], Time::seconds(chip.stage * 1e-3));
    }
}

// What the pattern for equal passes costs when they differ: F <= B and W <= B <= 2 W.
TEST(PipelineBubble, zero_bubble_v_idles_for_stages_minus_1_input_gradients) {
  for (int stages : {2, 3, 4, 8})
    for (int microbatches : {2 * stages, 4 * stages})
      for (PassTimes t : {PassTimes{2, 3, 2}, PassTimes{1, 2, 1}, PassTimes{1, 2, 2}, PassTimes{4, 5, 3}})
        EXPECT_NEAR(idle_ms(PipelineSchedule::kZeroBubbleV, stages, 2, microbatches, t),
                    (stages - 1) * t.input_gradient, 1e-9)
            << stages << " stages, " << microbatches << " microbatches";
}

// DeepSeek-V3 (arXiv 2412.19437), table 2: (p/2 - 1)(F&B + B - 3W), with F&B = F + B where nothing is hidden
// and B the whole backward pass. Exact where the input gradient is as long as the forward pass.
TEST(PipelineBubble, dualpipe_idles_as_published) {
  for (int stages : {2, 4, 6, 8, 16})
    for (int microbatches : {2 * stages, 2 * stages + 2, 4 * stages})
      for (PassTimes t : {PassTimes{1, 1, 1}, PassTimes{3, 3, 2}, PassTimes{2, 2, 1}}) {
        const double backward = t.input_gradient + t.weight_gradient;
        EXPECT_NEAR(idle_ms(PipelineSchedule::kDualPipe, stages, 2, microbatches, t),
                    (stages / 2 - 1) * (t.forward + backward + backward - 3 * t.weight_gradient), 1e-9)
            << stages << " stages, " << microbatches << " microbatches";
      }
}

TEST(PipelineBubble, schedules_rank_as_published) {
  const PassTimes t{1, 1, 1};
  const double plain = idle_ms(PipelineSchedule::k1F1B, 8, 1, 32, t);
  EXPECT_NEAR(plain, 7 * 3, 1e-9);
  EXPECT_NEAR(idle_ms(PipelineSchedule::kZeroBubbleH1, 8, 1, 32, t), plain / 3, 1e-9);
  EXPECT_NEAR(idle_ms(PipelineSchedule::kDualPipe, 8, 2, 32, t), 3 * 2, 1e-9);
  // Its passes are half as long: two chunks on each stage.
  EXPECT_NEAR(idle_ms(PipelineSchedule::kZeroBubbleV, 8, 2, 32, {0.5, 0.5, 0.5}), plain / 6, 1e-9);
}

// M microbatches go round v times: M v + S - 1 iterations.
TEST(PipelineBubble, going_round_divides_the_padding_of_a_shifting_buffer_by_the_chunks) {
  for (int stages : {2, 4})
    for (int chunks : {1, 2, 3})
      for (int microbatches : {4, 8, 9})
        EXPECT_NEAR(step_ms(PipelineSchedule::kShifting, stages, chunks, microbatches, 1, 2),
                    3.0 * (microbatches * chunks + stages - 1), 1e-9);
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
  for (Link& link : fabric.links.stored()) link.latency = {0};
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
}  // namespace podsim::bubble_test
