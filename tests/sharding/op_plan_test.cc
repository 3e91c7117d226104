// How operations are cut: each plan replayed; byte figures are what one device sends.
#include "workload/op_planning/op_plan.h"

#include <gtest/gtest.h>

#include "tests/sharding/replay.h"

namespace podsim::testing::op_plan_test {
namespace {

using Dims = std::vector<std::int64_t>;

TensorShape tensor(const Dims& dims, double element_bytes) {
  TensorShape shape{.dims = {}, .element_bytes = element_bytes};
  for (const std::int64_t size : dims) shape.dims.push_back({"", {{size}}});
  return shape;
}

// "ik,kj->ij" by its parts, sizes in the order of the letters.
OpProblem einsum(const std::string& lhs, const std::string& rhs, const std::string& out,
                 const std::string& letters, const Dims& sizes, const Layout& of_lhs, const Layout& of_rhs,
                 std::optional<Layout> of_out, double element_bytes = 4) {
  const auto dims = [&](const std::string& tensor_letters) {
    Dims result;
    for (const char letter : tensor_letters) result.push_back(sizes[letters.find(letter)]);
    return result;
  };
  OpProblem problem{.rule = einsum_rule({lhs, rhs}, {out}, {dims(lhs), dims(rhs)}, {dims(out)}),
                    .operands = {},
                    .results = {}};
  problem.operands = {{.shape = tensor(dims(lhs), element_bytes), .available = {of_lhs}},
                      {.shape = tensor(dims(rhs), element_bytes), .available = {of_rhs}}};
  problem.results = {{.shape = tensor(dims(out), element_bytes), .wanted = std::move(of_out)}};
  return problem;
}

OpPlan plan(const Mesh& mesh, const OpProblem& problem, const CostModel& cost = SentBytes()) {
  OpPlan planned = plan_op(mesh, problem, cost);
  for (const std::string& fault : check(mesh, problem, planned, cost)) ADD_FAILURE() << fault;
  return planned;
}

const Mesh k8{{{"x", 8}}};
const Mesh k22{{{"x", 2}, {"y", 2}}};
const Mesh kTp{{{"data", 4}, {"model", 8}}};
const AxisList kX8{{0, 1, 8}}, kX{{0, 1, 2}}, kY{{1, 1, 2}}, kData{{0, 1, 4}}, kModel{{1, 1, 8}};

TEST(OpPlan, aligned_operands_need_no_communication) {
  const OpPlan planned = plan(kTp, einsum("bm", "mf", "bf", "bmf", {4096, 8192, 28672}, {{kData, {}}, {}},
                                          {{{}, kModel}, {}}, Layout{{kData, kModel}, {}}, 2));
  EXPECT_EQ(planned.cost.value, 0);
  EXPECT_DOUBLE_EQ(planned.flops, 2.0 * 1024 * 8192 * 3584);
}

TEST(OpPlan, a_partial_result_is_scattered_where_it_is_wanted_in_shards) {
  const OpPlan planned = plan(kTp, einsum("bf", "fm", "bm", "bmf", {4096, 8192, 28672}, {{kData, kModel}, {}},
                                          {{kModel, {}}, {}}, Layout{{kData, kModel}, {}}, 2));
  ASSERT_EQ(planned.result_steps[0].size(), 1u);
  EXPECT_EQ(planned.result_steps[0][0].kind, StepKind::kReduceScatter);
  EXPECT_DOUBLE_EQ(planned.cost.bytes, 14680064);
}

// einsum-gen-5: moving both operands and gathering the result beats the all-reduce of a compiler.
TEST(OpPlan, a_weight_gradient_may_be_cheaper_to_gather_than_to_reduce) {
  const OpPlan planned = plan(kTp, einsum("bm", "bf", "mf", "bmf", {4096, 8192, 28672}, {{kData, {}}, {}},
                                          {{kData, kModel}, {}}, Layout{{{}, kModel}, {}}, 2));
  EXPECT_DOUBLE_EQ(planned.cost.bytes, 78643200);
}

// xla-TiledDot: half of what an all-reduce of the result and its operands would take is not needed.
TEST(OpPlan, operands_move_to_a_free_dimension_where_the_result_is_large) {
  const Mesh mesh{{{"x", 2}}};
  const OpPlan planned = plan(mesh, einsum("ik", "kj", "ij", "ikj", {128, 64, 256}, {{{}, kX}, {}},
                                           {{kX, {}}, {}}, Layout{{{}, {}}, {}}));
  EXPECT_DOUBLE_EQ(planned.cost.bytes, 98304);
}

// A compiler that counts elements gathers all of the second operand here, 117 MB.
TEST(OpPlan, bytes_sent_decide_and_not_elements) {
  const OpProblem problem = einsum("mk", "kn", "mn", "mkn", {1024, 65536, 1024}, {{kX8, {}}, {}},
                                   {{kX8, {}}, {}}, Layout{{kX8, {}}, {}}, 2);
  const OpPlan planned = plan(k8, problem);
  EXPECT_EQ(common_axes(k8, problem), (std::vector<AxisList>{kX8, {}, {}}));
  EXPECT_EQ(planned.factors, (std::vector<AxisList>{{}, kX8, {}}));
  EXPECT_DOUBLE_EQ(planned.cost.bytes, 1024 * 65536 * 2 / 8 * 7 / 8 + 1024 * 1024 * 2 * 7 / 8);
}

TEST(OpPlan, without_a_fabric_no_plan_computes_more_than_a_compiler_that_counts_elements) {
  // Computing everything everywhere would send nothing.
  const OpProblem problem =
      einsum("ik", "kj", "ij", "ikj", {64, 64, 64}, {{{}, {}}, {}}, {{{}, {}}, {}}, Layout{{kX8, {}}, {}});
  EXPECT_DOUBLE_EQ(plan(k8, problem).flops, 2.0 * 8 * 64 * 64);
}

TEST(OpPlan, a_result_nobody_wants_stays_a_partial_sum) {
  const OpPlan planned =
      plan(k8, einsum("ik", "kj", "ij", "ikj", {64, 64, 64}, {{{}, kX8}, {}}, {{kX8, {}}, {}}, std::nullopt));
  EXPECT_EQ(planned.kept[0].unreduced, kX8);
  EXPECT_EQ(planned.cost.bytes, 0);
}

TEST(OpPlan, sums_of_a_gradient_wait_where_they_may) {
  OpProblem problem =
      einsum("bi", "bo", "io", "bio", {64, 64, 64}, {{kX, {}}, {}}, {{kX, kY}, {}}, Layout{{{}, kY}, {}});
  EXPECT_GT(plan(k22, problem).cost.bytes, 0);
  problem.results[0].partial_allowed = true;
  const OpPlan waiting = plan(k22, problem);
  EXPECT_EQ(waiting.cost.bytes, 0);
  EXPECT_EQ(waiting.kept[0].unreduced, kX);
}

TEST(OpPlan, what_must_be_whole_is_gathered) {
  OpProblem problem{.rule = whole_dim_rule({64, 32}, {1}, 1), .operands = {}, .results = {}};
  problem.flops_per_point = 0;
  problem.operands = {{.shape = tensor({64, 32}, 4), .available = {{{{}, kX8}, {}}}}};
  problem.results = {{.shape = tensor({64, 32}, 4), .wanted = Layout{{{}, {}}, {}}}};
  const OpPlan planned = plan(k8, problem);
  EXPECT_TRUE(planned.factors[1].empty());
  EXPECT_DOUBLE_EQ(planned.cost.bytes, 64 * 32 * 4 * 7.0 / 8);
}

TEST(OpPlan, the_cheapest_available_layout_is_taken) {
  OpProblem problem =
      einsum("ik", "kj", "ij", "ikj", {64, 64, 64}, {{{}, kX8}, {}}, {{{}, {}}, {}}, Layout{{kX8, {}}, {}});
  problem.operands[0].available.push_back({{kX8, {}}, {}});
  EXPECT_EQ(plan(k8, problem).cost.bytes, 0);
}

TEST(OpPlan, linear_operations_carry_partial_sums) {
  OpProblem problem{.rule = elementwise_rule({64, 32}, 2), .operands = {}, .results = {}, .carried = kX8};
  const Layout partial{{{}, {}}, kX8};
  for (int i = 0; i < 2; ++i)
    problem.operands.push_back({.shape = tensor({64, 32}, 4), .available = {partial}});
  problem.results = {{.shape = tensor({64, 32}, 4), .wanted = std::nullopt}};
  const OpPlan planned = plan(k8, problem);
  EXPECT_EQ(planned.cost.bytes, 0);
  EXPECT_EQ(planned.kept[0], partial);
}

TEST(OpPlan, statistics_of_a_cut_dimension_are_reduced_on_the_way) {
  OpProblem problem{.rule = elementwise_rule({64, 32}, 1), .operands = {}, .results = {}};
  problem.rule.statistics = {{.factor = 1, .count = 2}};
  problem.operands = {{.shape = tensor({64, 32}, 2), .available = {{{{}, kX8}, {}}}}};
  problem.results = {{.shape = tensor({64, 32}, 2), .wanted = Layout{{{}, kX8}, {}}}};
  const OpPlan planned = plan(k8, problem);
  ASSERT_EQ(planned.statistics.size(), 1u);
  EXPECT_DOUBLE_EQ(planned.cost.bytes, 2 * 2 * (64 * 4) * 7.0 / 8);
}

TEST(OpPlan, merged_dimensions_are_cut_by_their_major_factor) {
  OpProblem problem{.rule = reshape_rule({16, 4, 32}, {64, 32}), .operands = {}, .results = {}};
  problem.operands = {{.shape = tensor({16, 4, 32}, 4), .available = {{{kX8, {}, {}}, {}}}}};
  problem.results = {{.shape = tensor({64, 32}, 4), .wanted = Layout{{kX8, {}}, {}}}};
  EXPECT_EQ(plan(k8, problem).cost.bytes, 0);
}

// A second for a gigabyte, a second for a teraflop.
class Seconds : public CostModel {
 public:
  double collective(CollectiveKind kind, const AxisList& axes, Bytes bytes) const override {
    return sent_bytes(kind, shard_count(axes), bytes).value * 1e-9;
  }
  double compute(Flops flops) const override { return flops.value * 1e-12; }
  bool timed() const override { return true; }
  double at_least(Bytes received) const override { return received.value * 1e-9; }
};

TEST(OpPlan, hidden_collectives_run_beside_the_computation) {
  OpProblem problem = einsum("ik", "kj", "ij", "ikj", {65536, 4096, 4096}, {{kX8, {}}, {}}, {{kX8, {}}, {}},
                             Layout{{kX8, {}}, {}}, 2);
  problem.operands[1].repeats = 2;
  const OpPlan exposed = plan(k8, problem, Seconds());
  problem.operands[1].hidden = true;
  const OpPlan hidden = plan(k8, problem, Seconds());
  const double gathers = 2 * 4096.0 * 4096 * 2 * 7 / 8 * 1e-9, compute = 2.0 * 4096 * 4096 * 8192 * 1e-12;
  EXPECT_NEAR(exposed.cost.value, gathers + compute, 1e-12);
  EXPECT_NEAR(hidden.cost.value, std::max(gathers, compute), 1e-12);
}

// A reduction takes long, however little it carries.
class LateReductions : public CostModel {
 public:
  double collective(CollectiveKind kind, const AxisList& axes, Bytes bytes) const override {
    const bool reduces = kind == CollectiveKind::kReduceScatter || kind == CollectiveKind::kAllReduce;
    return (reduces ? 1 : 0) + sent_bytes(kind, shard_count(axes), bytes).value * 1e-9;
  }
  double compute(Flops) const override { return 0; }
  bool timed() const override { return true; }
};

// The gradient of a norm's weight: alone its sum is dearer than an exchange of both operands.
TEST(OpPlan, a_tensor_that_shares_a_message_costs_its_bytes_alone) {
  OpProblem problem =
      einsum("bm", "bm", "m", "bm", {4096, 4096}, {{kX8, {}}, {}}, {{kX8, {}}, {}}, Layout{{kX8}, {}}, 2);
  const OpPlan alone = plan(k8, problem, LateReductions());
  EXPECT_EQ(alone.factors[1], kX8);
  problem.results[0].shared_along = kX8;
  const OpPlan shared = plan(k8, problem, LateReductions());
  EXPECT_EQ(shared.factors[0], kX8);
  ASSERT_EQ(shared.result_steps[0].size(), 1u);
  EXPECT_EQ(shared.result_steps[0][0].kind, StepKind::kReduceScatter);
  EXPECT_NEAR(shared.cost.value, 2 * 4096 * 7 / 8 * 1e-9, 1e-15);
}

TEST(OpPlan, a_shared_message_costs_no_more_than_one_of_its_own_and_an_all_reduce_what_its_halves_do) {
  const LateReductions alone;
  const SharedMessages shared(alone, kX8);
  for (const double bytes : {0.0, 1.0, 1e6}) {
    const auto scatter = shared.collective(CollectiveKind::kReduceScatter, kX8, Bytes{bytes});
    const auto gather = shared.collective(CollectiveKind::kAllGather, kX8, Bytes{bytes});
    EXPECT_LE(scatter, alone.collective(CollectiveKind::kReduceScatter, kX8, Bytes{bytes}));
    EXPECT_LE(gather, alone.collective(CollectiveKind::kAllGather, kX8, Bytes{bytes}));
    EXPECT_EQ(shared.collective(CollectiveKind::kAllReduce, kX8, Bytes{bytes}), scatter + gather);
    EXPECT_EQ(shared.collective(CollectiveKind::kAllToAll, kX8, Bytes{bytes}),
              alone.collective(CollectiveKind::kAllToAll, kX8, Bytes{bytes}));
  }
}

TEST(OpPlan, alternatives_are_those_that_lost_cheapest_first) {
  OpProblem problem =
      einsum("ik", "kj", "ij", "ikj", {64, 64, 64}, {{{}, kX}, {}}, {{kX, kY}, {}}, Layout{{{}, kY}, {}});
  problem.keep_alternatives = 3;
  const OpPlan planned = plan(k22, problem, Seconds());
  ASSERT_EQ(planned.alternatives.size(), 3u);
  EXPECT_GE(planned.alternatives[0].cost.value, planned.cost.value);
  EXPECT_GE(planned.alternatives[1].cost.value, planned.alternatives[0].cost.value);
  EXPECT_GE(planned.alternatives[2].cost.value, planned.alternatives[1].cost.value);
}

TEST(OpPlan, a_cut_that_cannot_be_prepared_is_not_taken) {
  OpProblem problem =
      einsum("ik", "kj", "ij", "ikj", {64, 64, 64}, {{{}, {}}, {}}, {{{}, {}}, {}}, Layout{{kX8, {}}, {}});
  problem.prepare = [](std::size_t, const std::vector<AxisList>& factors,
                       const Layout&) -> std::optional<std::vector<PlanStep>> {
    if (!factors[0].empty()) return std::nullopt;
    return std::vector<PlanStep>{};
  };
  EXPECT_TRUE(plan(k8, problem).factors[0].empty());
}

}  // namespace
}  // namespace podsim::testing::op_plan_test
