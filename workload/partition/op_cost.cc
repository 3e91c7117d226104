// Roofline costs: matmuls by tiles or blocks, attention by kernel, everything else by HBM traffic.
#include "workload/partition/op_cost.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/check.h"
#include "workload/job/chip.h"
#include "workload/job/stack.h"
#include "workload/partition/tile_time.h"

namespace podsim {
namespace {

constexpr double kRatedHeadDim = 128;  // at which the attention rates of a chip are stated

double rounded_up(double x, double unit) { return std::ceil(x / unit) * unit; }

const MatmulRate& matmul_rate(const Chip& chip, Dtype dtype) {
  const MatmulRate* rate = chip.matmul_rate(dtype);
  PODSIM_CHECK(rate, "chip " + chip.name + " has no matmul rate for this dtype");
  return *rate;
}

const AttentionRate& attention_rate(const Chip& chip, const std::string& kernel) {
  for (const AttentionRate& rate : chip.attention)
    if (rate.kernel == kernel) return rate;
  check_failed(__FILE__, __LINE__, "attention kernel", "chip " + chip.name + " has no rate for " + kernel);
}

double hbm_seconds(const ComputeOp& op, const Chip& chip) {
  return seconds_at(op.hbm, chip.hbm * chip.hbm_efficiency);
}

double one_tile_loss(double m, double n, double groups, const Tile& tile, int units) {
  const double tiles = groups * std::ceil(m / tile.m) * std::ceil(n / tile.n);
  const double padding = tiles * tile.m * tile.n / (groups * m * n);
  const double waves = tiles / units;
  return padding * std::ceil(waves) / waves * (1 + tile.penalty);
}

// Fewer bytes per element leave fewer cycles per step along K: 1 at 16 bits, 2 at 8, 3 at 4.
double short_k_weight(Dtype dtype) { return std::max(0.0, 1 + std::log2(2 / bytes_per_element(dtype))); }

// Share of the multipliers that padding to the systolic array leaves useful.
double filled_share(const ComputeOp& op, const Chip& chip) {
  if (chip.matrix_side == 0) return 1;
  const double side = chip.matrix_side;
  return op.m * op.n * op.k / (rounded_up(op.m, side) * rounded_up(op.n, side) * rounded_up(op.k, side));
}

// Share of the tiles of a grouped kernel that is useful. Every unit (core of a chip) has its part of each
// group. Groups of rows begin anywhere in a tile, so that they have one tile more than their rows fill.
double group_share(const ComputeOp& op, const Chip& chip, const ExpertExecution& experts) {
  if (!op.of_experts || experts.tile_rows == 0 || !chip.tiles.empty()) return 1;
  const double rows = op.weight_gradient ? op.k : op.m, inner = op.weight_gradient ? op.m : op.k;
  const auto filled = [&](double x) {
    return experts.tile == 0 || x <= experts.tile ? 1 : x / rounded_up(x, experts.tile);
  };
  return rows / (rows + chip.compute_units * experts.tile_rows) * filled(inner) * filled(op.n);
}

// What a large GEMM sustains under the roof that HBM sets. Blocks of b x b outputs read one operand in its
// dtype and one still in 16 bits: 2 b / (2 + bytes) FLOP per byte.
double roofed_share(const ComputeOp& op, const Chip& chip, const MatmulRate& rate, double sustained) {
  if (chip.blocking == 0) return sustained;
  const double flops_per_byte = 2 * chip.blocking / (2 + bytes_per_element(op.dtype));
  const double roof = flops_per_byte * chip.hbm.value * chip.hbm_efficiency / rate.peak.value;
  const double a = sustained * sustained, b = roof * roof;
  return 1 / std::sqrt(std::sqrt(1 / (a * a) + 1 / (b * b)));
}

// Loss by partial tiles and waves, of which split-K and stream-K win a part back, and by short inner
// dimensions.
double tile_share(const ComputeOp& op, const Chip& chip) {
  if (chip.tiles.empty()) return 1;
  const double short_k = 1 + short_k_weight(op.dtype) * chip.short_k / op.k;
  return 1 / (std::pow(tile_loss(op.m, op.n, chip, op.repeats), chip.wave_exponent) * short_k);
}

// Null where the chip's kernels lack the format.
const TiledMatmul* tiled_matmul(const Chip& chip, Dtype dtype) {
  if (!chip.kernels) return nullptr;
  const auto found =
      chip.kernels->matmul.find(dtype == Dtype::kFp16 ? "bf16" : std::string(to_string(dtype)));
  return found == chip.kernels->matmul.end() ? nullptr : &found->second;
}

// Most that kernels reach with rows that begin where those of the matmul do.
double misaligned_share(const TiledMatmul& tiled, const ComputeOp& op, const Stack& stack) {
  double share = 1;
  if (stack.pads_matmuls) return share;
  const double row_bytes = op.row_alignment * bytes_per_element(op.dtype);
  for (const MisalignedRows& rows : tiled.misaligned)
    if (row_bytes <= rows.row_bytes) share = std::min(share, op.backward ? rows.backward : rows.forward);
  return share;
}

// A device with one expert runs plain matmuls, unless the grouped kernel has tiles of its own.
bool grouped(const ComputeOp& op, const ExpertExecution& experts) {
  return op.of_experts && (op.repeats > 1 || experts.tile_rows > 0);
}

double matmul_seconds(const ComputeOp& op, const Chip& chip, const Stack& stack) {
  const MatmulRate& rate = matmul_rate(chip, op.dtype);
  const double factor = stack.gemm_factor * (grouped(op, stack.experts) ? stack.experts.gemm_factor : 1);
  if (const TiledMatmul* tiled = tiled_matmul(chip, op.dtype)) {
    const double share = std::min(rate.sustained * factor, misaligned_share(*tiled, op, stack));
    const TileUnits on{chip.compute_units, rate.peak.value * share, chip.hbm.value * chip.hbm_efficiency};
    return beside(tile_seconds(*tiled, op.m, op.n, op.k, op.repeats, on), hbm_seconds(op, chip));
  }
  const double share = roofed_share(op, chip, rate, rate.sustained * factor) * filled_share(op, chip) *
                       tile_share(op, chip) * group_share(op, chip, stack.experts);
  return std::max(seconds_at(op.flops, rate.peak * std::min(share, 1.0)), hbm_seconds(op, chip));
}

// Small heads fill the matrix units less.
double head_dim_share(double head_dim, const Chip& chip) {
  return std::pow(std::min(head_dim, chip.attention_widest_head_dim) / kRatedHeadDim,
                  chip.attention_head_dim_exponent);
}

// Rows of unfused attention are plain batched matmuls; its softmax kernels are memory-bound operations of
// their own.
double attention_seconds(const ComputeOp& op, const Chip& chip, const Stack& stack) {
  const FlopRate peak = matmul_rate(chip, Dtype::kBf16).peak;
  const AttentionRate& kernel = attention_rate(chip, stack.attention_kernel);
  PODSIM_CHECK(stack.attention_factor > 0, "the stack " + stack.name + " attends at some rate");
  double share = (op.backward ? kernel.backward : kernel.forward) * stack.attention_factor;
  if (kernel.kernel != "unfused") {
    share *=
        op.key_length / (op.key_length + chip.attention_half_sequence) * head_dim_share(op.head_dim, chip);
  }
  if (op.sinks) share *= stack.sink_attention;
  return std::max(seconds_at(op.flops, peak * std::min(share, 1.0)), hbm_seconds(op, chip));
}

}  // namespace

double tile_loss(double m, double n, const Chip& chip, double groups) {
  PODSIM_CHECK(!chip.tiles.empty(), "chip " + chip.name + " cuts the outputs of matmuls into tiles");
  double best = std::numeric_limits<double>::infinity();
  for (const Tile& tile : chip.tiles) {
    best = std::min(best, one_tile_loss(m, n, groups, tile, chip.compute_units));
    // Libraries offer both orientations.
    best = std::min(best, one_tile_loss(n, m, groups, tile, chip.compute_units));
  }
  return best;
}

double op_seconds(const ComputeOp& op, const Chip& chip, const Stack& stack) {
  switch (op.op_class) {
    case OpClass::kMatmul:
      return matmul_seconds(op, chip, stack);
    case OpClass::kAttention:
      return attention_seconds(op, chip, stack);
    case OpClass::kMemoryBound:
      return hbm_seconds(op, chip) * chip.memory_exposed;
    case OpClass::kOptimizer:
      return hbm_seconds(op, chip);
    case OpClass::kMeasured:
      return op.measured.in_seconds();
  }
  check_failed(__FILE__, __LINE__, "op_class", "unknown operation class");
}

double roofline_seconds(const ComputeOp& op, const Chip& chip) {
  const double moved = seconds_at(op.hbm, chip.hbm);
  switch (op.op_class) {
    case OpClass::kMatmul:
      return std::max(seconds_at(op.flops, matmul_rate(chip, op.dtype).peak), moved);
    case OpClass::kAttention:
      return std::max(seconds_at(op.flops, matmul_rate(chip, Dtype::kBf16).peak), moved);
    case OpClass::kMemoryBound:
      return moved * chip.memory_exposed;
    case OpClass::kOptimizer:
      return moved;
    case OpClass::kMeasured:
      return 0;
  }
  check_failed(__FILE__, __LINE__, "op_class", "unknown operation class");
}

double gap_seconds(double kernels, const Stack& stack) { return kernels * stack.kernel_gap.in_seconds(); }

double update_seconds(int weights, const Stack& stack) {
  return (stack.graphs_captured ? stack.graph_launch_share : 1) * weights *
         stack.update_per_weight.in_seconds();
}

double host_seconds(double kernels, double collectives, const Stack& stack) {
  const double share = stack.graphs_captured ? stack.graph_launch_share : 1;
  return share *
         (kernels * stack.host_launch.in_seconds() + collectives * stack.host_collective.in_seconds());
}

}  // namespace podsim
