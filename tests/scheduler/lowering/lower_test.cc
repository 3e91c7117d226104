// Rules of lowering, each on a step whose exact timeline is written out.
#include "scheduler/lowering/lower.h"

#include <gtest/gtest.h>

#include "tests/scheduler/fixture.h"

namespace podsim::lower_test {
namespace {

using testing::collective;
using testing::milliseconds;

// A ring of 4 chips at 50 GB/s: an all-gather of 200 MB sends 150 MB both ways, 1.5 ms, plus 3 us.
constexpr double kGatherBytes = 200e6;

struct Case {
  Spec spec = testing::plain_spec();
  Mesh mesh{{{"fsdp", 4}}};
  StepProgram program = testing::pipeline_program(mesh, PipelineSchedule::k1F1B, 1, 1, 1, 0, 0);
  Fabric fabric = build_fabric(testing::ring_fabric(4));

  Case() { program.chunks[0][0].runs = {{0, 3}}; }
  double step_ms() const {
    return testing::simulate_step(spec, program, fabric, true).timeline.step_end.back().in_seconds() * 1e3;
  }
  double gather_ms() const {
    std::vector<ChipId> group = {0, 1, 2, 3};
    Collective gather{CollectiveKind::kAllGather, {kGatherBytes}};
    return predict(fabric, plan(fabric, gather, group)).in_seconds() * 1e3;
  }
};

TEST(Lower, without_prefetch_every_gather_is_exposed) {
  Case c;
  testing::layer_of(c.program).forward = {
      collective(CollectiveKind::kAllGather, 1, kGatherBytes, Purpose::kParameter), milliseconds(5)};
  EXPECT_NEAR(c.step_ms(), 3 * (c.gather_ms() + 5), 1e-9);
}

TEST(Lower, prefetched_gathers_hide_behind_the_layer_before) {
  Case c;
  c.spec.job.stack.prefetch_forward = 1;
  testing::layer_of(c.program).forward = {
      collective(CollectiveKind::kAllGather, 1, kGatherBytes, Purpose::kParameter), milliseconds(5)};
  EXPECT_NEAR(c.step_ms(), c.gather_ms() + 3 * 5, 1e-9) << "only the first gather is exposed";
  testing::layer_of(c.program).forward[1] = milliseconds(0.5);
  EXPECT_NEAR(c.step_ms(), 3 * c.gather_ms() + 0.5, 1e-9)
      << "gathers follow one another when computation is shorter";
}

TEST(Lower, transfers_slow_the_computation_beside_them) {
  Case c;
  c.spec.job.stack.prefetch_forward = 1;
  c.spec.job.stack.interference = 0.25;
  testing::layer_of(c.program).forward = {
      collective(CollectiveKind::kAllGather, 1, kGatherBytes, Purpose::kParameter), milliseconds(5)};
  // Two gathers run beside layers; each transfer of t ms does t / 1.25 ms of work. Latency and launch do not
  // disturb.
  std::vector<ChipId> group = {0, 1, 2, 3};
  double transfer_ms = 0;
  for (const Phase& phase : plan(c.fabric, {CollectiveKind::kAllGather, {kGatherBytes}}, group).phases) {
    double slowest = 0;
    for (const LinkLoad& load : phase.loads)
      slowest = std::max(slowest, load.bytes / c.fabric.links[load.link].bandwidth.value);
    transfer_ms += slowest * 1e3;
  }
  EXPECT_NEAR(c.step_ms(), c.gather_ms() + 15 + 2 * (transfer_ms - transfer_ms / 1.25), 1e-8);
}

// Four GPUs, each a server of its own or all in one.
TEST(Lower, a_share_of_the_network_slows_collectives_between_servers_and_no_others) {
  const auto gather_ms = [](int per_domain, double share) {
    Case c;
    c.fabric = build_fabric(testing::gpu_fabric(4, per_domain, 4));
    c.spec.job.stack.network_share = share;
    c.program.chunks[0][0].runs = {{0, 1}};
    testing::layer_of(c.program).forward = {
        collective(CollectiveKind::kAllGather, 1, kGatherBytes, Purpose::kParameter)};
    return c.step_ms();
  };
  const double latency_ms = 2 * 2e-3;  // halving-doubling: two exchanges over two links
  EXPECT_NEAR(gather_ms(1, 1), 3 + latency_ms, 1e-9) << "150 MB over NICs of 50 GB/s";
  EXPECT_NEAR(gather_ms(1, 0.125), 8 * 3 + latency_ms, 1e-9);
  EXPECT_DOUBLE_EQ(gather_ms(4, 0.125), gather_ms(4, 1));
}

// 1 - 0.02 / 0.04 of the largest stall of 60 %.
TEST(Lower, an_allocator_with_little_memory_left_stalls_layers) {
  const auto step_ms = [](double used) {
    Case c;
    c.spec.cluster.chip.hbm_capacity = {100e9};
    c.spec.job.stack.retry_free_share = 0.04;
    c.spec.job.stack.retry_stall = 0.6;
    c.program.memory.front().activations = {used * 100e9};
    testing::layer_of(c.program).forward = {milliseconds(10)};
    return c.step_ms();
  };
  EXPECT_NEAR(step_ms(0.5), 30, 1e-9);
  EXPECT_NEAR(step_ms(0.96), 30, 1e-9);
  EXPECT_NEAR(step_ms(0.98), 30 * 1.3, 1e-9);
  EXPECT_NEAR(step_ms(1), 30 * 1.6, 1e-9);
  EXPECT_NEAR(step_ms(1.01), 30, 1e-9) << "what does not fit is simulated as if it did";
}

TEST(Lower, overlapped_gradient_reductions_expose_only_what_outlasts_the_backward_pass) {
  Case c;
  testing::layer_of(c.program).backward = {milliseconds(5)};
  testing::layer_of(c.program).gradient_reduce = {
      collective(CollectiveKind::kReduceScatter, 1, kGatherBytes, Purpose::kGradient)};
  EXPECT_NEAR(c.step_ms(), 15 + 3 * c.gather_ms(), 1e-9) << "a reduce-scatter takes as long as a gather";
  c.spec.job.stack.gradients_overlapped = true;
  EXPECT_NEAR(c.step_ms(), 15 + c.gather_ms(), 1e-9);
}

TEST(Lower, the_hidden_share_of_an_activation_collective_runs_beside_the_next_operation) {
  Case c;
  testing::layer_of(c.program).forward = {
      collective(CollectiveKind::kAllGather, 1, kGatherBytes, Purpose::kActivation), milliseconds(5)};
  EXPECT_NEAR(c.step_ms(), 3 * (c.gather_ms() + 5), 1e-9);
  c.spec.job.stack.tensor_hidden = 0.5;
  double half_ms = (c.gather_ms() - 0.003) / 2 + 0.003;
  EXPECT_NEAR(c.step_ms(), 3 * (half_ms + 5), 0.02);
  EXPECT_LT(c.step_ms(), 3 * (c.gather_ms() + 5) - 1);
}

TEST(Lower, optimizer_and_fixed_cost_end_the_step) {
  Case c;
  testing::layer_of(c.program).backward = {milliseconds(2)};
  testing::layer_of(c.program).optimizer = {milliseconds(1)};
  c.spec.job.stack.fixed_step = Time::seconds(4e-3);
  Timeline timeline = testing::simulate_step(c.spec, c.program, c.fabric, true).timeline;
  EXPECT_EQ(timeline.step_end.back(), Time::seconds(13e-3));
  EXPECT_EQ(timeline.chips[0].bucket[static_cast<int>(Bucket::kOptimizer)], Time::seconds(7e-3));
}

TEST(Lower, an_update_takes_its_time_for_every_weight_and_a_share_of_it_in_captured_graphs) {
  Case c;
  const auto step = [&] {
    return testing::simulate_step(c.spec, c.program, c.fabric, true).timeline.step_end.back();
  };
  testing::layer_of(c.program).weights = 7;
  const Time without = step();
  c.spec.job.stack.update_per_weight = Time::seconds(2e-3);
  const Time of_layers = step() - without;
  EXPECT_EQ(of_layers.ps % (7 * Time::seconds(2e-3).ps), 0);
  EXPECT_GT(of_layers, Time{});
  c.spec.job.stack.graph_launch_share = 0.25;
  EXPECT_EQ(step() - without, of_layers) << "nothing is captured";
  c.spec.job.stack.graphs_captured = true;
  EXPECT_EQ(4 * (step() - without), of_layers);
  testing::layer_of(c.program).weights = 0;
  EXPECT_EQ(step(), without) << "a device that updates nothing waits for nothing";
}

TEST(Lower, the_backward_pass_visits_the_parts_in_reverse_each_once) {
  Case c;
  c.program.parts.resize(3);
  c.program.chunks[0][0].runs = {{1, 1}, {0, 2}, {2, 1}};
  c.program.parts[1].backward = {milliseconds(1)};
  testing::layer_of(c.program).backward = {
      collective(CollectiveKind::kAllGather, 1, 1e6, Purpose::kActivation), milliseconds(2)};
  c.program.parts[2].backward = {milliseconds(4)};
  LoweredStep step = lower(c.program, c.spec, false);
  std::vector<double> order;
  for (std::int32_t segment : step.stages[0].order)
    for (const Instruction& instruction : step.stages[0].segments[segment])
      if (instruction.kind == Instruction::Kind::kCompute)
        order.push_back(instruction.duration.in_seconds() * 1e3);
  EXPECT_EQ(order, (std::vector<double>{4, 2, 2, 1}));
}

TEST(Lower, a_step_waits_for_its_input) {
  Case c;
  testing::layer_of(c.program).forward = {milliseconds(2)};
  c.program.tokens = 4e6;
  c.spec.job.input_rate = {1e9};  // 4 chips per host: 4e6 tokens of 4 bytes take 16 ms
  c.spec.cluster.fabric.chips_per_host = 4;
  Timeline timeline = testing::simulate_step(c.spec, c.program, c.fabric, true).timeline;
  EXPECT_EQ(timeline.step_end.back(), Time::seconds(16e-3));
  EXPECT_EQ(timeline.chips[0].bucket[static_cast<int>(Bucket::kInput)], Time::seconds(10e-3));
}

// A block of 50 MB to the neighbour: 1 ms and 1 us.
CollectiveOp ring_of_blocks(int blocks) {
  CollectiveOp ring = collective(CollectiveKind::kPermute, 1, 50e6, Purpose::kActivation);
  ring.windows = blocks;
  return ring;
}

ComputeOp matrix_work(double ms) {
  ComputeOp op = milliseconds(ms);
  op.op_class = OpClass::kOptimizer;  // exactly its HBM time
  return op;
}

TEST(Lower, blocks_of_a_ring_travel_beside_the_pieces_of_the_next_computation) {
  Case c;
  c.program.chunks[0][0].runs = {{0, 1}};
  testing::layer_of(c.program).forward = {ring_of_blocks(4), matrix_work(8)};
  EXPECT_NEAR(c.step_ms(), 8, 1e-9) << "pieces of 2 ms hide blocks of 1.001 ms";
  testing::layer_of(c.program).forward = {ring_of_blocks(4), matrix_work(2)};
  EXPECT_NEAR(c.step_ms(), 3 * 1.001 + 0.5, 1e-9) << "the last piece waits for the third block";
}

TEST(Lower, a_ring_waits_for_its_matmul_past_operations_bound_by_memory) {
  Case c;
  c.program.chunks[0][0].runs = {{0, 1}};
  testing::layer_of(c.program).forward = {ring_of_blocks(4), milliseconds(3), matrix_work(8)};
  EXPECT_NEAR(c.step_ms(), 11, 1e-9);
}

}  // namespace
}  // namespace podsim::lower_test
