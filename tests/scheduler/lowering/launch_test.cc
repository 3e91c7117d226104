// The host that launches kernels beside the device that runs them: who is the slower, and who waits for whom.
#include <gtest/gtest.h>

#include "scheduler/lowering/pass_blocks.h"
#include "tests/scheduler/fixture.h"
#include "tests/scheduler/stream_spans.h"

namespace podsim::launch_test {
namespace {

using testing::milliseconds;
using testing::Spans;

// Two servers of one GPU. A layer has 100 kernels a pass, of which the host launches one in 5 us: 500 us.
struct TwoServers {
  Spec spec = testing::plain_spec();
  Fabric fabric = build_fabric(testing::gpu_fabric(2, 1, 2));
  StepProgram program = testing::pipeline_program({{{"data", 2}}}, PipelineSchedule::k1F1B, 1, 1, 1, 0, 0);

  TwoServers() {
    stack().kernels_per_layer = stack().backward_kernels = 100;
    stack().host_launch = Time::seconds(5e-6);
  }
  Stack& stack() { return spec.job.stack; }
  Part& layer() { return testing::layer_of(program); }
  void layer_takes(double forward_ms, double backward_ms) {
    layer().forward = {milliseconds(forward_ms)};
    layer().backward = {milliseconds(backward_ms)};
  }
  Timeline run() const { return testing::simulate_step(spec, program, fabric, true).timeline; }
  Time step() const { return run().step_end.back(); }
};

TEST(Launch, a_chain_of_small_kernels_runs_at_the_launch_rate_unless_graphs_are_captured) {
  TwoServers c;
  c.layer_takes(1e-3, 1e-3);
  EXPECT_EQ(c.step(), Time::seconds(1000e-6));
  c.stack().graph_launch_share = 0.25;
  EXPECT_EQ(c.step(), Time::seconds(1000e-6)) << "not captured";
  c.stack().graphs_captured = true;
  EXPECT_EQ(c.step(), Time::seconds(250e-6));
}

TEST(Launch, a_layer_of_twice_the_launches_takes_the_host_twice_as_long) {
  TwoServers c;
  c.layer_takes(1e-3, 1e-3);
  c.layer().launches = 2;
  EXPECT_EQ(c.step(), Time::seconds(2000e-6));
}

TEST(Launch, long_kernels_hide_their_launches_and_show_their_gaps) {
  TwoServers c;
  c.layer_takes(1, 2);
  EXPECT_EQ(c.step(), Time::seconds(3e-3));
  c.stack().kernel_gap = Time::seconds(1e-6);
  EXPECT_EQ(c.step(), Time::seconds(3.2e-3)) << "twice 100 gaps";
}

// Forward 1 ms on the device, backward 0.1 ms: the host has launched backward's kernels before it begins.
TEST(Launch, the_host_runs_ahead_while_the_device_is_the_slower) {
  TwoServers c;
  c.layer_takes(1, 0.1);
  EXPECT_EQ(c.step(), Time::seconds(1.1e-3));
  EXPECT_EQ(testing::computations(c.run(), 0), (Spans{{0, 1000}, {1000, 1100}}));
}

// Forward 0.1 ms: the device waits until 0.5 ms, and what the host then launches meets it busy.
TEST(Launch, a_device_that_has_waited_does_not_get_its_time_back) {
  TwoServers c;
  c.layer_takes(0.1, 1);
  EXPECT_EQ(c.step(), Time::seconds(1.5e-3));
}

// A gather of 50 MB lasts 502 us (two links of 1 us): the host needs the 600 us of a pass in any case.
TEST(Launch, collectives_cost_the_host_its_time_and_run_beside_its_launches) {
  TwoServers c;
  c.layer_takes(0.05, 0);
  c.stack().backward_kernels = 0;
  c.layer().forward.push_back(testing::collective(CollectiveKind::kAllGather, 1, 50e6, Purpose::kActivation));
  EXPECT_EQ(c.step(), Time::seconds(552e-6)) << "the device is the slower";
  c.stack().host_collective = Time::seconds(100e-6);
  EXPECT_EQ(c.step(), Time::seconds(600e-6));
}

// Forward 1 ms on the device, 0.5 ms on the host, which is 0.25 ms before the device when its queue of 50 is
// full: it begins with backward at 0.75 ms.
TEST(Launch, a_host_is_ahead_by_its_queue_and_no_more) {
  TwoServers c;
  c.layer_takes(1, 0.1);
  c.stack().launch_queue = 50;
  EXPECT_EQ(c.step(), Time::seconds(1.25e-3));
  c.stack().launch_queue = 100;
  EXPECT_EQ(c.step(), Time::seconds(1.1e-3)) << "it could be ahead by 0.5 ms, and is";
  c.stack().launch_queue = 1;
  EXPECT_EQ(c.step(), Time::seconds(1.495e-3)) << "it begins 5 us before the device is through";
}

TEST(Launch, a_longer_queue_never_makes_a_step_longer_and_none_is_the_longest) {
  for (const double backward_ms : {0.1, 0.3, 0.7, 2.0}) {
    TwoServers c;
    c.layer_takes(1, backward_ms);
    const Time endless = c.step();
    Time before = Time::max();
    for (const int queue : {1, 10, 50, 90, 1000}) {
      c.stack().launch_queue = queue;
      EXPECT_LE(c.step(), before) << backward_ms << " ms, " << queue;
      before = c.step();
    }
    EXPECT_EQ(before, endless);
  }
}

// Forward 1 ms on the device; of backward, 0.1 ms, the host needs 0.4 ms for a collective, which is hidden.
TEST(Launch, a_queue_says_nothing_where_launches_take_no_time) {
  TwoServers c;
  c.layer_takes(1, 0.1);
  c.layer().backward.push_back(testing::collective(CollectiveKind::kAllGather, 1, 1e3, Purpose::kActivation));
  c.stack().host_launch = {};
  c.stack().host_collective = Time::seconds(400e-6);
  const Time endless = c.step();
  EXPECT_LT(endless, Time::seconds(1.2e-3));
  c.stack().launch_queue = 100;
  EXPECT_EQ(c.step(), endless);
  c.stack().host_launch = Time::seconds(0.5e-6);
  EXPECT_GE(c.step(), endless);
}

// 3 weights of 20 launches of 5 us, while the device needs nothing for the update.
TEST(Launch, the_optimizer_costs_the_host_its_launches_for_every_weight) {
  TwoServers c;
  c.layer_takes(1e-3, 1e-3);
  c.layer().weights = 3;
  const Time without = c.step();
  c.stack().optimizer_calls = 20;
  EXPECT_EQ(c.step() - without, Time::seconds(300e-6));
  c.stack().host_launch = {};
  c.layer_takes(1, 1);
  EXPECT_EQ(c.step(), Time::seconds(2e-3)) << "a host that needs no time";
}

TEST(Launch, reductions_and_gathers_of_a_step_cost_the_host_its_time) {
  TwoServers c;
  c.layer_takes(0, 0);
  c.layer().gradient_reduce = {
      testing::collective(CollectiveKind::kReduceScatter, 1, 1e3, Purpose::kGradient)};
  c.layer().parameter_gather = {testing::collective(CollectiveKind::kAllGather, 1, 1e3, Purpose::kParameter)};
  c.stack().kernels_per_layer = c.stack().backward_kernels = 0;
  const Time free = c.step();
  c.stack().host_collective = Time::seconds(400e-6);
  const Time gather{free.ps / 2};
  EXPECT_EQ(c.step(), 2 * Time::seconds(400e-6) + gather) << "behind the reduction, which runs meanwhile";
}

TEST(Launch, more_host_time_never_makes_a_step_shorter) {
  for (const double forward_ms : {0.1, 0.6, 2.0}) {
    TwoServers c;
    c.program =
        testing::pipeline_program({{{"pipeline", 2}}}, PipelineSchedule::k1F1B, 2, 1, 4, forward_ms, 0.3);
    c.layer().weights = 5;
    c.stack().optimizer_calls = 10;
    c.stack().launch_queue = 150;
    Time before;
    for (const double microseconds : {0.0, 1.0, 5.0, 20.0}) {
      c.stack().host_launch = Time::seconds(microseconds * 1e-6);
      c.stack().host_collective = Time::seconds(10 * microseconds * 1e-6);
      EXPECT_GE(c.step(), before) << forward_ms << " ms, " << microseconds << " us";
      before = c.step();
    }
  }
}

TEST(Launch, a_stage_that_waits_for_its_input_launches_nothing_meanwhile) {
  TwoServers c;
  c.program = testing::pipeline_program({{{"pipeline", 2}}}, PipelineSchedule::k1F1B, 2, 1, 1, 0.1, 0.1);
  for (Link& link : c.fabric.links.stored()) link.latency = {0};
  EXPECT_EQ(c.step(), Time::seconds(2e-3)) << "four passes one after the other, each at the host's 0.5 ms";
}

// 100 forward kernels again, of half of the operations 50.
TEST(Launch, recompute_launches_kernels_of_the_forward_pass_again) {
  TwoServers c;
  ComputeOp again = milliseconds(1e-3);
  c.layer().forward = {again, again};
  again.recomputed = true;
  c.layer().backward = {again, milliseconds(1e-3)};
  EXPECT_EQ(PassBlocks(c.program.parts).kernels(0, Pass::kBackward, c.stack()), 150);
  EXPECT_EQ(c.step(), Time::seconds(1250e-6));
}

TEST(Launch, only_the_piece_with_the_loss_has_its_kernels) {
  TwoServers c;
  c.layer_takes(1e-3, 1e-3);
  c.stack().loss_kernels = 20;
  c.layer().layer = false;
  EXPECT_EQ(PassBlocks(c.program.parts).kernels(0, Pass::kForward, c.stack()), 0);
  c.layer().loss = true;
  EXPECT_EQ(c.step(), Time::seconds(200e-6)) << "forward and backward";
}

// Of two backward operations one is the weight gradient: half of the kernels, and recompute is not in it.
TEST(Launch, passes_apart_share_the_kernels_of_backward) {
  TwoServers c;
  ComputeOp again = milliseconds(1e-3), weights = milliseconds(1e-3);
  again.recomputed = weights.weight_gradient = true;
  c.layer().forward = {milliseconds(1e-3)};
  c.layer().backward = {again, milliseconds(1e-3), weights};
  const PassBlocks blocks(c.program.parts);
  EXPECT_EQ(blocks.kernels(0, Pass::kInputGradient, c.stack()), 150);
  EXPECT_EQ(blocks.kernels(0, Pass::kWeightGradient, c.stack()), 50);
  EXPECT_EQ(blocks.kernels(0, Pass::kBackward, c.stack()), 200);
}

ComputeOp on_experts(double ms, double experts) {
  ComputeOp op = milliseconds(ms);
  op.of_experts = true;
  op.repeats = experts;
  return op;
}

// Beside the 100 kernels of every layer 20, and 10 for each of 8 experts.
TEST(Launch, experts_have_kernels_of_their_own) {
  TwoServers c;
  c.layer().forward = {milliseconds(1e-3), on_experts(1e-3, 8)};
  c.layer().backward = {milliseconds(1e-3)};
  c.stack().experts.kernels = 20;
  c.stack().experts.kernels_per_expert = 10;
  const PassBlocks blocks(c.program.parts);
  EXPECT_EQ(blocks.kernels(0, Pass::kForward, c.stack()), 100);
  EXPECT_EQ(blocks.expert_kernels(0, Pass::kForward, c.stack()), 100);
  EXPECT_EQ(c.step(), Time::seconds(2000e-6));
}

// The 100 kernels before the experts and the 100 of experts take the host 0.5 ms each. It has launched the
// first within the 1 ms that they run, and the others while these run, unless it must wait for their results.
TEST(Launch, a_host_that_needs_token_counts_launches_nothing_of_experts_before_it_has_them) {
  TwoServers c;
  c.layer().forward = {milliseconds(1), on_experts(0.1, 8)};
  c.layer().backward = {};
  c.stack().backward_kernels = 0;
  c.stack().experts.kernels = 100;
  EXPECT_EQ(c.step(), Time::seconds(1.1e-3));
  c.stack().experts.synchronises = true;
  EXPECT_EQ(c.step(), Time::seconds(1.5e-3));
}

}  // namespace
}  // namespace podsim::launch_test
