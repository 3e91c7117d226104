// Matmuls of steps on GPUs whose kernels are known: their tiles at the rate that is held.
#include <gtest/gtest.h>

#include <cmath>

#include "workload/job/chip.h"
#include "workload/job/stack.h"
#include "workload/partition/op_cost.h"

namespace podsim::step_matmul_test {
namespace {

// 100 units, 1000 TFLOP/s of which 0.8 are held, 50 TB/s of memory traffic achieved.
Chip round_gpu() {
  Chip chip;
  chip.name = "round";
  chip.matmul[Dtype::kBf16] = {FlopRate{1e15}, 0.8};
  chip.compute_units = 100;
  chip.hbm = Bandwidth{1e14};
  chip.hbm_efficiency = 0.5;
  return chip;
}

// Of lone kernels are burst, droop and launch; a K that is split costs too much.
TiledMatmul tiles_of_100() {
  TiledMatmul tiled;
  tiled.burst = 0.9;
  tiled.fill = 200;
  tiled.droop = 0.1;
  tiled.launch_s = 1e-3;
  tiled.split_bytes = 1e6;
  tiled.tiles = {{100, 100, 0}};
  return tiled;
}

ComputeOp matmul(double m, double n, double k) {
  ComputeOp op;
  op.op_class = OpClass::kMatmul;
  op.dtype = Dtype::kBf16;
  op.m = m;
  op.n = n;
  op.k = k;
  op.flops = Flops{2 * m * n * k};
  op.hbm = Bytes{2 * (m * n + n * k + k * m)};
  return op;
}

// 10 x 10 tiles of 20,000 + 200 of K on 100 units, beside the traffic of both inputs and the result.
TEST(StepMatmul, takes_the_tiles_of_the_chips_kernels_at_the_sustained_rate) {
  Chip chip = round_gpu();
  chip.kernels.emplace();
  chip.kernels->matmul["bf16"] = tiles_of_100();
  const ComputeOp op = matmul(1000, 1000, 20000);
  const double tiles_s = 2.0 * 1000 * 1000 * 20200 / 0.8e15, memory_s = op.hbm.value / 5e13;
  EXPECT_NEAR(op_seconds(op, chip, Stack()), std::pow(std::pow(tiles_s, 4) + std::pow(memory_s, 4), 0.25),
              1e-15);
}

TEST(StepMatmul, of_a_format_that_the_kernels_lack_takes_the_rate_alone) {
  Chip chip = round_gpu();
  chip.kernels.emplace();
  chip.kernels->matmul["fp8"] = tiles_of_100();
  EXPECT_EQ(op_seconds(matmul(1000, 1000, 20000), chip, Stack()),
            op_seconds(matmul(1000, 1000, 20000), round_gpu(), Stack()));
}

// Twice as long where half of the held rate is reached; the fill of the tiles is as before.
TEST(StepMatmul, whose_rows_begin_anywhere_reaches_a_share_of_the_peak_at_most) {
  Chip chip = round_gpu();
  chip.hbm = Bandwidth{1e18};  // so that tiles alone count
  chip.kernels.emplace();
  TiledMatmul tiled = tiles_of_100();
  tiled.misaligned = {{2, 0.1, 0.2}, {8, 0.4, 0.9}};
  chip.kernels->matmul["bf16"] = tiled;
  Stack as_written;
  as_written.pads_matmuls = false;
  ComputeOp op = matmul(1000, 1000, 20000);
  const double aligned_s = op_seconds(op, chip, as_written);
  const auto times_as_long = [&](int alignment, bool backward) {
    op.row_alignment = alignment;
    op.backward = backward;
    return op_seconds(op, chip, as_written) / aligned_s;
  };
  EXPECT_NEAR(times_as_long(8, false), 1, 1e-9);  // 16 bytes
  EXPECT_NEAR(times_as_long(4, false), 2, 1e-9);
  EXPECT_NEAR(times_as_long(2, false), 2, 1e-9);
  EXPECT_NEAR(times_as_long(1, false), 8, 1e-9);
  EXPECT_NEAR(times_as_long(1, true), 4, 1e-9);
  EXPECT_NEAR(times_as_long(4, true), 1, 1e-9);         // no faster than what is held
  EXPECT_EQ(op_seconds(op, chip, Stack()), aligned_s);  // padded
}

}  // namespace
}  // namespace podsim::step_matmul_test
