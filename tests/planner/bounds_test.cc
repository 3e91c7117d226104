// Lower bounds of steps: none is above the simulated one, on every kind of chip.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "planner/bounds/lighter_stems.h"
#include "planner/bounds/lone_chips.h"
#include "planner/bounds/pass_runs.h"
#include "planner/bounds/pass_tables.h"
#include "planner/bounds/stem_bounds.h"
#include "prediction/evaluator.h"
#include "prediction/predict.h"
#include "tests/planner/layout_scenario.h"
#include "tests/rounds.h"

namespace podsim::bounds_test {
namespace {

using Kind = Instruction::Kind;

struct Case {
  int chips;  // the batch divides by them
  const char *cluster, *job, *space;
};

constexpr const char* kWide =
    "schedule: [gpipe, one_f_one_b, interleaved, shifting, zero_bubble_h1, zero_bubble_v, dualpipe] "
    "sharding: [ddp, zero1, zero2, fsdp, hsdp] recompute_layers: [0, 1] memory_headroom_fraction: 0";

// Chips of every kind of fabric: servers of 2 to 8, a rack, tori of two and three dimensions, slices.
constexpr Case kCases[] = {
    {32, "chip: \"h100\" chips: 32 fabric: \"dgx_h100\"",
     "model: \"llama3_8b\" model_override { layers: 4 } stack: \"megatron_bridge_2025\"", kWide},
    {16, "chip: \"h100\" chips: 16 fabric: \"dgx_h100\"",
     "model: \"mixtral_8x7b\" model_override { layers: 2 } stack: \"megatron_bridge_2025\"", kWide},
    {24, "chip: \"a100\" chips: 24 fabric: \"dgx_a100\"",
     "model: \"gpt3_5b\" model_override { layers: 4 } stack: \"megatron_2021\"", kWide},
    {16, "chip: \"v100\" chips: 16 fabric: \"v100_4gpu\"",
     "model: \"gpt3_5b\" model_override { layers: 4 } stack: \"megatron_2021\" precision: fp16", kWide},
    {36, "chip: \"gb200\" chips: 36 fabric: \"nvl72_gb200\"",
     "model: \"llama3_8b\" model_override { layers: 4 } stack: \"torchtitan\"", kWide},
    {8, "chip: \"l40s\" chips: 8 fabric: \"l40s_pcie\"",
     "model: \"llama3_8b\" model_override { layers: 4 } stack: \"generic_eager\"", kWide},
    {16, "chip: \"mi300x\" chips: 16 fabric: \"mi300x_mesh\"",
     "model: \"llama3_8b\" model_override { layers: 4 } stack: \"generic_megatron\"", kWide},
    {64, "chip: \"tpu_v5p\" fabric: \"v5p_pod\" slice_shape: [4, 4, 4]",
     "model: \"llama3_8b\" model_override { layers: 4 } stack: \"maxtext_2025\"",
     "sharding: [ddp, zero1, fsdp, hsdp]"},
    {32, "chip: \"tpu_v5e\" chips: 32 fabric: \"v5e_pod\"",
     "model: \"llama3_8b\" model_override { layers: 4 } stack: \"maxtext_2025\"",
     "sharding: [ddp, zero1, fsdp, hsdp]"},
    {32, "chip: \"tpu_v5p\" fabric: \"v5p_pod\" slice_shape: [2, 2, 2] slices: 4",
     "model: \"llama3_8b\" model_override { layers: 4 } stack: \"maxtext_2025\"",
     "sharding: [ddp, zero1, fsdp, hsdp]"},
};

// A step of the layout takes at least this long, by the passes of its stem, and by those of a lighter one.
std::map<const char*, Time> pass_bounds(const Space& space, const Fabric& fabric, const JobLayout& layout) {
  JobLayout stem = layout;
  stem.schedule = PipelineSchedule::k1F1B;
  stem.chunks = 1;
  MeshContexts contexts(fabric);
  PassTables tables(space, contexts);
  const LighterStems lighter(space);
  return {{"passes", rounded_down(tables.bound_s(stem, {layout}))},
          {"lighter", LighterTables(space, lighter, contexts).bound(stem, {layout})}};
}

TEST(Bounds, of_random_layouts_are_never_above_the_simulated_step) {
  std::mt19937 random(7);
  for (const Case& each : kCases) {
    const testing::LayoutQuestion asked = testing::layout_question(
        each.cluster,
        std::string(each.job) + " global_batch_sequences: " + std::to_string(3 * each.chips) +
            " microbatch_sequences: 1 sequence_tokens: 2048",
        each.space);
    const Space space(asked.question.spec, asked.question.space);
    const std::vector<JobLayout> all = testing::all_layouts(space);
    ASSERT_FALSE(all.empty()) << each.cluster;
    const Fabric fabric = build_fabric(asked.question.spec.cluster.fabric);
    for (int i = 0; i < testing::rounds(5, 5); ++i) {
      const JobLayout layout = all[random() % all.size()];
      const Spec spec = with_layout(asked.question.spec, layout);
      const MeshContext context(fabric, spec);
      const Report report = predict_step(spec, {}).report;
      const StemBounds bounds(spec, context);
      const double step = report.step_time.in_seconds();
      EXPECT_LE(rounded_down(bounds.stage_bound_s(layout)), report.step_time)
          << each.cluster << to_string(layout);
      EXPECT_LE(rounded_down(relaxed_bound_s(spec, context)), report.step_time)
          << each.cluster << to_string(layout);
      for (const auto& [level, bound] : pass_bounds(space, fabric, layout))
        EXPECT_LE(bound, report.step_time) << level << each.cluster << to_string(layout);
      EXPECT_LE(arithmetic_bound_s(spec), step) << each.cluster << to_string(layout);
      EXPECT_NEAR(bounds.memory(layout, false).value / (1024.0 * 1024 * 1024), report.memory.total,
                  1e-9 * report.memory.total)
          << each.cluster << to_string(layout);
      EXPECT_LE(bounds.memory(layout, true), bounds.memory(layout, false));
      EXPECT_LE(least_state(spec.job, layout, report.parameters), bounds.memory(layout, false));
    }
  }
}

// Stage 0 has embedding and head, whose gradients take longest to reduce when all is computed: the weight
// gradients of stage 1, for which it does not wait, do not come before that.
TEST(Bounds, of_schedules_that_split_backward_let_no_stage_wait_for_the_weight_gradients_of_another) {
  const testing::LayoutQuestion asked = testing::layout_question(
      "chip: \"a100\" chips: 8 fabric: \"dgx_a100\"",
      "model: \"llama3_8b\" model_override { layers: 2 } stack: \"megatron_2021\" global_batch_sequences: 32 "
      "microbatch_sequences: 1 sequence_tokens: 2048");
  JobLayout layout;
  layout.pipeline = 2;
  layout.data = 4;
  layout.recompute = Recompute::kFull;
  layout.schedule = PipelineSchedule::kZeroBubbleV;
  layout.chunks = 2;
  const Spec spec = with_layout(asked.question.spec, layout);
  const Fabric fabric = build_fabric(spec.cluster.fabric);
  const MeshContext context(fabric, spec);
  EXPECT_LE(rounded_down(StemBounds(spec, context).stage_bound_s(layout)),
            predict_step(spec, {}).report.step_time);
}

// Chunks of dualpipe and of zero_bubble_v are as many, and other layers are the first of each: a process that
// has simulated one of them may not take its pieces for those of the other.
TEST(Bounds, hold_of_layouts_that_recompute_some_layers_after_layouts_of_other_schedules) {
  const testing::LayoutQuestion asked = testing::layout_question(
      "chip: \"a100\" chips: 4 fabric: \"dgx_a100\"",
      "model: \"llama3_8b\" model_override { layers: 4 } stack: \"megatron_2021\" global_batch_sequences: 8 "
      "microbatch_sequences: 1 sequence_tokens: 2048");
  JobLayout layout;
  layout.pipeline = layout.context = layout.chunks = 2;
  layout.recompute = Recompute::kFull;
  layout.recompute_layers = 1;
  Evaluator evaluator;
  for (const auto schedule : {PipelineSchedule::kDualPipe, PipelineSchedule::kZeroBubbleV,
                              PipelineSchedule::kInterleaved, PipelineSchedule::kDualPipe}) {
    layout.schedule = schedule;
    const Spec spec = with_layout(asked.question.spec, layout);
    EXPECT_EQ(evaluator.predict(spec, {}).report.step_time, predict_step(spec, {}).report.step_time)
        << to_string(layout);
  }
}

// The layers that recompute are told apart by their place in the model, in pieces that the others do not
// have.
TEST(Bounds, of_jobs_that_recompute_every_second_layer_are_those_of_their_own_pieces) {
  const testing::LayoutQuestion asked = testing::layout_question(
      "chip: \"h100\" chips: 16 fabric: \"dgx_h100\"",
      "model: \"llama3_8b\" model_override { layers: 8 } stack: \"megatron_bridge_2025\" recompute: full "
      "recompute_every: 2 global_batch_sequences: 32 microbatch_sequences: 1 sequence_tokens: 2048",
      "tensor: [1, 2] context: [1, 2] pipeline: [1, 2, 4] sharding: [zero1, fsdp] recompute: full "
      "recompute_layers: [0, 1]");
  const Space space(asked.question.spec, asked.question.space);
  ASSERT_EQ(space.spec().job.recompute_every, 2);
  const Fabric fabric = build_fabric(asked.question.spec.cluster.fabric);
  std::vector<JobLayout> all = testing::all_layouts(space);
  std::mt19937 random(3);
  std::ranges::shuffle(all, random);
  all.resize(std::min<std::size_t>(all.size(), 24));
  ASSERT_EQ(all.size(), 24U);
  for (const JobLayout& layout : all) {
    const Spec spec = with_layout(asked.question.spec, layout);
    const MeshContext context(fabric, spec);
    const StemBounds bounds(spec, context);
    const Report report = predict_step(spec, {}).report;
    const double relaxed_s = relaxed_bound_s(spec, context);
    EXPECT_EQ(bounds.relaxed_bound_s(layout), relaxed_s) << to_string(layout);
    EXPECT_LE(rounded_down(relaxed_s), report.step_time) << to_string(layout);
    for (const auto& [level, bound] : pass_bounds(space, fabric, layout))
      EXPECT_LE(bound, report.step_time) << level << to_string(layout);
    EXPECT_NEAR(bounds.memory(layout, false).value / (1024.0 * 1024 * 1024), report.memory.total,
                1e-9 * report.memory.total)
        << to_string(layout);
  }
}

TEST(Bounds, of_passes_in_turns_count_every_run_of_the_schedule) {
  for (const int stages : {2, 4, 6, 8})
    for (const int microbatches : {2 * stages, 2 * stages + 2, 5 * stages + 6}) {
      const PipelineShape shape{PipelineSchedule::kDualPipe, stages, 2, microbatches};
      const auto runs = pass_runs(shape);
      for (int stage = 0; stage < stages; ++stage) {
        std::map<std::pair<PassOfChunk, std::optional<PassOfChunk>>, int> left;
        for (const PassRun& run : runs[static_cast<std::size_t>(stage)])
          left[{run.first, run.second}] = times(run, shape);
        const std::vector<PipelineTask> order = pipeline_order(shape, stage);
        for (std::size_t i = 0; i < order.size(); ++i) {
          std::optional<PassOfChunk> second;
          const PassOfChunk first{order[i].pass, order[i].chunk};
          if (order[i].with_next) ++i, second = {order[i].pass, order[i].chunk};
          --left[{first, second}];
        }
        for (const auto& [run, count] : left)
          EXPECT_EQ(count, 0) << stages << " stages, " << microbatches << " microbatches, stage " << stage;
      }
    }
}

// Collectives of 3 ms and computations of 2 ms: alone a pass takes 10 ms, and two in turns take 12, not 20.
TEST(Bounds, of_passes_in_turns_let_one_compute_while_the_other_waits) {
  const auto pass = [](Stream stream) {
    const LoneOp compute{Kind::kCompute, Stream::kActivation, 0, 0, 2e-3},
        send{Kind::kLaunch, stream, 0, 0, 3e-3}, wait{Kind::kWait, stream};
    return std::vector<LoneOp>{compute, send, wait, compute, send, wait};
  };
  StageTimes times;
  PieceSeconds& piece = times.pieces.emplace_back();
  piece.forward = pass(Stream::kActivation);
  piece.backward_beside = pass(Stream::kActivationBeside);
  EXPECT_DOUBLE_EQ(lone_seconds(piece.forward), 10e-3);
  StageShape shape;
  shape.pipeline = {PipelineSchedule::kDualPipe, 2, 2, 1004};
  shape.chunks.assign(2, std::vector<ChunkShape>(2, ChunkShape{{{0, 1}}}));
  shape.runs = pass_runs(shape.pipeline);
  // Nearly all passes of so many microbatches are in pairs.
  const double bound = stage_bound_s(Stack{}, times, shape);
  EXPECT_GT(bound, 0.98 * 1004 * 12e-3);
  EXPECT_LE(bound, 1004 * 12e-3);
}

// Of what is launched before a computation and waited for after it, nobody knows whether it is over by then.
TEST(Bounds, of_what_blocks_a_chip_count_what_it_waits_for_with_no_computation_between) {
  const LoneOp compute{Kind::kCompute, Stream::kActivation, 0, 0, 5e-3},
      send{Kind::kLaunch, Stream::kActivation, 0, 0, 3e-3}, wait{Kind::kWait, Stream::kActivation},
      reduce{Kind::kLaunch, Stream::kGradient, 0, 0, 4e-3}, wait_reduce{Kind::kWait, Stream::kGradient},
      all_but_one{Kind::kWait, Stream::kActivation, 0, 1},
      pause{Kind::kPause, Stream::kActivation, 0, 0, 2e-3};
  EXPECT_DOUBLE_EQ(blocked_seconds({compute, send, wait, compute}), 3e-3);
  EXPECT_DOUBLE_EQ(blocked_seconds({send, compute, wait}), 0);
  EXPECT_DOUBLE_EQ(blocked_seconds({send, compute, send, wait}), 3e-3);
  EXPECT_DOUBLE_EQ(blocked_seconds({send, send, all_but_one, compute, wait}), 3e-3);
  EXPECT_DOUBLE_EQ(blocked_seconds({send, reduce, wait, wait_reduce}), 4e-3);
  EXPECT_DOUBLE_EQ(blocked_seconds({pause, compute, send, pause, wait, wait}), 5e-3);
}

// Of computations of 10 ms forward and 20 ms back a step of four microbatches takes 120 ms; beside transfers
// of 120 ms it goes 1 / 1.25 as fast, so that 24 ms more are lost.
TEST(Bounds, of_computation_beside_transfers_count_what_these_take_from_it) {
  StageTimes times;
  PieceSeconds& piece = times.pieces.emplace_back();
  PieceSeconds::OfPass &forward = piece.of_pass[static_cast<int>(Pass::kForward)],
                       &backward = piece.of_pass[static_cast<int>(Pass::kBackward)];
  forward.chip = forward.compute = 10e-3;
  forward.weights = {3e-3, 10e-3};
  backward.chip = backward.compute = 20e-3;
  backward.activations = {0, 15e-3};
  backward.weights = {0, 5e-3};
  StageShape shape;
  shape.pipeline = {PipelineSchedule::k1F1B, 1, 1, 4};
  shape.chunks.assign(1, std::vector<ChunkShape>(1, ChunkShape{{{0, 1}}}));
  Stack stack;
  stack.interference = 0.25;
  EXPECT_NEAR(stage_bound_s(stack, times, shape), 0.120 + 0.2 * 0.120, 1e-12);
  // What the chip waits for anyway costs nothing beside: 40 ms of it leave 80.
  for (PieceSeconds::OfPass& pass : piece.of_pass) {
    pass.blocked = 5e-3;
    pass.chip = pass.compute + pass.blocked;
  }
  EXPECT_NEAR(stage_bound_s(stack, times, shape), 0.160 + 0.2 * 0.080, 1e-12);
  // Full links are a bound of their own.
  forward.weights.scale_out = 60e-3;
  EXPECT_NEAR(stage_bound_s(stack, times, shape), 4 * (60e-3 + 20e-3), 1e-12);
}

// Of a gather over two servers a chip sends half out of its NIC whatever the algorithm, and of one in a
// server seven eighths by NVLink, if its switches cannot copy.
TEST(Bounds, of_links_are_what_a_chip_sends_at_least) {
  const testing::LayoutQuestion asked = testing::layout_question(
      "chip: \"a100\" chips: 16 fabric: \"dgx_a100\"",
      "model: \"llama3_8b\" model_override { layers: 4 } stack: \"megatron_2021\" global_batch_sequences: 32 "
      "microbatch_sequences: 1 sequence_tokens: 2048");
  JobLayout layout;
  layout.data = 2;
  layout.tensor = 8;
  const Spec spec = with_layout(asked.question.spec, layout);
  const Fabric fabric = build_fabric(spec.cluster.fabric);
  const MeshContext context(fabric, spec);
  const auto bandwidth = [&](bool nic) {
    double sum = 0;
    for (const Link& link : fabric.out(0))
      sum += (link.kind == LinkKind::kNic) == nic ? link.bandwidth.value : 0;
    return sum;
  };
  const auto gather_of = [&](const char* axis) {
    return CollectiveCall{{axis_bit(spec.job.mesh.find(axis)), 0}, CollectiveKind::kAllGather, {8e9}};
  };
  const auto gather = [&](const char* axis) { return context.alone.link_seconds(gather_of(axis)); };
  const double share = spec.job.stack.network_share;
  EXPECT_GE(gather("data").scale_out, 4e9 / bandwidth(true) / share);
  EXPECT_LE(gather("data").scale_out, context.alone.seconds(gather_of("data")));
  EXPECT_EQ(gather("data").scale_up, 0);
  EXPECT_GE(gather("tensor").scale_up, 7e9 / bandwidth(false));
  EXPECT_LE(gather("tensor").scale_up, context.alone.seconds(gather_of("tensor")));
  EXPECT_EQ(gather("tensor").scale_out, 0);
}

// One stage without communication: nothing is left out, so the bound is the step.
TEST(Bounds, of_one_chip_is_the_step_itself) {
  const testing::LayoutQuestion asked =
      testing::layout_question("chip: \"h100\" chips: 1 fabric: \"dgx_h100\"",
                               "model: \"llama3_8b\" model_override { layers: 4 } stack: \"generic_eager\" "
                               "global_batch_sequences: 4 microbatch_sequences: 1 "
                               "sequence_tokens: 2048");
  const Spec& spec = asked.question.spec;
  const Fabric fabric = build_fabric(spec.cluster.fabric);
  const MeshContext context(fabric, spec);
  const double step = predict_step(spec, {}).report.step_time.in_seconds();
  EXPECT_NEAR(relaxed_bound_s(spec, context), step, 1e-9 * step);
}

TEST(Bounds, of_instructions_hold_streams_in_order_and_computation_at_full_speed) {
  const auto compute = [](double s) {
    return Instruction{Kind::kCompute, Stream::kActivation, Bucket::kCompute, -1, 0, Time::seconds(s)};
  };
  const auto launch = [](int message) {
    return Instruction{Kind::kLaunch, Stream::kGradient, Bucket::kCommunication, message, 0, {}};
  };
  const Instruction wait_for_all{Kind::kWait, Stream::kGradient, Bucket::kCommunication, -1, 0, {}};
  const Instruction wait_for_first{Kind::kWait, Stream::kGradient, Bucket::kCommunication, -1, 1, {}};
  const auto seconds = [](const std::vector<Instruction>& instructions, double skew) {
    return lone_seconds(lone_ops(instructions, {}, {3, 5}, skew));
  };
  EXPECT_DOUBLE_EQ(seconds({launch(0), launch(1), compute(2), wait_for_all}, 0), 8);
  EXPECT_DOUBLE_EQ(seconds({launch(0), launch(1), compute(2), wait_for_first}, 0), 3);
  EXPECT_DOUBLE_EQ(seconds({compute(2), launch(0), compute(10), wait_for_all}, 0.5), 18);
}

}  // namespace
}  // namespace podsim::bounds_test
