// Copies to and from the host, each rule on a step whose timeline is written out.
#include <gtest/gtest.h>

#include "tests/scheduler/fixture.h"

namespace podsim::host_copies_test {
namespace {

using testing::milliseconds;

// A copy over a link of 1 GB/s.
HostCopy copy_of(double ms, bool to_host) { return {"activations", {ms * 1e6}, to_host}; }

// One chip and three layers.
struct Case {
  Spec spec = testing::plain_spec();
  StepProgram program = testing::pipeline_program({{{"data", 1}}}, PipelineSchedule::k1F1B, 1, 1, 1, 0, 0);
  Fabric fabric = build_fabric(testing::ring_fabric(1));

  Case() {
    program.chunks[0][0].runs = {{0, 3}};
    spec.cluster.chip.host_link = {1e9};
  }
  Block& forward() { return testing::layer_of(program).forward; }
  Block& backward() { return testing::layer_of(program).backward; }
  Timeline run() const { return testing::simulate_step(spec, program, fabric, true).timeline; }
  double step_ms() const { return run().step_end.back().in_seconds() * 1e3; }
  double wait_ms() const {
    return run().chips[0].bucket[static_cast<int>(Bucket::kOffload)].in_seconds() * 1e3;
  }
};

TEST(HostCopies, copies_out_hide_behind_the_layers_that_follow) {
  Case c;
  c.forward() = {milliseconds(5), copy_of(3, true)};
  // Layers 0-5, 5-10, 10-15; copies 5-8, 10-13, 15-18; the step waits for the last.
  EXPECT_DOUBLE_EQ(c.step_ms(), 18);
  EXPECT_DOUBLE_EQ(c.wait_ms(), 3);
  c.backward() = {milliseconds(4)};
  EXPECT_DOUBLE_EQ(c.step_ms(), 27) << "the backward pass hides it";
  EXPECT_DOUBLE_EQ(c.wait_ms(), 0);
}

TEST(HostCopies, copies_out_follow_one_another) {
  Case c;
  c.forward() = {milliseconds(2), copy_of(3, true)};
  EXPECT_DOUBLE_EQ(c.step_ms(), 11) << "2 ms, then three copies";
  EXPECT_DOUBLE_EQ(c.wait_ms(), 5);
}

TEST(HostCopies, a_stack_may_bound_how_many_are_under_way) {
  Case c;
  c.forward() = {milliseconds(1), copy_of(3, true)};
  EXPECT_DOUBLE_EQ(c.step_ms(), 10) << "1 ms, then three copies";
  // Each layer waits for its own copy.
  c.spec.job.stack.host_copies = 0;
  EXPECT_DOUBLE_EQ(c.step_ms(), 12);
  // Layers 0-1 and 1-2; copies 1-4 and 4-7: the third layer waits for the first copy, 4-5; copy 7-10.
  c.spec.job.stack.host_copies = 1;
  EXPECT_DOUBLE_EQ(c.step_ms(), 10);
  c.backward() = {milliseconds(10)};
  // The third layer ends at 5, and its copy leaves only that of the second under way at 7.
  EXPECT_DOUBLE_EQ(c.step_ms(), 7 + 30);
  EXPECT_DOUBLE_EQ(c.wait_ms(), 4);
}

TEST(HostCopies, copies_back_are_one_layer_ahead) {
  Case c;
  c.forward() = {milliseconds(1)};
  c.backward() = {copy_of(3, false), milliseconds(5)};
  // Forward 0-3. The first backward layer comes right behind its own forward pass, so its copy runs 3-6;
  // those of the others hide behind the layers before.
  EXPECT_DOUBLE_EQ(c.step_ms(), 3 + 3 + 15);
  EXPECT_DOUBLE_EQ(c.wait_ms(), 3);
  c.backward() = {copy_of(7, false), milliseconds(5)};
  EXPECT_DOUBLE_EQ(c.step_ms(), 3 + 3 * 7 + 5) << "longer copies follow one another";
}

TEST(HostCopies, nothing_comes_back_before_it_has_gone_out) {
  Case c;
  c.forward() = {milliseconds(1), copy_of(4, true)};
  c.backward() = {copy_of(2, false), milliseconds(5)};
  // Forward 0-3; out 1-5, 5-9, 9-13. The first backward layer needs the last of them: back 13-15, 15-17, and
  // 20-22 behind the begin of the second layer.
  EXPECT_DOUBLE_EQ(c.step_ms(), 15 + 15);
  EXPECT_DOUBLE_EQ(c.wait_ms(), 12);
}

TEST(HostCopies, the_optimizer_fetches_its_state_one_piece_ahead_and_sends_it_back) {
  Case c;
  testing::layer_of(c.program).optimizer = {copy_of(2, false), milliseconds(3), copy_of(1, true)};
  // In 0-2, 2-4, 5-7; updates 2-5, 5-8, 8-11; out 5-6, 8-9, 11-12.
  EXPECT_DOUBLE_EQ(c.step_ms(), 12);
  EXPECT_DOUBLE_EQ(c.wait_ms(), 3);
}

TEST(HostCopies, a_slow_chip_copies_as_fast_as_others) {
  Case c;
  c.forward() = {milliseconds(1), copy_of(3, true)};
  c.spec.adversities.add(Degradation::of_chip(0, 0.5));
  EXPECT_DOUBLE_EQ(c.step_ms(), 2 + 9);
}

}  // namespace
}  // namespace podsim::host_copies_test
