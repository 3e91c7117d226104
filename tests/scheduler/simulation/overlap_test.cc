// Overlap of gradient reductions, activations and sends with computation: every interval written out by hand.
#include <gtest/gtest.h>

#include "scheduler/lowering/chunked_matmuls.h"
#include "tests/scheduler/fixture.h"
#include "tests/scheduler/stream_spans.h"

namespace podsim::overlap_test {
namespace {

using testing::collective;
using testing::milliseconds;
using testing::Spans;

constexpr auto kScatter = CollectiveKind::kReduceScatter;

// Two servers of one GPU: a gather or scatter of 100 MB takes 1000 us at the NIC's 50 GB/s, and 2 us for two
// links.
struct TwoServers {
  Spec spec = testing::plain_spec();
  Fabric fabric = build_fabric(testing::gpu_fabric(2, 1, 2));
  StepProgram program = testing::pipeline_program({{{"data", 2}}}, PipelineSchedule::k1F1B, 1, 1, 1, 0, 0);

  Part& layer() { return testing::layer_of(program); }
  Timeline run() const { return testing::simulate_step(spec, program, fabric, true).timeline; }
};

// Three layers of 4 ms backward.
struct Backward : TwoServers {
  Backward() {
    spec.job.stack.gradients_overlapped = true;
    program.chunks[0][0].runs = {{0, 3}};
    layer().backward = {milliseconds(4)};
    layer().gradient_reduce = {collective(kScatter, 1, 100e6, Purpose::kGradient)};
  }
  Spans reductions(double bucket_mb) {
    spec.job.stack.gradient_bucket = {bucket_mb * 1e6};
    return testing::spans_of(run(), 0, "gradients");
  }
};

TEST(GradientBuckets, without_a_size_every_layer_reduces_behind_its_backward_pass) {
  EXPECT_EQ(Backward().reductions(0), (Spans{{4000, 5002}, {8000, 9002}, {12000, 13002}}));
  EXPECT_EQ(Backward().reductions(100), (Spans{{4000, 5002}, {8000, 9002}, {12000, 13002}}));
}

TEST(GradientBuckets, layers_join_until_the_bucket_is_full_and_the_last_one_is_flushed) {
  EXPECT_EQ(Backward().reductions(101), (Spans{{8000, 10002}, {12000, 13002}}));
  EXPECT_EQ(Backward().reductions(1000), (Spans{{12000, 15002}})) << "one for all: nothing overlaps";
}

TEST(GradientBuckets, kinds_fill_a_bucket_together_and_leave_in_their_order) {
  Backward c;
  c.layer().gradient_reduce.push_back(collective(CollectiveKind::kAllGather, 1, 50e6, Purpose::kGradient));
  // Two layers: a scatter of 200 MB and a gather of 100 MB; the third: half of it.
  EXPECT_EQ(c.reductions(200), (Spans{{8000, 10002}, {10002, 11004}, {12000, 13002}, {13002, 13504}}));
}

TEST(GradientBuckets, without_overlap_buckets_save_latencies_only) {
  Backward c;
  c.spec.job.stack.gradients_overlapped = false;
  EXPECT_EQ(c.reductions(0), (Spans{{12000, 13002}, {13002, 14004}, {14004, 15006}}));
  EXPECT_EQ(c.reductions(1000), (Spans{{12000, 15002}}));
}

// Slices of one chip, joined by NICs of 10 GB/s and 10 us per link: four links to the other slice.
TEST(Overlap, sums_over_slices_hide_behind_the_backward_pass) {
  Backward c;
  FabricSpec slices = testing::ring_fabric(2);
  slices.slices = 2;
  slices.torus->shape = {1, 1, 1};
  slices.chips_per_host = 1;
  slices.dcn = {{10e9}, 1, Time::seconds(10e-6)};
  c.fabric = build_fabric(slices);
  c.layer().gradient_reduce = {collective(CollectiveKind::kAllReduce, 1, 20e6, Purpose::kGradient)};
  // Scatter and gather of 10 MB each, 1000 + 40 us.
  EXPECT_EQ(c.reductions(0), (Spans{{4000, 6080}, {8000, 10080}, {12000, 14080}}));
  EXPECT_EQ(testing::computations(c.run(), 0), (Spans{{0, 4000}, {4000, 8000}, {8000, 12000}}));
  c.layer().gradient_reduce = {collective(CollectiveKind::kAllReduce, 1, 60e6, Purpose::kGradient)};
  EXPECT_EQ(c.reductions(0), (Spans{{4000, 10080}, {10080, 16160}, {16160, 22240}}));
}

// 4 ms on the plain chip, whatever it is cut into.
ComputeOp matmul_of_4_ms() {
  ComputeOp op;
  op.name = "matmul";
  op.m = 4096;
  op.flops = {4e12};
  return op;
}

CollectiveOp activations(CollectiveKind kind) { return collective(kind, 1, 100e6, Purpose::kActivation); }

TEST(TensorChunks, a_gather_runs_one_chunk_ahead_of_its_matmul) {
  TwoServers c;
  c.layer().forward = {activations(CollectiveKind::kAllGather), matmul_of_4_ms()};
  EXPECT_EQ(testing::computations(c.run(), 0), (Spans{{1002, 5002}}));
  c.spec.job.stack.tensor_chunks = 4;
  EXPECT_EQ(testing::spans_of(c.run(), 0, "activations"),
            (Spans{{0, 252}, {252, 504}, {504, 756}, {756, 1008}}));
  EXPECT_EQ(testing::computations(c.run(), 0),
            (Spans{{252, 1252}, {1252, 2252}, {2252, 3252}, {3252, 4252}}));
}

TEST(TensorChunks, a_scatter_follows_its_matmul_chunk_by_chunk) {
  TwoServers c;
  c.spec.job.stack.tensor_chunks = 4;
  c.layer().forward = {matmul_of_4_ms(), activations(kScatter), milliseconds(1)};
  const Timeline timeline = c.run();
  EXPECT_EQ(testing::spans_of(timeline, 0, "activations"),
            (Spans{{1000, 1252}, {2000, 2252}, {3000, 3252}, {4000, 4252}}));
  EXPECT_EQ(testing::computations(timeline, 0),
            (Spans{{0, 1000}, {1000, 2000}, {2000, 3000}, {3000, 4000}, {4252, 5252}}));
}

TEST(TensorChunks, input_and_output_of_one_matmul_share_the_stream) {
  TwoServers c;
  c.spec.job.stack.tensor_chunks = 2;
  c.layer().forward = {activations(CollectiveKind::kAllGather), matmul_of_4_ms(), activations(kScatter)};
  const Timeline timeline = c.run();
  EXPECT_EQ(testing::computations(timeline, 0), (Spans{{502, 2502}, {2502, 4502}}));
  EXPECT_EQ(testing::spans_of(timeline, 0, "activations"),
            (Spans{{0, 502}, {502, 1004}, {2502, 3004}, {4502, 5004}}));
}

TEST(TensorChunks, weights_on_their_way_do_not_part_a_gather_from_its_matmul) {
  TwoServers c;
  c.spec.job.stack.tensor_chunks = 4;
  const CollectiveOp weights = collective(CollectiveKind::kAllGather, 1, 1e6, Purpose::kParameter);
  c.layer().forward = {activations(CollectiveKind::kAllGather), weights, matmul_of_4_ms()};
  EXPECT_EQ(testing::spans_of(c.run(), 0, "activations").size(), 4u);
}

TEST(TensorChunks, a_weight_gradient_adds_up_chunks_of_tokens) {
  TwoServers c;
  c.spec.job.stack.tensor_chunks = 4;
  ComputeOp weight_gradient = matmul_of_4_ms();
  weight_gradient.weight_gradient = true;
  c.layer().forward = {activations(CollectiveKind::kAllGather), weight_gradient};
  EXPECT_EQ(testing::computations(c.run(), 0),
            (Spans{{252, 1252}, {1252, 2252}, {2252, 3252}, {3252, 4252}}));
  weight_gradient.k = 1000;
  weight_gradient.n = 10;
  weight_gradient.hbm = {2 * 4096 * 10 + 8000};
  EXPECT_EQ(chunk_of(weight_gradient, 4).k, 250);
  EXPECT_EQ(chunk_of(weight_gradient, 4).m, 4096);
  EXPECT_EQ(chunk_of(weight_gradient, 4).hbm, Bytes{2 * 4096 * 10 + 2000});
}

TEST(TensorChunks, collectives_that_no_matmul_touches_stay_whole) {
  TwoServers c;
  c.spec.job.stack.tensor_chunks = 4;
  c.layer().forward = {activations(CollectiveKind::kAllToAll), matmul_of_4_ms(), milliseconds(1),
                       activations(kScatter)};
  EXPECT_EQ(testing::spans_of(c.run(), 0, "activations").size(), 2u);
}

// 100 MB among two servers take 1002 us.
TEST(Exchange, of_experts_runs_beside_the_whole_pass_as_far_as_the_stack_hides_it) {
  TwoServers c;
  CollectiveOp exchange = activations(CollectiveKind::kAllToAll);
  exchange.of_experts = true;
  c.layer().forward = {exchange, milliseconds(1), exchange};
  c.layer().backward = {};
  const auto forward_us = [&](double hidden) {
    c.spec.job.stack.experts.exchange_hidden = hidden;
    return c.run().step_end.back().in_seconds() * 1e6;
  };
  EXPECT_NEAR(forward_us(0), 1002 + 1000 + 1002, 1);
  EXPECT_NEAR(forward_us(1), 2 * 1002, 1) << "the second begins with the end of the computation";
  EXPECT_NEAR(forward_us(0.5), 502 + 1000 + 2 * 502, 1) << "one half of the first is hidden";
}

TEST(TensorChunks, each_chunk_reads_all_weights) {
  ComputeOp op = matmul_of_4_ms();
  op.n = 100;
  op.k = 10;
  op.hbm = {2000 + 8000};  // weights of 100 x 10 in 16 bits, and the rest
  EXPECT_EQ(chunk_of(op, 4).hbm, Bytes{2000 + 2000});
  EXPECT_EQ(chunk_of(op, 4).m, 1024);
}

// Two stages on two servers, one microbatch of 1 ms each way, 50 MB between them: 1000 + 2 us.
struct TwoStages : TwoServers {
  explicit TwoStages(double exposed) {
    program = testing::pipeline_program({{{"pipeline", 2}}}, PipelineSchedule::k1F1B, 2, 1, 1, 1, 1);
    layer().output = {50e6};
    spec.job.stack.send_exposed = exposed;
  }
};

TEST(SendExposed, the_sender_waits_for_its_share_and_the_receiver_for_all) {
  for (double exposed : {0.0, 1.0}) {
    const Timeline timeline = TwoStages(exposed).run();
    EXPECT_EQ(testing::computations(timeline, 1), (Spans{{2002, 3002}, {3002, 4002}})) << exposed;
  }
  const Timeline half = TwoStages(0.5).run();
  EXPECT_EQ(testing::computations(half, 0), (Spans{{0, 1000}, {5008, 6008}}));
  EXPECT_EQ(testing::computations(half, 1), (Spans{{2004, 3004}, {3004, 4004}}));
}

TEST(SendExposed, the_hidden_share_lets_the_next_microbatch_begin) {
  const auto second_forward = [](double exposed) {
    TwoStages c(exposed);
    c.program.microbatches = 2;
    return testing::computations(c.run(), 0)[1].begin_us;
  };
  EXPECT_EQ(second_forward(0), 1000);
  EXPECT_EQ(second_forward(0.5), 1502);
  EXPECT_EQ(second_forward(1), 2002);
}

}  // namespace
}  // namespace podsim::overlap_test
