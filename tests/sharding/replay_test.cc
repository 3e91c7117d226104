// The replay itself: what a step may do, and what it may not.
#include "tests/sharding/replay.h"

#include <gtest/gtest.h>

namespace podsim::testing::replay_test {
namespace {

const Mesh kMesh{{{"x", 2}, {"y", 4}, {"z", 2}}};
const AxisRef kX{0, 1, 2}, kY{1, 1, 4}, kZ{2, 1, 2};

Layout layout(AxisList rows, AxisList columns, AxisList unreduced = {}) {
  return {{std::move(rows), std::move(columns)}, std::move(unreduced)};
}

bool allowed(StepKind kind, AxisList axes, const Layout& before, const Layout& after) {
  const PlanStep step{.kind = kind, .axes = std::move(axes), .after = after};
  const bool by_axes = judge_axes(kMesh, before, step).empty();
  const bool by_devices = judge_devices(kMesh, before, step).empty();
  EXPECT_TRUE(by_devices || !by_axes) << "the axes fit, the blocks of devices do not";
  return by_axes;
}

TEST(ReplaySlice, appends_unused_axes) {
  EXPECT_TRUE(allowed(StepKind::kSlice, {kY}, layout({kX}, {}), layout({kX, kY}, {})));
  EXPECT_FALSE(allowed(StepKind::kSlice, {kY}, layout({kX}, {}), layout({kY, kX}, {})));
  EXPECT_FALSE(allowed(StepKind::kSlice, {kX}, layout({kX}, {}), layout({}, {kX})));
}

TEST(ReplaySlice, makes_partial_sums_of_unused_and_of_trailing_axes) {
  EXPECT_TRUE(allowed(StepKind::kSlice, {kY}, layout({kX}, {}), layout({kX}, {}, {kY})));
  EXPECT_TRUE(allowed(StepKind::kSlice, {kY}, layout({kX, kY}, {}), layout({kX}, {}, {kY})));
  EXPECT_FALSE(allowed(StepKind::kSlice, {kX}, layout({kX, kY}, {}), layout({kY}, {}, {kX})));
  EXPECT_FALSE(allowed(StepKind::kSlice, {kY}, layout({}, {}, {kY}), layout({kY}, {})));
}

TEST(ReplayAllGather, removes_trailing_axes_that_it_names) {
  EXPECT_TRUE(allowed(StepKind::kAllGather, {kY, kZ}, layout({kX, kY}, {kZ}), layout({kX}, {})));
  EXPECT_TRUE(allowed(StepKind::kAllGather, {{1, 2, 2}}, layout({kX, kY}, {}), layout({kX, {1, 1, 2}}, {})));
  EXPECT_FALSE(allowed(StepKind::kAllGather, {kX}, layout({kX, kY}, {}), layout({kY}, {})));
  EXPECT_FALSE(allowed(StepKind::kAllGather, {kX}, layout({kX, kY}, {}), layout({kX}, {})));
}

TEST(ReplayAllToAll, moves_trailing_axes_to_the_end_of_other_dimensions) {
  EXPECT_TRUE(allowed(StepKind::kAllToAll, {kY}, layout({kX, kY}, {kZ}), layout({kX}, {kZ, kY})));
  EXPECT_TRUE(allowed(StepKind::kAllToAll, {kX, kY}, layout({kX, kY}, {}), layout({}, {kY, kX})));
  EXPECT_FALSE(allowed(StepKind::kAllToAll, {kX}, layout({kX, kY}, {}), layout({kY}, {kX})));
  EXPECT_FALSE(allowed(StepKind::kAllToAll, {kX, kZ}, layout({kX}, {kZ}), layout({kZ}, {kX})));
}

TEST(ReplayPermute, keeps_the_shards_of_every_dimension_and_the_partial_sums) {
  EXPECT_TRUE(allowed(StepKind::kPermute, {}, layout({kX, kY}, {}), layout({kY, kX}, {})));
  EXPECT_TRUE(allowed(StepKind::kPermute, {}, layout({kX}, {}), layout({kZ}, {})));
  EXPECT_TRUE(allowed(StepKind::kPermute, {}, layout({kX}, {}, {kZ}), layout({kZ}, {}, {kX})));
  EXPECT_FALSE(allowed(StepKind::kPermute, {}, layout({kX}, {}), layout({}, {kX})));
}

TEST(ReplayReduction, partial_sums_become_shards_or_go) {
  EXPECT_TRUE(allowed(StepKind::kReduceScatter, {kY}, layout({kX}, {}, {kY}), layout({kX}, {kY})));
  EXPECT_TRUE(allowed(StepKind::kAllReduce, {kY}, layout({kX}, {}, {kY, kZ}), layout({kX}, {}, {kZ})));
  EXPECT_FALSE(allowed(StepKind::kReduceScatter, {kY}, layout({kX}, {}, {kY}), layout({kY, kX}, {})));
  EXPECT_FALSE(allowed(StepKind::kAllReduce, {kY}, layout({kX}, {}), layout({kX}, {})));
}

TEST(ReplayDevices, see_an_all_to_all_whose_parts_are_not_equal) {
  const PlanStep step{.kind = StepKind::kAllToAll, .axes = {kX, kZ}, .after = layout({kZ}, {kX})};
  EXPECT_FALSE(judge_devices(kMesh, layout({kX}, {kZ}), step).empty());
}

TEST(ReplayDevices, see_a_gather_of_a_major_axis) {
  const PlanStep step{.kind = StepKind::kAllGather, .axes = {kX}, .after = layout({kY}, {})};
  EXPECT_FALSE(judge_devices(kMesh, layout({kX, kY}, {}), step).empty());
}

TEST(Replay, recomputes_bytes_and_compares_the_end) {
  const TensorShape shape{{{"", {{64}}}, {"", {{32}}}}, 2};
  PlanStep step{.kind = StepKind::kAllGather, .axes = {kY}, .from_dims = {0}, .after = layout({}, {})};
  step.operand = Bytes{1024};
  step.result = Bytes{4096};
  step.sent = Bytes{3072};
  const ReshardProblem problem{kMesh, shape, layout({kY}, {}), layout({}, {})};
  EXPECT_TRUE(check(problem, {step}).empty());
  step.sent = Bytes{1024};
  EXPECT_FALSE(check(problem, {step}).empty());
  EXPECT_FALSE(check(problem, {}).empty());
}

OpRule matmul() {
  OpRule rule;
  rule.factors = {{64}, {32, FactorKind::kReduction}, {16}};
  rule.operands = {{{0}, {1}}, {{1}, {2}}};
  rule.results = {{{0}, {2}}};
  return rule;
}

TEST(ReplayComputation, operands_agree_per_factor_and_cut_contractions_leave_partial_sums) {
  const Computation done =
      check_compute(kMesh, matmul(), {layout({kX}, {kY}), layout({kY}, {})}, {layout({kX}, {}, {kY})});
  EXPECT_TRUE(done.faults.empty()) << done.faults.at(0);
  EXPECT_DOUBLE_EQ(done.flops, 2 * 32 * 8 * 16);
  EXPECT_FALSE(check_compute(kMesh, matmul(), {layout({kX}, {kY}), layout({}, {})}, {layout({kX}, {}, {kY})})
                   .faults.empty());
  EXPECT_FALSE(check_compute(kMesh, matmul(), {layout({kX}, {}), layout({}, {kX})}, {layout({kX}, {kX})})
                   .faults.empty());
  EXPECT_FALSE(check_compute(kMesh, matmul(), {layout({kX}, {kY}), layout({kY}, {})}, {layout({kX}, {})})
                   .faults.empty());
}

TEST(ReplayComputation, a_minor_factor_is_cut_only_behind_whole_cuts_of_the_major_ones) {
  OpRule rule;
  rule.factors = {{2}, {32}};
  rule.operands = {{{0, 1}}};
  rule.results = {{{0}, {1}}};
  EXPECT_TRUE(check_compute(kMesh, rule, {Layout{{{kX, kY}}, {}}}, {layout({kX}, {kY})}).faults.empty());
  EXPECT_TRUE(
      check_compute(kMesh, rule, {Layout{{{kY}}, {}}}, {layout({{1, 1, 2}}, {{1, 2, 2}})}).faults.empty());
  EXPECT_FALSE(check_compute(kMesh, rule, {Layout{{{kY}}, {}}}, {layout({}, {kY})}).faults.empty());
}

}  // namespace
}  // namespace podsim::testing::replay_test
