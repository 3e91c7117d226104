// Recursive halving (reduce-scatter) and doubling (all-gather) among a power of two of ranks.
#include <bit>

#include "collectives/algorithms.h"

namespace podsim {
namespace {

// Every rank exchanges with the rank whose number differs in one bit.
Phase exchange_phase(const Fabric& fabric, Bytes bytes, std::span<const ChipId> ranks, std::size_t distance) {
  LoadSum sum;
  for (std::size_t i = 0; i < ranks.size(); ++i)
    sum.add(fabric, route(fabric, ranks[i], ranks[i ^ distance]), 1.0);
  const Time latency = sum.longest_latency();
  return {latency, sum.loads(bytes)};
}

}  // namespace

// Neighbours exchange the largest parts (half of the tensor), the farthest ranks the smallest.
std::optional<Phases> plan_halving_doubling(const Fabric& fabric, const Collective& collective,
                                            std::span<const ChipId> group) {
  const int passes = ring_passes(collective.kind);
  if (passes == 0 || !std::has_single_bit(group.size())) return std::nullopt;
  const std::vector<ChipId> ranks =
      fabric.gpus_per_domain > 1 ? cut_at_islands(fabric, group).chips : std::vector<ChipId>(group.begin(), group.end());
  Phases halving;
  Bytes part = collective.bytes;
  for (std::size_t distance = 1; distance < ranks.size(); distance *= 2) {
    part = part / 2;
    halving.push_back(exchange_phase(fabric, part, ranks, distance));
  }
  if (collective.kind == CollectiveKind::kReduceScatter) return halving;
  Phases doubling(halving.rbegin(), halving.rend());
  if (collective.kind == CollectiveKind::kAllGather) return doubling;
  halving.insert(halving.end(), doubling.begin(), doubling.end());
  return halving;
}

}  // namespace podsim
