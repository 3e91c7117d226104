// FLOPs and bytes of instructions, by hand.
#include <cstdint>
#include <limits>

#include "ingest/hlo/account.h"
#include "ingest/hlo/cost.h"
#include "ingest/hlo/summary.h"
#include "tests/ingest/hlo_texts.h"

namespace podsim::hlo_cost_test {
namespace {

using testing::kAdd;
using testing::module_of;

hlo::Cost cost_of(const std::string& instructions, const std::string& before = "") {
  return hlo::summarize(module_of("HloModule m\n" + kAdd + before + "ENTRY e {\n" + instructions + "}\n"))
      .once;
}

TEST(HloCost, of_a_dot_is_two_per_product) {
  const hlo::Cost cost = cost_of(
      "  a = bf16[8,16,32] parameter(0)\n  b = bf16[8,32,4] parameter(1)\n"
      "  ROOT d = f32[8,16,4] dot(a, b), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, "
      "rhs_contracting_dims={1}\n");
  EXPECT_EQ(cost.dot, 2 * 8 * 16 * 4 * 32);
  EXPECT_EQ(cost.flops, cost.dot);
  EXPECT_EQ(cost.bytes, 2 * 8 * 16 * 32 + 2 * 8 * 32 * 4 + 4 * 8 * 16 * 4);
}

TEST(HloCost, tells_transcendental_functions_from_other_elementwise_work) {
  const hlo::Cost cost = cost_of(
      "  a = f32[64] parameter(0)\n  b = f32[64] exponential(a)\n  ROOT c = pred[64] compare(a, b), "
      "direction=LT\n");
  EXPECT_EQ(cost.transcendentals, 64);
  EXPECT_EQ(cost.flops, 64);
  EXPECT_EQ(cost.bytes, 2 * 256 + 2 * 256 + 64);
}

TEST(HloCost, of_a_reduction_is_one_application_for_each_element_that_goes) {
  const hlo::Cost cost = cost_of(
      "  a = f32[8,16] parameter(0)\n  z = f32[] constant(0)\n  ROOT r = f32[8] reduce(a, z), "
      "dimensions={1}, "
      "to_apply=%add\n");
  EXPECT_EQ(cost.flops, 8 * 16 - 8);
  EXPECT_EQ(cost.bytes, 4 * 8 * 16 + 4 + 4 * 8);
}

// 3 x 3 kernel on a 4 x 4 image with a border of 1: the corners of the output see 4 of 9 elements, the
// edges 6.
TEST(HloCost, of_a_convolution_leaves_out_what_falls_on_the_border) {
  const hlo::Cost cost = cost_of(
      "  a = f32[1,4,4,2] parameter(0)\n  k = f32[3,3,2,5] parameter(1)\n"
      "  ROOT c = f32[1,4,4,5] convolution(a, k), window={size=3x3 pad=1_1x1_1}, "
      "dim_labels=b01f_01io->b01f\n");
  EXPECT_EQ(cost.convolution, 2 * 2 * 5 * (4 * 4 + 8 * 6 + 4 * 9));
}

// As TPUs write matmuls: no spatial dimension.
TEST(HloCost, of_a_convolution_without_window_is_that_of_a_matmul) {
  const hlo::Cost cost = cost_of(
      "  a = bf16[16,32] parameter(0)\n  b = bf16[32,64] parameter(1)\n"
      "  ROOT c = bf16[16,64] convolution(a, b), dim_labels=bf_io->bf\n");
  EXPECT_EQ(cost.convolution, 2 * 16 * 32 * 64);
}

TEST(HloCost, of_slices_and_updates_in_place_is_of_what_moves) {
  const hlo::Cost cost = cost_of(
      "  a = f32[100,8] parameter(0)\n  u = f32[1,8] parameter(1)\n  i = s32[] parameter(2)\n  z = s32[] "
      "constant(0)\n"
      "  ROOT d = f32[100,8] dynamic-update-slice(a, u, i, z)\n");
  EXPECT_EQ(cost.bytes, 2 * 32 + 4);
}

TEST(HloCost, of_a_fusion_is_its_arithmetic_and_what_crosses_its_border) {
  const std::string fused =
      "fused {\n  p = f32[100,8] parameter(0)\n  i = s32[] parameter(1)\n  z = s32[] constant(0)\n"
      "  s = f32[1,8] dynamic-slice(p, i, z), dynamic_slice_sizes={1,8}\n  n = f32[1,8] negate(s)\n"
      "  ROOT e = f32[1,8] exponential(n)\n}\n";
  const hlo::Cost cost = cost_of(
      "  a = f32[100,8] parameter(0)\n  i = s32[] parameter(1)\n  ROOT f = f32[1,8] fusion(a, i), "
      "kind=kLoop, "
      "calls=%fused\n",
      fused);
  EXPECT_EQ(cost.flops, 8);
  EXPECT_EQ(cost.transcendentals, 8);
  EXPECT_EQ(cost.bytes, 32 + 4 + 32);
}

TEST(HloCost, of_a_conditional_is_the_dearer_branch) {
  const std::string branches =
      "one {\n  p = f32[8] parameter(0)\n  ROOT n = f32[8] negate(p)\n}\n"
      "two {\n  p = f32[8] parameter(0)\n  q = f32[8] negate(p)\n  ROOT n = f32[8] negate(q)\n}\n";
  EXPECT_EQ(
      cost_of("  k = s32[] parameter(0)\n  a = f32[8] parameter(1)\n  ROOT c = f32[8] conditional(k, a, a), "
              "branch_computations={%one, %two}\n",
              branches)
          .flops,
      16);
}

// Transformer Engine: 2 b h s s (d + d) forward, half as much again and more backward; cuBLAS by its
// contracted dimensions.
TEST(HloCost, of_custom_calls_is_what_is_known_of_them) {
  const std::string config =
      ", backend_config={attn_heads = 4 : i64, input_batch = 2 : i64, kv_max_seqlen = 16 : i64, mask_type = "
      "2 : "
      "i64, q_max_seqlen = 16 : i64, qk_head_dim = 8 : i64, v_head_dim = 8 : i64}\n";
  const hlo::Cost cost = cost_of(
      "  q = bf16[2,16,4,8] parameter(0)\n"
      "  f = bf16[2,16,4,8] custom-call(q), custom_call_target=\"te_fused_attn_forward_ffi\"" +
      config + "  b = bf16[2,16,4,8] custom-call(q), custom_call_target=\"te_fused_attn_backward_ffi\"" +
      config +
      "  w = bf16[8,3] parameter(1)\n"
      "  g = (bf16[2,16,4,3], s8[1024]) custom-call(q, w), custom_call_target=\"__cublas$gemm\", "
      "backend_config={\"gemm_backend_config\":{\"dot_dimension_numbers\":{\"lhs_contracting_dimensions\":["
      "\"3\"]}}}\n"
      "  ROOT u = bf16[8] custom-call(q), custom_call_target=\"mystery\"\n");
  const std::int64_t pairs = 2 * 4 * 16 * 16;
  EXPECT_EQ(cost.custom_flops, 2 * pairs * 16 + 2 * pairs * 40 + 2 * (2 * 16 * 4 * 3) * 8);
  EXPECT_EQ(cost.unknown_calls, 1);
  EXPECT_EQ(cost.bytes, 0);
}

// However large the shapes of a text are.
TEST(HloCost, never_overflows) {
  const hlo::Cost cost = cost_of(
      "  a = f32[16777216,16777216] parameter(0)\n"
      "  ROOT d = f32[16777216,16777216] dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n");
  EXPECT_EQ(cost.dot, std::numeric_limits<std::int64_t>::max());
}

TEST(HloAccount, adds_up) {
  const hlo::Module module = module_of(
      "HloModule m\n" + kAdd +
      "ENTRY e {\n  a = f32[8] parameter(0)\n  s = f32[8] custom-call(a), custom_call_target=\"Sharding\"\n"
      "  m = f32[8] custom-call(s), custom_call_target=\"mystery\"\n  ROOT z = f32[8] frobnicate(m)\n}\n");
  const Account account = hlo::account_of(module);
  EXPECT_EQ(account.read, 7);
  EXPECT_EQ(account.used, 1);
  EXPECT_EQ(account.passed_over.at("in computations that nothing calls"), 3);
  EXPECT_EQ(account.passed_over.at("annotations, and moves between memories"), 1);
  EXPECT_EQ(account.unknown.at("custom call mystery"), 1);
  EXPECT_EQ(account.unknown.at("operation frobnicate"), 1);
}

// Rows are of groups: each row counts once. Where groups part what is contracted, every group has a result,
// and together they contract it once.
TEST(HloCost, of_a_ragged_dot_does_not_count_the_groups) {
  const std::string sizes = "  g = s32[4] parameter(2)\n";
  const hlo::Cost rows = cost_of("  a = f32[16,8] parameter(0)\n  b = f32[4,8,32] parameter(1)\n" + sizes +
                                 "  ROOT d = f32[16,32] ragged-dot(a, b, g), lhs_contracting_dims={1}, "
                                 "rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}\n");
  EXPECT_EQ(rows.dot, 2 * 16 * 32 * 8);
  const hlo::Cost contracted =
      cost_of("  a = f32[8,16] parameter(0)\n  b = f32[16,32] parameter(1)\n" + sizes +
              "  ROOT d = f32[4,8,32] ragged-dot(a, b, g), lhs_contracting_dims={1}, "
              "rhs_contracting_dims={0}, lhs_ragged_dims={1}\n");
  EXPECT_EQ(contracted.dot, 2 * 8 * 32 * 16);
}

TEST(HloCost, of_a_scatter_into_several_arrays_has_the_updates_of_all) {
  const std::string both =
      "both {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  c = f32[] parameter(2)\n  d = f32[] "
      "parameter(3)\n  x = f32[] add(a, c)\n  y = f32[] add(b, d)\n  ROOT t = (f32[], f32[]) tuple(x, "
      "y)\n}\n";
  const hlo::Cost cost = cost_of(
      "  a = f32[16,8] parameter(0)\n  i = s32[4,1] parameter(1)\n  u = f32[4,8] parameter(2)\n"
      "  ROOT s = (f32[16,8], f32[16,8]) scatter(a, a, i, u, u), update_window_dims={1}, "
      "inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=both\n",
      both);
  EXPECT_EQ(cost.flops, 2 * 32);
  EXPECT_EQ(cost.bytes, 3 * 2 * 4 * 32 + 4 * 4);
}

TEST(HloCost, stays_at_the_largest_number_and_never_falls_below_none) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  hlo::Cost once;
  once.dot = once.convolution = kMost / 4;
  once.flops = once.dot + once.convolution + 8;
  EXPECT_EQ(once.elementwise(), 8);
  const hlo::Cost often = once * kMost;
  EXPECT_EQ(often.flops, kMost);
  EXPECT_EQ(often.products(), kMost);
  EXPECT_EQ(often.elementwise(), 0);
}

// As TPU modules write what runs beside the rest.
TEST(HloCost, of_starts_is_that_of_what_they_begin) {
  const hlo::Cost slice = cost_of(
      "  a = f32[64] parameter(0)\n  s = ((f32[64]), f32[16], s32[]) slice-start(a), slice={[0:16]}\n"
      "  ROOT d = f32[16] slice-done(s)\n");
  EXPECT_EQ(slice.bytes, 2 * 4 * 16);
  const std::string inner = "inner {\n  p = f32[64] parameter(0)\n  ROOT n = f32[64] negate(p)\n}\n";
  const std::string text =
      "HloModule m\n" + kAdd + inner +
      "ENTRY e {\n  a = f32[64] parameter(0)\n  s = ((f32[64]), f32[64], s32[]) call-start(a), "
      "to_apply=inner\n  ROOT d = f32[64] call-done(s)\n}\n";
  const hlo::Module module = module_of(text);
  EXPECT_EQ(hlo::summarize(module).once.flops, 64);
  EXPECT_TRUE(hlo::account_of(module).unknown.empty());
}

}  // namespace
}  // namespace podsim::hlo_cost_test
