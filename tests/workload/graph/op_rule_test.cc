// Factor rules: which dimensions of an operation's tensors are cut alike, and what cutting them means.
#include "workload/graph/op_rule.h"

#include <gtest/gtest.h>

namespace podsim::testing::op_rule_test {
namespace {

constexpr auto kPass = FactorKind::kPassThrough;
constexpr auto kSum = FactorKind::kReduction;
constexpr auto kHalo = FactorKind::kPermutation;
constexpr auto kWhole = FactorKind::kNeedReplication;

std::vector<std::int64_t> sizes(const OpRule& rule) {
  std::vector<std::int64_t> result;
  for (const Factor& factor : rule.factors) result.push_back(factor.size);
  return result;
}

std::vector<FactorKind> kinds(const OpRule& rule) {
  std::vector<FactorKind> result;
  for (const Factor& factor : rule.factors) result.push_back(factor.kind);
  return result;
}

using Sizes = std::vector<std::int64_t>;
using Kinds = std::vector<FactorKind>;

TEST(OpRule, letters_missing_in_the_result_of_an_einsum_are_reductions) {
  const OpRule rule = einsum_rule({"bik", "bkj"}, {"bij"}, {{2, 8, 4}, {2, 4, 16}}, {{2, 8, 16}});
  EXPECT_EQ(sizes(rule), (Sizes{2, 8, 4, 16}));
  EXPECT_EQ(kinds(rule), (Kinds{kPass, kPass, kSum, kPass}));
  EXPECT_EQ(rule.operands[1], (FactorMap{{0}, {2}, {3}}));
  EXPECT_EQ(rule.results[0], (FactorMap{{0}, {1}, {3}}));
  EXPECT_EQ(rule.rule_class, RuleClass::kGeneral);
}

TEST(OpRule, elementwise_tensors_share_every_factor) {
  const OpRule rule = elementwise_rule({8, 4}, 3);
  ASSERT_EQ(rule.operands.size(), 3u);
  for (const FactorMap& operand : rule.operands) EXPECT_EQ(operand, rule.results[0]);
  EXPECT_TRUE(rule.elementwise);
  EXPECT_EQ(rule.rule_class, RuleClass::kElementwise);
}

TEST(OpRule, a_transpose_permutes_factors) {
  const OpRule rule = transpose_rule({2, 3, 5}, {2, 0, 1});
  EXPECT_EQ(rule.results[0], (FactorMap{{2}, {0}, {1}}));
  EXPECT_EQ(sizes(rule), (Sizes{2, 3, 5}));
}

TEST(OpRule, a_reshape_merges_dimensions_into_a_product) {
  const OpRule rule = reshape_rule({2, 4}, {8});
  EXPECT_EQ(sizes(rule), (Sizes{2, 4}));
  EXPECT_EQ(rule.operands[0], (FactorMap{{0}, {1}}));
  EXPECT_EQ(rule.results[0], (FactorMap{{0, 1}}));
}

TEST(OpRule, a_reshape_splits_and_merges_at_common_divisors) {
  const OpRule rule = reshape_rule({8, 3}, {2, 12});
  EXPECT_EQ(sizes(rule), (Sizes{2, 4, 3}));
  EXPECT_EQ(rule.operands[0], (FactorMap{{0, 1}, {2}}));
  EXPECT_EQ(rule.results[0], (FactorMap{{0}, {1, 2}}));
  EXPECT_EQ(kinds(rule), (Kinds{kPass, kPass, kPass}));
}

TEST(OpRule, dimensions_of_one_index_in_a_reshape_are_never_cut) {
  const OpRule rule = reshape_rule({1, 6, 1}, {6, 1});
  EXPECT_EQ(rule.operands[0], (FactorMap{{}, {0}, {}}));
  EXPECT_EQ(rule.results[0], (FactorMap{{0}, {}}));
}

TEST(OpRule, dimensions_without_a_common_divisor_have_factors_of_their_own_until_both_sides_align) {
  const OpRule rule = reshape_rule({2, 3, 4, 5}, {2, 4, 3, 5});
  EXPECT_EQ(rule.operands[0], (FactorMap{{0}, {1}, {3}, {5}}));
  EXPECT_EQ(rule.results[0], (FactorMap{{0}, {2}, {4}, {5}}));
  EXPECT_EQ(kinds(rule), (Kinds{kPass, kWhole, kWhole, kWhole, kWhole, kPass}));
}

TEST(OpRule, each_dimension_of_a_reshape_is_the_product_of_its_factors) {
  const std::vector<std::pair<Sizes, Sizes>> shapes = {
      {{12, 35}, {20, 21}}, {{64, 12, 128}, {64, 1536}}, {{6, 35}, {10, 21}}, {{7, 4}, {2, 14}}};
  for (const auto& [in, out] : shapes) {
    const OpRule rule = reshape_rule(in, out);
    const auto check = [&](const Sizes& dims, const FactorMap& map) {
      for (std::size_t i = 0; i < dims.size(); ++i) {
        std::int64_t product = 1;
        for (int factor : map[i]) product *= rule.factors[static_cast<std::size_t>(factor)].size;
        EXPECT_EQ(product, dims[i]);
      }
    };
    check(in, rule.operands[0]);
    check(out, rule.results[0]);
  }
}

TEST(OpRule, new_and_expanded_dimensions_of_a_broadcast_are_of_the_result_only) {
  const OpRule rule = broadcast_rule({4, 1}, {2, 4, 8}, {1, 2});
  EXPECT_EQ(rule.operands[0], (FactorMap{{1}, {}}));
  EXPECT_EQ(rule.results[0], (FactorMap{{0}, {1}, {2}}));
  EXPECT_EQ(rule.rule_class, RuleClass::kBroadcast);
}

TEST(OpRule, reduced_dimensions_are_reductions) {
  const OpRule rule = reduce_rule({2, 3, 5}, {1});
  EXPECT_EQ(kinds(rule), (Kinds{kPass, kSum, kPass}));
  EXPECT_EQ(rule.results[0], (FactorMap{{0}, {2}}));
}

TEST(OpRule, a_concatenated_dimension_must_be_whole) {
  const OpRule rule = concatenate_rule({{14, 257}, {14, 116}}, 1);
  EXPECT_EQ(sizes(rule), (Sizes{14, 373}));
  EXPECT_EQ(kinds(rule), (Kinds{kPass, kWhole}));
  EXPECT_EQ(rule.operands[0], rule.operands[1]);
}

TEST(OpRule, changed_dimensions_of_a_shift_move_data_between_neighbours) {
  const OpRule rule = shift_rule({14, 257}, {14, 259}, {false, true});
  EXPECT_EQ(kinds(rule), (Kinds{kPass, kHalo}));
  EXPECT_EQ(sizes(rule), (Sizes{14, 259}));
}

TEST(OpRule, a_dynamically_sliced_dimension_is_whole_and_nothing_passes_along_it) {
  const OpRule rule = dynamic_slice_rule({32, 128}, {32, 1});
  EXPECT_EQ(kinds(rule), (Kinds{kPass, kWhole}));
  EXPECT_FALSE(rule.factors[0].blocked);
  EXPECT_TRUE(rule.factors[1].blocked);
  EXPECT_EQ(rule.rule_class, RuleClass::kSliceForward);
}

TEST(OpRule, an_update_is_whole_where_it_is_smaller_and_its_target_keeps_its_factors) {
  const OpRule rule = dynamic_update_slice_rule({32, 128}, {32, 1});
  EXPECT_EQ(rule.operands[0], rule.results[0]);
  EXPECT_EQ(rule.operands[1], (FactorMap{{0}, {2}}));
  EXPECT_EQ(kinds(rule), (Kinds{kPass, kPass, kWhole}));
}

TEST(OpRule, looked_up_rows_are_a_reduction) {
  const OpRule rule = gather_rule({1000, 64}, {8, 32});
  EXPECT_EQ(kinds(rule), (Kinds{kSum, kPass, kPass, kPass}));
  EXPECT_EQ(rule.operands[1], (FactorMap{{2}, {3}}));
  EXPECT_EQ(rule.results[0], (FactorMap{{2}, {3}, {1}}));
}

TEST(OpRule, a_scatter_that_adds_sums_over_its_indices_and_any_other_needs_them_all) {
  EXPECT_EQ(kinds(scatter_rule({1000, 64}, {8}, true)), (Kinds{kPass, kPass, kSum}));
  EXPECT_EQ(kinds(scatter_rule({1000, 64}, {8}, false)), (Kinds{kPass, kPass, kWhole}));
  EXPECT_EQ(scatter_rule({1000, 64}, {8}, true).operands[2], (FactorMap{{2}, {1}}));
}

TEST(OpRule, a_sorted_dimension_is_whole) {
  const OpRule rule = whole_dim_rule({8, 100}, {1}, 2);
  EXPECT_EQ(kinds(rule), (Kinds{kPass, kWhole}));
  EXPECT_EQ(rule.results.size(), 2u);
}

ConvolutionShape image_convolution(Sizes lhs, Sizes rhs, Sizes out) {
  return {.lhs = std::move(lhs),
          .rhs = std::move(rhs),
          .out = std::move(out),
          .lhs_batch = 0,
          .lhs_feature = 3,
          .rhs_in = 2,
          .rhs_out = 3,
          .out_batch = 0,
          .out_feature = 3,
          .lhs_spatial = {1, 2},
          .rhs_spatial = {0, 1},
          .out_spatial = {1, 2},
          .windows = {{.size = 7, .stride = 2, .pad_low = 3, .pad_high = 3},
                      {.size = 7, .stride = 2, .pad_low = 3, .pad_high = 3}}};
}

TEST(OpRule, a_convolution_sums_over_features_and_window_and_moves_positions) {
  const OpRule rule =
      convolution_rule(image_convolution({128, 224, 224, 3}, {7, 7, 3, 64}, {128, 112, 112, 64}));
  EXPECT_EQ(sizes(rule), (Sizes{128, 64, 3, 112, 7, 112, 7}));
  EXPECT_EQ(kinds(rule), (Kinds{kPass, kPass, kSum, kHalo, kSum, kHalo, kSum}));
  EXPECT_EQ(rule.operands[0], (FactorMap{{0}, {3, 4}, {5, 6}, {2}}));
  EXPECT_EQ(rule.operands[1], (FactorMap{{4}, {6}, {2}, {1}}));
  EXPECT_EQ(rule.results[0], (FactorMap{{0}, {3}, {5}, {1}}));
  EXPECT_EQ(rule.windows[1].factor, 5);
  EXPECT_EQ(rule.windows[1].dim, 2);
  EXPECT_EQ(rule.windows[1].input, 224);
  EXPECT_EQ(rule.windows[1].pad_low, 3);
}

TEST(OpRule, feature_groups_lead_the_features_of_image_filter_and_output) {
  ConvolutionShape shape = image_convolution({8, 16, 16, 32}, {7, 7, 8, 64}, {8, 16, 16, 64});
  shape.feature_groups = 4;
  const OpRule rule = convolution_rule(shape);
  EXPECT_EQ(sizes(rule), (Sizes{4, 8, 16, 8, 16, 7, 16, 7}));
  EXPECT_EQ(rule.operands[0][3], (std::vector<int>{0, 3}));
  EXPECT_EQ(rule.operands[1][3], (std::vector<int>{0, 2}));
  EXPECT_EQ(rule.operands[1][2], (std::vector<int>{3}));
  EXPECT_EQ(rule.results[0][3], (std::vector<int>{0, 2}));
}

TEST(OpRule, batch_groups_lead_the_batch_of_the_image_and_the_features_of_the_output) {
  ConvolutionShape shape = image_convolution({2, 224, 224, 4}, {2, 2, 4, 64}, {1, 112, 112, 64});
  shape.batch_groups = 2;
  const OpRule rule = convolution_rule(shape);
  EXPECT_EQ(rule.factors[0].size, 2);
  EXPECT_EQ(rule.operands[0][0], (std::vector<int>{0, 1}));
  EXPECT_EQ(rule.operands[1][3], (std::vector<int>{0, 2}));
  EXPECT_EQ(rule.results[0][0], (std::vector<int>{1}));
  EXPECT_EQ(rule.results[0][3], (std::vector<int>{0, 2}));
}

// --- Operations of a graph ---

Tensor tensor(const Sizes& dims) {
  Tensor result;
  for (std::int64_t size : dims) result.dims.push_back({"", {{.size = size}}});
  return result;
}

// A graph of one operation whose tensors are its operands, in order.
struct OneOperation {
  Graph graph;
  Operation op;

  OneOperation& in(const std::string& letters, const Sizes& dims) {
    op.inputs.push_back({graph.add(tensor(dims)), letters});
    return *this;
  }
  OneOperation& out(const std::string& letters, const Sizes& dims) {
    op.outputs.push_back({graph.add(tensor(dims)), letters});
    return *this;
  }
  OpRule rule() const { return rule_of(graph, op); }
};

OneOperation operation(OperationKind kind) {
  OneOperation result;
  result.op.name = "op";
  result.op.kind = kind;
  return result;
}

TEST(GraphRule, letters_become_factors_in_order_of_first_appearance) {
  const OpRule rule = operation(OperationKind::kEinsum)
                          .in("bsd", {4, 16, 8})
                          .in("df", {8, 32})
                          .out("bsf", {4, 16, 32})
                          .rule();
  EXPECT_EQ(sizes(rule), (Sizes{4, 16, 8, 32}));
  EXPECT_EQ(kinds(rule), (Kinds{kPass, kPass, kSum, kPass}));
  EXPECT_EQ(rule.operands[1], (FactorMap{{2}, {3}}));
  EXPECT_FALSE(rule.elementwise);
}

TEST(GraphRule, the_size_of_a_letter_is_that_of_its_first_occurrence) {
  const OpRule rule = operation(OperationKind::kDispatch)
                          .in("bsd", {4, 16, 8})
                          .in("bse", {4, 16, 2})
                          .out("ebsd", {2, 4, 10, 8})
                          .rule();
  EXPECT_EQ(sizes(rule), (Sizes{4, 16, 8, 2}));
}

TEST(GraphRule, blocks_of_a_dimension_add_up) {
  OneOperation one = operation(OperationKind::kElementwise).in("n", {0}).out("n", {0});
  for (Tensor& t : one.graph.tensors) t.dims[0].blocks = {{.size = 32}, {.size = 8}, {.size = 8}};
  EXPECT_EQ(sizes(one.rule()), (Sizes{48}));
}

TEST(GraphRule, a_statistics_letter_is_no_reduction) {
  OneOperation loss = operation(OperationKind::kLoss).in("bsv", {4, 16, 100}).out("bs", {4, 16});
  loss.op.statistics = "v";
  loss.op.reductions = 3;
  const OpRule rule = loss.rule();
  EXPECT_EQ(kinds(rule), (Kinds{kPass, kPass, kPass}));
  ASSERT_EQ(rule.statistics.size(), 1u);
  EXPECT_EQ(rule.statistics[0].factor, 2);
  EXPECT_EQ(rule.statistics[0].count, 3);
}

TEST(GraphRule, rows_of_a_table_are_a_reduction_forward_and_pass_through_backward) {
  EXPECT_EQ(kinds(operation(OperationKind::kEmbedding)
                      .in("vd", {100, 8})
                      .in("bs", {4, 16})
                      .out("bsd", {4, 16, 8})
                      .rule()),
            (Kinds{kSum, kPass, kPass, kPass}));
  OneOperation back =
      operation(OperationKind::kEmbedding).in("bsd", {4, 16, 8}).in("bs", {4, 16}).out("vd", {100, 8});
  back.op.backward = true;
  EXPECT_EQ(kinds(back.rule()), (Kinds{kSum, kSum, kPass, kPass}));
}

OneOperation attention() {
  OneOperation one = operation(OperationKind::kAttention)
                         .in("bsnh", {2, 64, 8, 16})
                         .in("btnh", {2, 64, 16, 16})
                         .out("bsnh", {2, 64, 8, 16});
  one.op.whole = "th";
  return one;
}

TEST(GraphRule, attention_needs_all_keys_and_whole_heads) {
  EXPECT_EQ(kinds(attention().rule()), (Kinds{kPass, kPass, kPass, kWhole, kWhole}));
}

TEST(GraphRule, keys_that_go_round_in_a_ring_may_be_cut) {
  OneOperation one = attention();
  one.op.key_exchange = KeyExchange::kRing;
  const OpRule rule = one.rule();
  EXPECT_EQ(kinds(rule), (Kinds{kPass, kPass, kPass, kWhole, kHalo}));
  EXPECT_TRUE(rule.windows.empty());
}

TEST(GraphRule, gradients_of_keys_keep_the_key_letter_and_lack_the_query_letter) {
  OneOperation one = operation(OperationKind::kAttention)
                         .in("bsnh", {2, 64, 8, 16})
                         .in("btnh", {2, 64, 16, 16})
                         .in("bsnh", {2, 64, 8, 16})
                         .out("bsnh", {2, 64, 8, 16})
                         .out("btnh", {2, 64, 16, 16});
  one.op.whole = "th";
  one.op.backward = true;
  const OpRule rule = one.rule();
  EXPECT_EQ(kinds(rule), (Kinds{kPass, kPass, kPass, kWhole, kWhole}));
  EXPECT_EQ(rule.results[1], (FactorMap{{0}, {4}, {2}, {3}}));
}

TEST(GraphRule, a_product_of_letters_is_a_compound_dimension) {
  const OpRule merge =
      operation(OperationKind::kReshape).in("bsnd", {4, 16, 8, 2}).out("b(sn)d", {4, 128, 2}).rule();
  EXPECT_EQ(merge.results[0], (FactorMap{{0}, {1, 2}, {3}}));
  EXPECT_EQ(merge.rule_class, RuleClass::kElementwise);
  const OpRule split = operation(OperationKind::kReshape).in("(sn)d", {128, 2}).out("s(nd)", {16, 16}).rule();
  EXPECT_EQ(sizes(split), (Sizes{16, 8, 2}));
}

TEST(GraphRule, positions_of_a_convolution_are_permutations_and_its_kernel_letters_reductions) {
  OneOperation one = operation(OperationKind::kConvolution)
                         .in("bhwc", {8, 224, 224, 3})
                         .in("yxcf", {7, 7, 3, 64})
                         .out("bhwf", {8, 112, 112, 64});
  one.op.windows = {{.letter = 'h', .size = 7, .stride = 2, .pad_low = 3, .pad_high = 3},
                    {.letter = 'w', .size = 7, .stride = 2, .pad_low = 3, .pad_high = 3}};
  const OpRule rule = one.rule();
  EXPECT_EQ(sizes(rule), (Sizes{8, 112, 112, 3, 7, 7, 64}));
  EXPECT_EQ(kinds(rule), (Kinds{kPass, kHalo, kHalo, kSum, kSum, kSum, kPass}));
  ASSERT_EQ(rule.windows.size(), 2u);
  EXPECT_EQ(rule.windows[1].factor, 2);
  EXPECT_EQ(rule.windows[1].dim, 2);
  EXPECT_EQ(rule.windows[1].input, 224);
  EXPECT_EQ(rule.windows[1].stride, 2);
}

TEST(GraphRule, a_whole_letter_is_need_replication) {
  OneOperation one =
      operation(OperationKind::kConcatenate).in("bs", {4, 16}).in("bs", {4, 8}).out("bs", {4, 24});
  one.op.whole = "s";
  EXPECT_EQ(kinds(one.rule()), (Kinds{kPass, kWhole}));
}

TEST(GraphRule, a_gate_is_no_sum_but_the_gradient_of_a_bias_is) {
  EXPECT_EQ(kinds(operation(OperationKind::kElementwise).in("bgf", {4, 2, 8}).out("bf", {4, 8}).rule()),
            (Kinds{kPass, kWhole, kPass}));
  OneOperation gradient = operation(OperationKind::kElementwise).in("bsd", {4, 16, 8}).out("d", {8});
  gradient.op.backward = true;
  EXPECT_EQ(kinds(gradient.rule()), (Kinds{kSum, kSum, kPass}));
}

TEST(GraphRule, sums_and_pointwise_functions_are_elementwise) {
  for (OperationKind kind : {OperationKind::kElementwise, OperationKind::kSum}) {
    const OpRule rule = operation(kind).in("bd", {4, 8}).in("bd", {4, 8}).out("bd", {4, 8}).rule();
    EXPECT_TRUE(rule.elementwise);
    EXPECT_EQ(rule.rule_class, RuleClass::kElementwise);
  }
}

}  // namespace
}  // namespace podsim::testing::op_rule_test
