// Operation costs: roofline bounds, quantisation by hand, kernel rates, published microbenchmarks.
#include "workload/partition/op_cost.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "workload/job/chip.h"
#include "workload/job/stack.h"

namespace podsim::op_cost_test {
namespace {

constexpr double kTera = 1e12;

// 100 compute units, one tile size, 1000 TFLOP/s, 50 TB/s of memory traffic achieved: every figure below can
// be followed by hand.
Chip round_gpu() {
  Chip chip;
  chip.name = "round";
  chip.matmul[Dtype::kBf16] = {FlopRate{1000 * kTera}, 0.8};
  chip.matmul[Dtype::kFp8] = {FlopRate{2000 * kTera}, 0.8};
  chip.compute_units = 100;
  chip.tiles = {{100, 100, 0.0}};
  chip.wave_exponent = 1;
  chip.hbm = Bandwidth{100 * kTera};
  chip.hbm_efficiency = 0.5;
  chip.memory_exposed = 1;
  chip.attention = {{"flash2", 0.5, 0.4}, {"unfused", 0.4, 0.4}};
  return chip;
}

Chip h100() {
  Chip chip = round_gpu();
  chip.matmul[Dtype::kBf16] = {FlopRate{989 * kTera}, 0.67};
  chip.compute_units = 132;
  chip.tiles = {{256, 128, 0}, {128, 128, 0.06}, {128, 64, 0.18}, {64, 64, 0.35}};
  chip.wave_exponent = 0.55;
  chip.short_k = 250;
  chip.hbm = Bandwidth{3.35e12};
  chip.hbm_efficiency = 0.82;
  chip.attention_half_sequence = 400;
  chip.attention_head_dim_exponent = 0.32;
  return chip;
}

// One TensorCore of a v7 chip: half of the chip's peak and memory rate.
Chip v7_core() {
  Chip chip;
  chip.name = "v7 core";
  chip.matmul[Dtype::kBf16] = {FlopRate{1153.5 * kTera}, 0.83};
  chip.matmul[Dtype::kFp8] = {FlopRate{2307 * kTera}, 0.722};
  chip.matrix_side = 256;
  chip.blocking = 1230;
  chip.hbm = Bandwidth{3.69e12};
  chip.hbm_efficiency = 0.87;
  chip.memory_exposed = 0.75;
  chip.attention = {{"splash", 0.48, 0.343}};
  chip.attention_half_sequence = 2048;
  chip.attention_head_dim_exponent = 0.5;
  chip.attention_widest_head_dim = 256;
  return chip;
}

ComputeOp matmul(double m, double n, double k, Dtype dtype = Dtype::kBf16) {
  ComputeOp op;
  op.op_class = OpClass::kMatmul;
  op.dtype = dtype;
  op.m = m;
  op.n = n;
  op.k = k;
  op.flops = Flops{2 * m * n * k};
  op.hbm = Bytes{2 * (m * n + n * k + k * m)};
  return op;
}

ComputeOp attention(double length, double head_dim, bool backward = false) {
  ComputeOp op;
  op.op_class = OpClass::kAttention;
  op.query_length = op.key_length = length;
  op.heads = 8;
  op.head_dim = head_dim;
  op.sequences = 1;
  op.causal = true;
  op.backward = backward;
  op.flops = Flops{(backward ? 2.5 : 1) * 2 * length * length * op.heads * head_dim};
  return op;
}

ComputeOp moving(OpClass op_class, double bytes) {
  ComputeOp op;
  op.op_class = op_class;
  op.hbm = Bytes{bytes};
  return op;
}

Stack flash_stack() {
  Stack stack;
  stack.attention_kernel = "flash2";
  return stack;
}

double achieved_tflops(const ComputeOp& op, const Chip& chip) {
  return op.flops.value / op_seconds(op, chip, flash_stack()) / kTera;
}

TEST(MatmulCost, a_matrix_of_whole_tiles_and_whole_waves_runs_at_the_sustained_rate) {
  const ComputeOp op = matmul(1000, 1000, 20000);  // 10 x 10 tiles on 100 units
  EXPECT_NEAR(op_seconds(op, round_gpu(), flash_stack()), 4e10 / 800e12, 1e-18);
}

TEST(MatmulCost, one_tile_more_than_a_wave_costs_a_second_wave) {
  EXPECT_DOUBLE_EQ(tile_loss(1000, 1000, round_gpu()), 1);
  // 11 x 10 tiles need two waves where 1.1 would do.
  EXPECT_NEAR(tile_loss(1100, 1000, round_gpu()), 2 / 1.1, 1e-12);
}

TEST(MatmulCost, a_partial_tile_is_computed_whole) {
  // 1000 x 950: 100 tiles for the work of 95.
  EXPECT_NEAR(tile_loss(1000, 950, round_gpu()), 1 / 0.95, 1e-12);
}

TEST(MatmulCost, a_small_matrix_fills_one_tile_of_one_unit) {
  EXPECT_NEAR(tile_loss(100, 100, round_gpu()), 100, 1e-9);
}

TEST(MatmulCost, the_best_tile_is_taken_with_its_penalty) {
  Chip chip = round_gpu();
  chip.tiles.push_back({50, 100, 0.1});
  // 11 x 10: 220 half tiles in 3 waves where 2.2 would do, 10 % slower, beats 2 / 1.1.
  EXPECT_NEAR(tile_loss(1100, 1000, chip), 3 / 2.2 * 1.1, 1e-12);
}

TEST(MatmulCost, of_tiles_needs_some) {
  EXPECT_DEATH(tile_loss(1000, 1000, v7_core()), "cuts the outputs of matmuls into tiles");
  EXPECT_GT(op_seconds(matmul(1000, 1000, 20000), v7_core(), flash_stack()), 0);
}

TEST(MatmulCost, tiles_come_in_both_orientations) {
  Chip chip = round_gpu();
  chip.tiles = {{256, 128, 0}};
  EXPECT_DOUBLE_EQ(tile_loss(384, 5120, chip), tile_loss(5120, 384, chip));
}

TEST(MatmulCost, the_wave_exponent_softens_the_loss) {
  Chip chip = round_gpu();
  const ComputeOp op = matmul(1100, 1000, 20000);
  const double hard = op_seconds(op, chip, flash_stack());
  chip.wave_exponent = 0.5;
  EXPECT_NEAR(op_seconds(op, chip, flash_stack()), hard / std::sqrt(2 / 1.1), hard * 1e-12);
}

TEST(MatmulCost, a_short_k_costs_more_in_narrow_formats) {
  Chip chip = round_gpu();
  chip.short_k = 250;
  const double ideal = 2e9 / 800e12;
  EXPECT_NEAR(op_seconds(matmul(1000, 1000, 1000), chip, flash_stack()), ideal * 1.25, 1e-18);
  ComputeOp fp8 = matmul(1000, 1000, 1000, Dtype::kFp8);
  fp8.hbm = Bytes{0};
  EXPECT_NEAR(op_seconds(fp8, chip, flash_stack()), ideal / 2 * 1.5, 1e-18);
}

TEST(MatmulCost, a_thin_matrix_waits_for_memory) {
  const ComputeOp op = matmul(1000, 1000, 10);
  EXPECT_DOUBLE_EQ(op_seconds(op, round_gpu(), flash_stack()), op.hbm.value / 50e12);
}

TEST(MatmulCost, the_stack_factor_scales_the_rate) {
  const ComputeOp op = matmul(1000, 1000, 20000);
  Stack stack = flash_stack();
  stack.gemm_factor = 0.5;
  EXPECT_NEAR(op_seconds(op, round_gpu(), stack), 4e10 / 400e12, 1e-18);
}

TEST(MatmulCost, no_stack_factor_beats_the_peak) {
  const ComputeOp op = matmul(1000, 1000, 20000);
  Stack stack = flash_stack();
  stack.gemm_factor = 3;
  EXPECT_DOUBLE_EQ(op_seconds(op, round_gpu(), stack), 4e10 / 1000e12);
}

TEST(MatmulCost, fp16_runs_where_only_bf16_is_listed_and_the_other_way_round) {
  const double bf16 = op_seconds(matmul(1000, 1000, 2000), round_gpu(), flash_stack());
  EXPECT_EQ(op_seconds(matmul(1000, 1000, 2000, Dtype::kFp16), round_gpu(), flash_stack()), bf16);
  Chip volta = round_gpu();
  volta.matmul = {{Dtype::kFp16, volta.matmul.at(Dtype::kBf16)}};
  EXPECT_EQ(op_seconds(matmul(1000, 1000, 2000), volta, flash_stack()), bf16);
}

TEST(MatmulCostDeathTest, a_dtype_the_chip_lacks_stops_the_program) {
  EXPECT_DEATH(op_seconds(matmul(1000, 1000, 1000, Dtype::kFp4), round_gpu(), flash_stack()),
               "no matmul rate");
}

TEST(MatmulCost, random_shapes_stay_above_both_roofs_and_grow_with_every_side) {
  std::mt19937_64 bits(7);
  for (const Chip& chip : {h100(), v7_core()}) {
    const Stack stack = flash_stack();
    for (int i = 0; i < 500; ++i) {
      const auto side = [&] { return 1.0 + static_cast<double>(bits() % 30000); };
      const ComputeOp op = matmul(side(), side(), side());
      const double time = op_seconds(op, chip, stack);
      EXPECT_GE(time, seconds_at(op.flops, chip.matmul.at(Dtype::kBf16).peak));
      EXPECT_GE(time, seconds_at(op.hbm, chip.hbm));
      EXPECT_GT(op_seconds(matmul(op.m, op.n, 2 * op.k), chip, stack), time);
      EXPECT_GE(op_seconds(matmul(2 * op.m, op.n, op.k), chip, stack), time * (1 - 1e-12));
      EXPECT_GE(op_seconds(matmul(op.m, 2 * op.n, op.k), chip, stack), time * (1 - 1e-12));
    }
  }
}

// AI-Hypercomputer/tpu-recipes@c8cfe2f microbenchmarks/ironwood: bf16, m = n = k, TFLOP/s of one device.
TEST(MatmulCost, v7_large_matmul_is_within_two_percent_of_the_microbenchmark) {
  EXPECT_NEAR(achieved_tflops(matmul(32768, 32768, 32768), v7_core()) / 956.38, 1, 0.02);
}

// At 4096 a call of 144 us also pays 1.6 us of dispatch and 7.5 us of first reads, which layers in a program
// do not.
TEST(MatmulCost, v7_matmul_of_4096_is_within_its_dispatch_of_the_microbenchmark) {
  const double calls_s = 2 * std::pow(4096.0, 3) / (892.94 * kTera);
  const double predicted_s = op_seconds(matmul(4096, 4096, 4096), v7_core(), flash_stack());
  EXPECT_NEAR(predicted_s + 9.1e-6, calls_s, 0.02 * calls_s);
}

TEST(MatmulCost, a_tpu_pads_each_side_to_its_matrix_unit) {
  const ComputeOp full = matmul(4096, 3072, 4096), odd = matmul(4096, 2880, 4096);
  // 2880 = 11.25 x 256 is computed as 12 x 256.
  EXPECT_NEAR(op_seconds(odd, v7_core(), flash_stack()), op_seconds(full, v7_core(), flash_stack()), 1e-15);
}

TEST(MatmulCost, blocking_limits_a_chip_with_little_memory_bandwidth) {
  Chip v6e = v7_core();
  v6e.matmul = {{Dtype::kBf16, {FlopRate{918 * kTera}, 0.84}},
                {Dtype::kInt8, {FlopRate{1836 * kTera}, 0.739}}};
  v6e.hbm = Bandwidth{1.638e12};
  // h = 1230 / 2 x 1.638e12 x 0.87 / 918e12 = 0.955; (0.84^-4 + 0.955^-4)^(-1/4) = 0.747.
  EXPECT_NEAR(achieved_tflops(matmul(8192, 8192, 8192), v6e) / 918, 0.747, 0.001);
  // int8 with one 16-bit operand: h = 1230 x 2 / 3 x 1.425e12 / 1836e12 = 0.636.
  EXPECT_NEAR(achieved_tflops(matmul(8192, 8192, 8192, Dtype::kInt8), v6e) / 1836, 0.571, 0.001);
}

TEST(AttentionCost, a_flash_kernel_runs_at_its_share_of_the_peak_for_its_length) {
  const ComputeOp op = attention(8192, 128);
  EXPECT_NEAR(achieved_tflops(op, h100()), 989 * 0.5 * 8192 / 8592, 1e-6);
  EXPECT_NEAR(achieved_tflops(attention(8192, 128, true), h100()), 989 * 0.4 * 8192 / 8592, 1e-6);
}

TEST(AttentionCost, small_heads_are_slower_on_a_gpu_and_large_heads_no_faster) {
  const double rated = achieved_tflops(attention(8192, 128), h100());
  EXPECT_NEAR(achieved_tflops(attention(8192, 64), h100()) / rated, 0.80, 0.005);
  EXPECT_NEAR(achieved_tflops(attention(8192, 96), h100()) / rated, 0.92, 0.01);
  EXPECT_DOUBLE_EQ(achieved_tflops(attention(8192, 256), h100()), rated);
}

TEST(AttentionCost, a_wider_matrix_unit_gains_from_wider_heads) {
  const Stack stack = [] {
    Stack s;
    s.attention_kernel = "splash";
    return s;
  }();
  const auto rate = [&](double head_dim, const Chip& chip) {
    const ComputeOp op = attention(8192, head_dim);
    return op.flops.value / op_seconds(op, chip, stack);
  };
  Chip narrow = v7_core();
  narrow.attention_widest_head_dim = 128;
  EXPECT_NEAR(rate(256, v7_core()) / rate(128, v7_core()), std::sqrt(2), 1e-12);
  EXPECT_DOUBLE_EQ(rate(256, narrow), rate(128, narrow));
}

TEST(AttentionCost, unfused_attention_has_one_rate_for_every_length) {
  Stack stack;
  stack.attention_kernel = "unfused";
  for (double length : {512.0, 2048.0, 8192.0}) {
    const ComputeOp op = attention(length, 96);
    EXPECT_DOUBLE_EQ(op_seconds(op, h100(), stack), op.flops.value / (989 * kTera * 0.4));
  }
}

TEST(AttentionCostDeathTest, a_kernel_the_chip_lacks_stops_the_program) {
  Stack stack;
  stack.attention_kernel = "splash";
  EXPECT_DEATH(op_seconds(attention(1024, 128), h100(), stack), "no rate for splash");
}

TEST(MemoryCost, a_memory_bound_operation_takes_its_exposed_share_of_its_traffic) {
  EXPECT_DOUBLE_EQ(op_seconds(moving(OpClass::kMemoryBound, 1e9), round_gpu(), Stack{}), 1e9 / 50e12);
  EXPECT_DOUBLE_EQ(op_seconds(moving(OpClass::kMemoryBound, 3.2103e9), v7_core(), Stack{}), 0.75e-3);
}

TEST(MemoryCost, nothing_hides_the_optimizer) {
  EXPECT_DOUBLE_EQ(op_seconds(moving(OpClass::kOptimizer, 3.2103e9), v7_core(), Stack{}), 1e-3);
}

// tpu-recipes microbenchmarks/ironwood/hbm: a copy of 8.6 GB moves 6,421 GB/s on a chip of two cores.
TEST(MemoryCost, v7_copy_reaches_the_measured_rate) {
  Chip chip = v7_core();
  chip.hbm = Bandwidth{7.38e12};
  EXPECT_NEAR(
      8.589934592e9 / op_seconds(moving(OpClass::kOptimizer, 8.589934592e9), chip, Stack{}) / 6.42096e12, 1,
      0.001);
}

TEST(LaunchCost, the_device_idles_between_kernels_and_the_host_needs_its_time_for_each) {
  Stack stack;
  stack.kernel_gap = Time::seconds(4e-6);
  stack.host_launch = Time::seconds(9e-6);
  stack.host_collective = Time::seconds(50e-6);
  EXPECT_DOUBLE_EQ(gap_seconds(30, stack), 120e-6);
  EXPECT_DOUBLE_EQ(host_seconds(30, 2, stack), 370e-6);
  EXPECT_DOUBLE_EQ(gap_seconds(0, stack) + host_seconds(0, 0, stack), 0);
}

TEST(LaunchCost, graphs_take_a_share_of_the_hosts_time_and_leave_the_gaps) {
  Stack stack;
  stack.kernel_gap = Time::seconds(1e-6);
  stack.host_launch = Time::seconds(9e-6);
  stack.graph_launch_share = 0.25;
  EXPECT_DOUBLE_EQ(host_seconds(30, 0, stack), 270e-6);
  stack.graphs_captured = true;
  EXPECT_DOUBLE_EQ(host_seconds(30, 0, stack), 67.5e-6);
  EXPECT_DOUBLE_EQ(gap_seconds(30, stack), 30e-6);
}

ComputeOp grouped(double groups, double m, double n, double k) {
  ComputeOp op = matmul(m, n, k);
  op.repeats = groups;
  op.flops = op.flops * groups;
  op.hbm = op.hbm * groups;
  op.of_experts = true;
  return op;
}

TEST(GroupedMatmul, waves_hold_the_tiles_of_all_groups) {
  EXPECT_DOUBLE_EQ(tile_loss(500, 1000, round_gpu(), 2), 1) << "2 x 5 x 10 tiles on 100 units";
  EXPECT_DOUBLE_EQ(tile_loss(500, 1000, round_gpu(), 1), 2) << "half a wave";
  EXPECT_NEAR(tile_loss(550, 1000, round_gpu(), 5), 6.0 / 5.5, 1e-12) << "5 x 6 x 10 tiles in 3 waves";
}

TEST(GroupedMatmul, runs_at_the_factor_of_its_kernel) {
  Stack stack = flash_stack();
  const ComputeOp op = grouped(10, 1000, 1000, 20000);
  const double dense_s = op_seconds(op, round_gpu(), stack);
  stack.experts.gemm_factor = 0.5;
  EXPECT_NEAR(op_seconds(op, round_gpu(), stack), 2 * dense_s, 1e-15);
  ComputeOp dense = op;
  dense.of_experts = false;
  EXPECT_NEAR(op_seconds(dense, round_gpu(), stack), dense_s, 1e-15);
}

TEST(GroupedMatmul, of_one_expert_is_a_plain_matmul_unless_its_kernel_has_tiles_of_its_own) {
  Stack stack = flash_stack();
  const ComputeOp op = grouped(1, 1000, 1000, 20000);
  const double dense_s = op_seconds(op, round_gpu(), stack);
  stack.experts.gemm_factor = 0.5;
  EXPECT_EQ(op_seconds(op, round_gpu(), stack), dense_s);
  stack.experts.tile_rows = 512;
  EXPECT_NEAR(op_seconds(op, round_gpu(), stack), 2 * dense_s, 1e-15);
}

// 1,024 rows of a group touch three tiles of 512; columns and inner dimension fill whole tiles of 1,024.
TEST(GroupedMatmul, groups_begin_anywhere_in_a_tile_of_rows) {
  Stack stack = flash_stack();
  const Chip chip = v7_core();
  ComputeOp op = grouped(128, 1024, 2048, 4096);
  const double whole_s = op_seconds(op, chip, stack);
  stack.experts.tile_rows = 512;
  EXPECT_NEAR(op_seconds(op, chip, stack) / whole_s, 1.5, 1e-12);
  stack.experts.tile = 1024;
  EXPECT_NEAR(op_seconds(op, chip, stack) / whole_s, 1.5, 1e-12) << "whole tiles";
  op = grouped(128, 1024, 1536, 4096);
  Stack no_tiles = flash_stack();
  EXPECT_NEAR(op_seconds(op, chip, stack) / op_seconds(op, chip, no_tiles), 1.5 * 4 / 3, 1e-12);
  op.weight_gradient = true;
  std::swap(op.m, op.k);
  EXPECT_NEAR(op_seconds(op, chip, stack) / op_seconds(op, chip, no_tiles), 1.5 * 4 / 3, 1e-12)
      << "rows are summed over";
}

TEST(AttentionCost, sinks_run_at_the_share_of_the_stack) {
  Stack stack = flash_stack();
  stack.sink_attention = 0.25;
  ComputeOp op = attention(4096, 128);
  const double plain_s = op_seconds(op, round_gpu(), stack);
  op.sinks = true;
  EXPECT_NEAR(op_seconds(op, round_gpu(), stack), 4 * plain_s, 1e-12);
}

TEST(AttentionCost, the_factor_of_a_stack_is_one_of_the_rates_of_its_kernel) {
  Stack stack = flash_stack();
  const ComputeOp op = attention(4096, 128);
  const double plain_s = op_seconds(op, round_gpu(), stack);
  stack.attention_factor = 0.5;
  EXPECT_NEAR(op_seconds(op, round_gpu(), stack), 2 * plain_s, 1e-12);
}

}  // namespace
}  // namespace podsim::op_cost_test
