// What of the work around the optimizer runs beside the passes, where its state is cut and where it is whole.
#include <gtest/gtest.h>

#include "tests/scheduler/fixture.h"

namespace podsim::sharded_state_test {
namespace {

using testing::collective;
using testing::milliseconds;

// Two servers of one GPU and four layers; forward and backward of 10 ms each. A reduction or a gather takes 1
// or 2 ms.
struct TwoServers {
  Spec spec = testing::plain_spec();
  Fabric fabric = build_fabric(testing::gpu_fabric(2, 1, 2));
  StepProgram program = testing::pipeline_program({{{"data", 2}}}, PipelineSchedule::k1F1B, 1, 1, 1, 10, 10);

  explicit TwoServers(bool cut) {
    program.chunks[0][0].runs.front().count = 4;
    Part& layer = testing::layer_of(program);
    const auto reduction = cut ? CollectiveKind::kReduceScatter : CollectiveKind::kAllReduce;
    layer.gradient_reduce = {collective(reduction, 1, 100e6, Purpose::kGradient)};
    if (cut) layer.parameter_gather = {collective(CollectiveKind::kAllGather, 1, 100e6, Purpose::kParameter)};
  }
  Stack& stack() { return spec.job.stack; }
  double step() const {
    return testing::simulate_step(spec, program, fabric, true).timeline.step_end.back().in_seconds();
  }
};

TEST(ShardedState, follows_the_gradients_unless_the_stack_says_otherwise) {
  TwoServers c(true);
  const double exposed = c.step();
  c.stack().gradients_overlapped = true;
  const double beside = c.step();
  EXPECT_LT(beside, exposed) << "the gather runs beside the forward pass of the next step";
  c.stack().sharded_state_overlapped = false;
  EXPECT_EQ(c.step(), exposed);
  c.stack().gradients_overlapped = false;
  c.stack().sharded_state_overlapped = true;
  EXPECT_EQ(c.step(), beside);
}

TEST(ShardedState, is_no_matter_of_whole_state) {
  TwoServers c(false);
  const double exposed = c.step();
  c.stack().sharded_state_overlapped = true;
  EXPECT_EQ(c.step(), exposed);
}

}  // namespace
}  // namespace podsim::sharded_state_test
