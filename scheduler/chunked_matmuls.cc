// Finds the matmul beside each activation collective.
#include "scheduler/chunked_matmuls.h"

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

std::optional<std::size_t> gather_before(const Block& block, std::size_t matmul) {
  std::size_t i = matmul;
  while (i > 0 && is(block[i - 1], OpClass::kMemoryBound)) --i;
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
    if (std::exchange(ring, false) || !matmul || std::get<ComputeOp>(block[i]).weight_gradient) continue;
    const auto gather = gather_before(block, i);
    const auto scatter = scatter_behind(block, i);
    if (gather || scatter) found.push_back({i, gather, scatter});
  }
  return found;
}

ComputeOp chunk_of(const ComputeOp& matmul, int n) {
  const Bytes weights{matmul.repeats * matmul.n * matmul.k * bytes_per_element(matmul.dtype)};
  const double share = 1.0 / n;
  ComputeOp chunk = matmul;
  chunk.m *= share;
  chunk.flops = share * matmul.flops;
  chunk.hbm = weights + share * std::max(matmul.hbm - weights, Bytes{});
  return chunk;
}

}  // namespace podsim
