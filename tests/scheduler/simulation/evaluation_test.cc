// Forward passes by themselves: what is left of a training step, and how long that takes.
#include <gtest/gtest.h>

#include "tests/scheduler/fixture.h"

namespace podsim::evaluation_test {
namespace {

double forward_ms(PipelineSchedule schedule, int stages, int chunks, int microbatches) {
  const StepProgram program = evaluation_of(
      testing::pipeline_program({{{"pipeline", stages}}}, schedule, stages, chunks, microbatches, 3, 100));
  Fabric fabric = build_fabric(testing::gpu_fabric(stages, stages, 8));
  for (Link& link : fabric.links.stored()) link.latency = {0};
  Spec spec = testing::plain_spec();
  spec.job.stack.fixed_step = Time::seconds(1);
  return testing::simulate_step(spec, program, fabric, true).timeline.step_end.back().in_seconds() * 1e3;
}

TEST(Evaluation, a_pipeline_is_filled_once_and_never_turns_back) {
  for (const int stages : {1, 2, 4})
    for (const auto schedule : {PipelineSchedule::kGpipe, PipelineSchedule::k1F1B})
      EXPECT_NEAR(forward_ms(schedule, stages, 1, 8), 3.0 * (8 + stages - 1), 1e-9);
}

TEST(Evaluation, chunks_of_an_interleaved_stage_follow_each_other) {
  EXPECT_NEAR(forward_ms(PipelineSchedule::kInterleaved, 4, 2, 8), 3.0 * (2 * 8 + 3), 1e-9);
}

TEST(Evaluation, nothing_waits_for_a_backward_pass_and_no_weight_changes) {
  StepProgram program = testing::pipeline_program({{{"data", 4}}}, PipelineSchedule::k1F1B, 1, 1, 1, 10, 20);
  Part& layer = testing::layer_of(program);
  layer.forward.push_back(HostCopy{"x", Bytes{1e9}, true});
  layer.gradient_reduce.push_back(
      testing::collective(CollectiveKind::kAllReduce, 1, 1e9, Purpose::kGradient));
  layer.optimizer.push_back(testing::milliseconds(5));
  Spec spec = testing::plain_spec();
  spec.cluster.chip.host_link = {1e9};
  const Fabric fabric = build_fabric(testing::ring_fabric(4));
  EXPECT_EQ(testing::simulate_step(spec, evaluation_of(program), fabric, true).timeline.step_end.back(),
            Time::seconds(10e-3));
}

}  // namespace
}  // namespace podsim::evaluation_test
