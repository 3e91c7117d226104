// Plans of convolutions, pads, slices, joins, lookups and softmax: closed forms of what they send.
#include "workload/cases/shape_plan.h"

#include <gtest/gtest.h>

namespace podsim::shape_plan_test {
namespace {

const Mesh kMesh{{{"x", 2}}}, kMesh4{{{"y", 4}}};
const AxisList kX = {{0, 1, 2}}, kY = {{0, 1, 4}};

CaseTensor tensor(std::vector<std::int64_t> dims, std::vector<AxisList> axes) {
  return {.dims = std::move(dims), .element_bytes = 4, .layout = {.dims = std::move(axes), .unreduced = {}}};
}

std::vector<StepKind> kinds(const CasePlan& plan) {
  std::vector<StepKind> kinds;
  for (const CaseStep& s : plan.steps) {
    if (collective_of(s.step.kind)) kinds.push_back(s.step.kind);
  }
  return kinds;
}

// One spatial dimension, [batch, rows, features]; a filter of `taps`.
ConvolutionQuestion convolution(std::int64_t rows, std::int64_t taps, std::int64_t outputs, AxisList lhs_rows,
                                AxisList rhs_taps, AxisList out_rows) {
  ConvolutionQuestion question;
  question.lhs = tensor({8, rows, 16}, {{}, std::move(lhs_rows), {}});
  question.rhs = tensor({taps, 16, 32}, {std::move(rhs_taps), {}, {}});
  question.output = tensor({8, outputs, 32}, {{}, std::move(out_rows), {}});
  ConvolutionShape& shape = question.shape;
  shape.lhs = question.lhs.dims;
  shape.rhs = question.rhs.dims;
  shape.out = question.output.dims;
  shape.lhs_feature = shape.out_feature = shape.rhs_out = 2;
  shape.rhs_in = 1;
  shape.lhs_spatial = shape.out_spatial = {1};
  shape.rhs_spatial = {0};
  Window window;
  window.input = rows;
  window.size = taps;
  shape.windows = {window};
  question.reversed = {false};
  return question;
}

TEST(ConvolutionPlan, rows_cut_alike_exchange_the_rows_that_windows_share) {
  ConvolutionQuestion question = convolution(64, 3, 64, kX, {}, kX);
  question.shape.windows[0].pad_low = question.shape.windows[0].pad_high = 1;
  const CasePlan plan = plan_convolution(kMesh, question, SentBytes());
  EXPECT_EQ(kinds(plan), (std::vector<StepKind>{StepKind::kHalo, StepKind::kHalo}));
  EXPECT_EQ(sent_in_all(plan), 2 * 8 * 16 * 4);
  EXPECT_EQ(plan.flops, 2.0 * 8 * 32 * 3 * 16 * 32);
}

// The gradient of a filter: rows are contracted where they lie, and only the small result is summed.
TEST(ConvolutionPlan, rows_that_are_contracted_stay_where_they_are) {
  const CasePlan plan = plan_convolution(kMesh, convolution(64, 64, 1, kX, kX, {}), SentBytes());
  EXPECT_EQ(kinds(plan), std::vector<StepKind>{StepKind::kAllReduce});
  EXPECT_EQ(sent_in_all(plan), 8 * 32 * 4);
  EXPECT_EQ(plan.flops, 2.0 * 8 * 32 * 16 * 32);
}

// A filter gradient of three outputs reads one row beyond either end; lhs rows are smaller than rhs rows.
TEST(ConvolutionPlan, the_operand_with_the_smaller_halo_receives_it) {
  ConvolutionQuestion question = convolution(64, 64, 3, kX, kX, {});
  question.shape.windows[0].pad_low = question.shape.windows[0].pad_high = 1;
  const CasePlan plan = plan_convolution(kMesh, question, SentBytes());
  ASSERT_EQ(kinds(plan), (std::vector<StepKind>{StepKind::kHalo, StepKind::kHalo, StepKind::kAllReduce}));
  EXPECT_EQ(plan.steps[0].tensor, "lhs");
  EXPECT_EQ(sent_in_all(plan), 2 * 8 * 16 * 4 + 8 * 3 * 32 * 4);
}

// Taps that run backwards meet the other half of the rows: the halves of the filter change places.
TEST(ConvolutionPlan, reversed_taps_are_mirrored_first) {
  ConvolutionQuestion question = convolution(64, 64, 1, kX, kX, {});
  question.reversed = {true};
  question.rhs.dims[2] = question.output.dims[2] = question.shape.rhs[2] = question.shape.out[2] = 2;
  const CasePlan plan = plan_convolution(kMesh, question, SentBytes());
  EXPECT_EQ(kinds(plan), (std::vector<StepKind>{StepKind::kPermute, StepKind::kAllReduce}));
  EXPECT_EQ(plan.steps[0].tensor, "rhs");
}

ShiftQuestion shift(std::int64_t input, std::int64_t output, std::int64_t pad_low, AxisList axes) {
  ShiftQuestion question{tensor({input, 6}, {axes, {}}), tensor({output, 6}, {axes, {}}), {}};
  for (int d = 0; d < 2; ++d) {
    Window& window = question.windows.emplace_back();
    window.dim = d;
    window.input = d == 0 ? input : 6;
  }
  question.windows[0].pad_low = pad_low;
  return question;
}

TEST(ShiftPlan, a_buffer_shifted_by_a_shard_is_one_permute_of_it) {
  const CasePlan plan = plan_shift(kMesh4, shift(4, 4, 1, kY), SentBytes());
  EXPECT_EQ(kinds(plan), std::vector<StepKind>{StepKind::kHalo});
  EXPECT_EQ(sent_in_all(plan), 6 * 4);
}

TEST(ShiftPlan, padding_that_moves_no_boundary_is_free) {
  EXPECT_EQ(sent_in_all(plan_shift(kMesh, shift(15, 16, 0, kX), SentBytes())), 0);
}

TEST(ShiftPlan, a_dimension_that_does_not_change_needs_no_halo) {
  EXPECT_TRUE(kinds(plan_shift(kMesh, shift(16, 16, 0, kX), SentBytes())).empty());
}

TEST(ConcatenatePlan, inputs_are_joined_where_the_dimension_is_whole) {
  const ConcatenateQuestion question{
      {tensor({8, 10}, {{}, kX}), tensor({8, 6}, {{}, kX})}, tensor({8, 16}, {{}, kX}), 1};
  EXPECT_EQ(sent_in_all(plan_concatenate(kMesh, question, SentBytes())), 8 * 16 * 4 / 2);
  const ConcatenateQuestion other{
      {tensor({8, 10}, {kX, {}}), tensor({8, 6}, {kX, {}})}, tensor({8, 16}, {kX, {}}), 1};
  EXPECT_EQ(sent_in_all(plan_concatenate(kMesh, other, SentBytes())), 0);
}

TEST(EmbeddingPlan, cut_rows_are_looked_up_in_part_and_summed) {
  const EmbeddingQuestion question{tensor({1024, 16}, {kY, {}}), tensor({8, 3}, {{}, {}}),
                                   tensor({8, 3, 16}, {{}, {}, {}})};
  const CasePlan plan = plan_embedding(kMesh4, question, SentBytes());
  EXPECT_EQ(kinds(plan), std::vector<StepKind>{StepKind::kAllReduce});
  EXPECT_EQ(sent_in_all(plan), 2 * 8 * 3 * 16 * 4 * 3 / 4);
}

TEST(EmbeddingPlan, a_table_smaller_than_what_is_read_is_gathered) {
  const EmbeddingQuestion question{tensor({8, 16}, {kY, {}}), tensor({512, 3}, {{}, {}}),
                                   tensor({512, 3, 16}, {{}, {}, {}})};
  const CasePlan plan = plan_embedding(kMesh4, question, SentBytes());
  EXPECT_EQ(kinds(plan), std::vector<StepKind>{StepKind::kAllGather});
}

TEST(SoftmaxPlan, a_cut_row_takes_two_small_all_reduces_or_moves) {
  const SoftmaxQuestion question{tensor({8, 1024}, {{}, kY}), tensor({8, 1024}, {{}, kY}), 1};
  const CasePlan plan = plan_softmax(kMesh4, question, SentBytes());
  EXPECT_EQ(kinds(plan), (std::vector<StepKind>{StepKind::kAllReduce, StepKind::kAllReduce}));
  EXPECT_EQ(sent_in_all(plan), 2 * (2 * 8 * 4 * 3 / 4));
  const SoftmaxQuestion rows{tensor({8, 1024}, {kY, {}}), tensor({8, 1024}, {kY, {}}), 1};
  EXPECT_TRUE(kinds(plan_softmax(kMesh4, rows, SentBytes())).empty());
}

TEST(RearrangedPlan, axes_go_along_with_their_dimension_and_need_no_collective) {
  RearrangeQuestion transpose{
      RearrangeQuestion::How::kTranspose, {1, 0}, tensor({4, 6}, {kX, {}}), tensor({6, 4}, {{}, kX})};
  EXPECT_TRUE(kinds(plan_rearranged(kMesh, transpose, SentBytes())).empty());
  RearrangeQuestion reshape{
      RearrangeQuestion::How::kReshape, {}, tensor({4, 6}, {kX, {}}), tensor({24}, {kX})};
  EXPECT_TRUE(kinds(plan_rearranged(kMesh, reshape, SentBytes())).empty());
}

// Where what goes is cut, each device has a part of every sum: 6 of 4 bytes between 2 devices.
TEST(RearrangedPlan, a_reduction_over_a_cut_dimension_adds_up_over_its_axes) {
  RearrangeQuestion reduce{RearrangeQuestion::How::kReduce, {0}, tensor({4, 6}, {kX, {}}), tensor({6}, {{}})};
  const CasePlan plan = plan_rearranged(kMesh, reduce, SentBytes());
  EXPECT_EQ(kinds(plan), std::vector<StepKind>{StepKind::kAllReduce});
  EXPECT_EQ(sent_in_all(plan), 2 * 6 * 4 / 2);
}

}  // namespace
}  // namespace podsim::shape_plan_test
