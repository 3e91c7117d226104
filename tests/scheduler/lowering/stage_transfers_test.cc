// What stages hand on when several devices have the same activation.
#include <gtest/gtest.h>

#include "tests/scheduler/fixture.h"
#include "topology/fabric.h"

namespace podsim::stage_transfers_test {
namespace {

// Two stages of two GPUs, each stage an NVLink domain: forward 10 ms, backward 20 ms, one microbatch, 50 MB
// to hand on.
double step_ms(bool scatter_gather, AxisSet copies) {
  const Mesh mesh{{{"pipeline", 2}, {"tensor", 2}}};
  StepProgram program = testing::pipeline_program(mesh, PipelineSchedule::k1F1B, 2, 1, 1, 10, 20);
  testing::layer_of(program).output = Bytes{50e6};
  testing::layer_of(program).output_copies = copies;
  Spec spec = testing::plain_spec();
  spec.job.stack.scatter_gather_sends = scatter_gather;
  const Fabric fabric = build_fabric(testing::gpu_fabric(4, 2, 4));
  return testing::simulate_step(spec, program, fabric, true).timeline.step_end.back().in_seconds() * 1e3;
}

constexpr AxisSet kTensor = 2;

// 10 + 1 + 10 + 20 + 1 + 20 ms: 50 MB at 50 GB/s each way.
TEST(StageTransfers, every_device_sends_the_whole_activation) {
  EXPECT_NEAR(step_ms(false, kTensor), 62, 0.02);
  EXPECT_NEAR(step_ms(true, 0), 62, 0.02) << "no copies, nothing to share";
}

// 10 + (0.5 + 0.0625) + 10 + 20 + (0.5 + 0.0625) + 20 ms: half of it over each NIC, and an all-gather of 50
// MB among two GPUs at 400 GB/s.
TEST(StageTransfers, copies_send_a_share_each_and_gather_the_whole) {
  EXPECT_NEAR(step_ms(true, kTensor), 61.125, 0.02);
}

}  // namespace
}  // namespace podsim::stage_transfers_test
