// Lone kernels: tiles and waves by hand, laws of size, formats that are missing, loads of experts.
#include "workload/partition/lone_kernel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

#include "workload/job/chip.h"
#include "workload/partition/tile_time.h"

namespace podsim::lone_kernel_test {
namespace {

constexpr double kTera = 1e12;

// 100 units, 1,000 TFLOP/s, 100 TB/s: tiles of 100 x 100 and of 50 x 100, which are a tenth slower. To split
// K never pays.
Chip round_gpu() {
  Chip chip;
  chip.name = "round";
  chip.matmul[Dtype::kBf16] = {FlopRate{1000 * kTera}, 0.8};
  chip.matmul[Dtype::kFp8] = {FlopRate{2000 * kTera}, 0.8};
  chip.compute_units = 100;
  chip.hbm = Bandwidth{100 * kTera};
  TiledMatmul matmul;
  matmul.wave_exponent = 1;
  matmul.split_bytes = 1e40;
  matmul.tiles = {{100, 100, 0}, {50, 100, 0.1}};
  KernelNumbers kernels;
  kernels.matmul["bf16"] = matmul;
  kernels.attention["bf16"] = {};
  kernels.experts["bf16"].matmul = matmul;
  chip.kernels = kernels;
  return chip;
}

double matmul_s(const Chip& chip, double m, double n, double k) {
  return lone_seconds(MatmulCall{m, n, k}, chip, "bf16").value();
}

TiledMatmul& matmul_of(Chip& chip) { return chip.kernels->matmul.at("bf16"); }

// The compute time alone: of memory there is so much that it does not count.
Chip without_memory() {
  Chip chip = round_gpu();
  chip.hbm = Bandwidth{1e30};
  return chip;
}

TEST(LoneMatmul, whole_tiles_in_whole_waves_take_flops_over_the_burst) {
  Chip chip = without_memory();
  matmul_of(chip).burst = 0.5;
  EXPECT_NEAR(matmul_s(chip, 1000, 1000, 20000), 4e10 / (500 * kTera), 1e-15);
}

TEST(LoneMatmul, a_row_more_than_a_tile_costs_the_next_tile) {
  const Chip chip = without_memory();
  // 1,001 rows are 21 x 10 half tiles in 3 waves, where 1,000 rows are one wave of whole ones.
  EXPECT_NEAR(matmul_s(chip, 1001, 1000, 20000) / matmul_s(chip, 1000, 1000, 20000), 1.5 * 1.1, 1e-12);
}

TEST(LoneMatmul, a_wave_that_is_begun_costs_by_the_exponent) {
  Chip chip = without_memory();
  matmul_of(chip).tiles = {{100, 100, 0}};
  const double whole_s = matmul_s(chip, 1000, 1000, 20000);
  EXPECT_NEAR(matmul_s(chip, 1100, 1000, 20000) / whole_s, 2, 1e-12);
  matmul_of(chip).wave_exponent = 0;
  EXPECT_NEAR(matmul_s(chip, 1100, 1000, 20000) / whole_s, 1.1, 1e-12);
}

TEST(LoneMatmul, a_small_product_is_split_along_k_where_the_parts_cost_less_than_idle_units) {
  Chip chip = without_memory();
  matmul_of(chip).tiles = {{100, 100, 0}};
  const double one_tile_s = 2.0 * 100 * 100 * 20000 * 100 / (1000 * kTera);
  EXPECT_NEAR(matmul_s(chip, 100, 100, 20000), one_tile_s, 1e-15);
  matmul_of(chip).split_bytes = 0;
  EXPECT_NEAR(matmul_s(chip, 100, 100, 20000), one_tile_s / 8, 1e-15);
}

TEST(LoneMatmul, fill_lengthens_k_and_droop_what_is_large) {
  Chip chip = without_memory();
  const double plain_s = matmul_s(chip, 1000, 1000, 20000);
  matmul_of(chip).fill = 2000;
  EXPECT_NEAR(matmul_s(chip, 1000, 1000, 20000) / plain_s, 1.1, 1e-12);
  matmul_of(chip).fill = 0;
  matmul_of(chip).droop = 0.1;
  EXPECT_NEAR(matmul_s(chip, 1000, 1000, 20000) / plain_s,
              1 + 0.1 * std::log1p(4e10 / (2 * std::pow(4096.0, 3))), 1e-12);
}

TEST(LoneMatmul, memory_hides_beside_the_tiles_and_launch_and_cast_come_on_top) {
  Chip chip = round_gpu();
  const double tiles_s = matmul_s(without_memory(), 1000, 1000, 1000);
  const double moved_s = 2 * 3e6 / (100 * kTera);
  EXPECT_NEAR(matmul_s(chip, 1000, 1000, 1000), std::pow(std::pow(tiles_s, 4) + std::pow(moved_s, 4), 0.25),
              1e-18);
  const double bare_s = matmul_s(chip, 1000, 1000, 1000);
  matmul_of(chip).launch_s = 3e-6;
  matmul_of(chip).cast_bytes = 6;
  EXPECT_NEAR(matmul_s(chip, 1000, 1000, 1000) - bare_s, 3e-6 + 6e6 / (100 * kTera), 1e-15);
}

// Numbers such as those of the catalogue.
Chip usual_gpu() {
  Chip chip = round_gpu();
  chip.compute_units = 132;
  chip.hbm = Bandwidth{3.35e12};
  TiledMatmul& matmul = matmul_of(chip);
  matmul = {0.9, 160, 0.2, 18, 0.035, 0.83, 2.6e-6, 0, {{256, 128, 0}, {128, 64, 0.1}, {64, 64, 0.4}}, {}};
  chip.kernels->experts.at("bf16").matmul = matmul;
  chip.kernels->attention.at("bf16") = {0.7, 4, 20e-6, 2, {{64, 0.7}, {128, 1}, {256, 1.2}}};
  return chip;
}

TEST(LoneMatmul, is_never_faster_than_peak_and_memory_and_never_shorter_when_it_is_larger) {
  const Chip chip = usual_gpu();
  std::mt19937_64 bits(3);
  for (int i = 0; i < 2000; ++i) {
    const auto side = [&] { return 1.0 + static_cast<double>(bits() % (i % 2 ? 400 : 40000)); };
    const double m = side(), n = side(), k = side(), seconds = matmul_s(chip, m, n, k);
    EXPECT_GE(seconds, 2 * m * n * k / (1000 * kTera));
    EXPECT_GE(seconds, 2 * (m * k + k * n + m * n) / 3.35e12);
    const double more = 1 + static_cast<double>(bits() % 300), same = seconds * (1 - 1e-12);
    EXPECT_GE(matmul_s(chip, m + more, n, k), same);
    EXPECT_GE(matmul_s(chip, m, n + more, k), same);
    EXPECT_GE(matmul_s(chip, m, n, k + more), same);
    EXPECT_NEAR(matmul_s(chip, n, m, k), seconds, seconds * 1e-12) << "both ways round";
  }
}

TEST(LoneMatmul, extreme_shapes_have_finite_times) {
  for (const double m : {1.0, 1e7})
    for (const double n : {1.0, 1e7})
      for (const double k : {1.0, 1e7}) {
        const double seconds = matmul_s(usual_gpu(), m, n, k);
        EXPECT_TRUE(std::isfinite(seconds) && seconds > 0) << m << ' ' << n << ' ' << k;
      }
}

TEST(LoneKernel, a_format_that_the_chip_lacks_has_no_time) {
  Chip chip = round_gpu();
  EXPECT_FALSE(lone_seconds(MatmulCall{1, 1, 1}, chip, "fp8"));
  chip.kernels->matmul["fp4"] = matmul_of(chip);
  EXPECT_FALSE(lone_seconds(MatmulCall{1, 1, 1}, chip, "fp4")) << "numbers without a peak";
  chip.kernels.reset();
  EXPECT_FALSE(lone_seconds(MatmulCall{1, 1, 1}, chip, "bf16"));
}

AttentionCall attention(double sequence, double window = 0) { return {2, sequence, 32, 8, 128, window}; }

TEST(LoneAttention, half_of_the_blocks_and_those_that_the_mask_cuts_are_computed) {
  Chip chip = round_gpu();
  chip.hbm = Bandwidth{1e30};
  const double all = 4.0 * 2 * 32 * 8192 * 8192 * 128 / (1000 * kTera);
  EXPECT_NEAR(lone_seconds(attention(8192), chip, "bf16").value() / all, 0.5 * (1 + 64.0 / 8192), 1e-12);
}

TEST(LoneAttention, grows_with_the_sequence_and_with_the_window_up_to_all_of_it) {
  const Chip chip = usual_gpu();
  double before_s = 0;
  for (double sequence = 100; sequence < 20000; sequence += 333) {
    const double seconds = lone_seconds(attention(sequence), chip, "bf16").value();
    EXPECT_GE(seconds, before_s);
    before_s = seconds;
  }
  before_s = 0;
  for (double window = 64; window <= 16384; window *= 2) {
    const double seconds = lone_seconds(attention(16384, window), chip, "bf16").value();
    EXPECT_GT(seconds, before_s);
    before_s = seconds;
  }
  EXPECT_EQ(before_s, lone_seconds(attention(16384), chip, "bf16").value());
}

TEST(LoneAttention, head_sizes_between_those_that_are_known_lie_between) {
  const Chip chip = usual_gpu();
  const auto rate = [&](double head_dim) {
    AttentionCall call = attention(16384);
    call.head_dim = head_dim;
    return head_dim / lone_seconds(call, chip, "bf16").value();
  };
  EXPECT_LT(rate(64), rate(96));
  EXPECT_LT(rate(96), rate(128));
  EXPECT_NEAR(rate(512), rate(256), 0.02 * rate(256)) << "wider heads are as fast as the widest";
}

double experts_s(const Chip& chip, const TokenRouting& routing) {
  ExpertLoads loads;
  return lone_seconds(ExpertsCall{routing, 4096, 1536, 1, true}, chip, "bf16", loads).value();
}

TEST(LoneExperts, two_grouped_matmuls_of_the_rows_of_every_expert) {
  Chip chip = round_gpu();
  chip.hbm = Bandwidth{1e30};
  // 8 experts with 1,000 rows each: [1000, 2000] x [2000, 2 x 1000] and [1000, 1000] x [1000, 2000].
  ExpertLoads loads;
  const ExpertsCall call{{1000, 8, 8, 1, 0}, 2000, 1000, 1, true};
  const double flops = 2.0 * 8000 * (2000 * 2000 + 1000 * 2000);
  EXPECT_NEAR(lone_seconds(call, chip, "bf16", loads).value(), flops / (1000 * kTera), 1e-12);
  ExpertsCall plain = call;
  plain.gated = false;
  EXPECT_NEAR(lone_seconds(plain, chip, "bf16", loads).value(), flops * 2 / 3 / (1000 * kTera), 1e-12);
}

TEST(LoneExperts, a_popular_expert_makes_its_device_slower) {
  const Chip chip = usual_gpu();
  EXPECT_GT(experts_s(chip, {8192, 8, 128, 16, 1.2}), experts_s(chip, {8192, 8, 128, 16, 0}));
  EXPECT_GT(experts_s(chip, {8192, 8, 128, 16, 0}), experts_s(chip, {8192, 8, 128, 32, 0}));
}

TEST(ExpertLoads, rows_are_those_of_all_tokens_and_no_expert_has_a_token_twice) {
  ExpertLoads loads;
  const auto& all = loads.of({4096, 8, 128, 1, 1.2});
  ASSERT_EQ(all.size(), 1u);
  EXPECT_NEAR(std::accumulate(all[0].begin(), all[0].end(), 0.0), 4096 * 8, 1);
  for (const double load : all[0]) EXPECT_LE(load, 4096 * 1.01);
  for (const auto& draw : loads.of({4096, 8, 128, 16, 1.2})) {
    EXPECT_EQ(draw.size(), 8u);
    EXPECT_GE(std::accumulate(draw.begin(), draw.end(), 0.0), 4096 * 8 / 16) << "the busiest device";
  }
}

// The integral of the density changes its form there.
TEST(ExpertLoads, go_on_smoothly_through_an_exponent_of_one) {
  ExpertLoads loads;
  const auto busiest = [&](double exponent) {
    const auto& rows = loads.of({4096, 2, 64, 1, exponent}).front();
    return *std::max_element(rows.begin(), rows.end());
  };
  EXPECT_NEAR(busiest(1), (busiest(0.999) + busiest(1.001)) / 2, 1e-3 * busiest(1));
}

TEST(ExpertLoads, fewer_tokens_than_experts_leave_experts_without_rows) {
  ExpertLoads loads;
  EXPECT_EQ(loads.of({16, 1, 128, 1, 0}), ExpertLoads::Draws{std::vector<double>(16, 1.0)});
}

}  // namespace
}  // namespace podsim::lone_kernel_test
