// Finds the matmul beside each activation collective.
#include "scheduler/lowering/chunked_matmuls.h"

#include <algorithm>
#include <utility>

namespace podsim {
namespace {

bool is(const ProgramOp& op, OpClass op_class) {
  const auto* work = std::get_if<ComputeOp>(&op);
  return work && work->op_class == op_class;
}

bool is_ring(const ProgramOp& op) {
  const auto* collective = std::get_if<CollectiveOp>(&op);
  return collective && collective->windows > 1;
}

const CollectiveOp* activation_collective(const ProgramOp& op) {
  const auto* collective = std::get_if<CollectiveOp>(&op);
  const bool plain = collective && collective->purpose == Purpose::kActivation && collective->windows == 1;
  return plain ? collective : nullptr;
}

// Weights travel on a stream of their own.
bool moves_weights(const ProgramOp& op) {
  const auto* collective = std::get_if<CollectiveOp>(&op);
  return collective && collective->purpose != Purpose::kActivation;
}

std::optional<std::size_t> gather_before(const Block& block, std::size_t matmul) {
  std::size_t i = matmul;
  while (i > 0 && (is(block[i - 1], OpClass::kMemoryBound) || moves_weights(block[i - 1]))) --i;
  if (i == 0) return std::nullopt;
  const CollectiveOp* collective = activation_collective(block[i - 1]);
  if (!collective || collective->kind != CollectiveKind::kAllGather) return std::nullopt;
  return i - 1;
}

std::optional<std::size_t> scatter_behind(const Block& block, std::size_t matmul) {
  if (matmul + 1 == block.size()) return std::nullopt;
  const CollectiveOp* collective = activation_collective(block[matmul + 1]);
  const bool sums = collective && (collective->kind == CollectiveKind::kReduceScatter ||
                                   collective->kind == CollectiveKind::kAllReduce);
  return sums ? std::optional<std::size_t>(matmul + 1) : std::nullopt;
}

}  // namespace

std::vector<ChunkedMatmul> chunked_matmuls(const Block& block) {
  std::vector<ChunkedMatmul> found;
  bool ring = false;  // that the next matmul or attention runs beside
  for (std::size_t i = 0; i < block.size(); ++i) {
    if (is_ring(block[i])) ring = true;
    const bool matmul = is(block[i], OpClass::kMatmul);
    if (!matmul && !is(block[i], OpClass::kAttention)) continue;
    if (std::exchange(ring, false) || !matmul) continue;
    const auto gather = gather_before(block, i);
    const bool whole_output = std::get<ComputeOp>(block[i]).weight_gradient;
    const auto scatter = whole_output ? std::nullopt : scatter_behind(block, i);
    if (gather || scatter) found.push_back({i, gather, scatter});
  }
  return found;
}

ComputeOp chunk_of(const ComputeOp& matmul, int n) {
  const double share = 1.0 / n;
  ComputeOp chunk = matmul;
  (matmul.weight_gradient ? chunk.k : chunk.m) *= share;
  // What every chunk moves: the weights, or the sum of their gradients.
  const double weights = matmul.weight_gradient ? matmul.m * matmul.n : matmul.n * matmul.k;
  const Bytes whole{matmul.repeats * weights *
                    bytes_per_element(matmul.weight_gradient ? Dtype::kBf16 : matmul.dtype)};
  chunk.flops = share * matmul.flops;
  chunk.hbm = whole + share * std::max(matmul.hbm - whole, Bytes{});
  return chunk;
}

}  // namespace podsim
