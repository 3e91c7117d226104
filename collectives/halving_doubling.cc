// Recursive halving (reduce-scatter) and doubling (all-gather) among a power of two of ranks.
#include <bit>
#include <iterator>
#include <utility>

#include "collectives/algorithms.h"

namespace podsim {
namespace {

// Every rank exchanges with the rank whose number differs in one bit; only the first `count` ranks are
// counted. Leaves the sum empty, as it must find it.
Phase exchange_phase(const Fabric& fabric, Bytes bytes, std::span<const ChipId> ranks, std::size_t distance,
                     std::size_t count, LoadSum& sum) {
  for (std::size_t i = 0; i < count; ++i) sum.add(fabric, ranks[i], ranks[i ^ distance], 1.0);
  const Time latency = sum.longest_latency();
  return {latency, sum.loads(bytes)};
}

// The reduce-scatter: neighbours exchange the largest parts (half of the tensor), the farthest ranks the
// smallest.
std::optional<Phases> halve(const Fabric& fabric, Bytes bytes, std::span<const ChipId> group,
                            std::size_t count, const AlikeSlices* slices) {
  if (!std::has_single_bit(group.size())) return std::nullopt;
  std::vector<ChipId> ranks(group.begin(), group.end());
  if (fabric.gpus_per_domain > 1) ranks = cut_at_domains(fabric, group).chips;
  Phases halving;
  LoadSum sum(slices);
  Bytes part = bytes;
  for (std::size_t distance = 1; distance < ranks.size(); distance *= 2) {
    part = part / 2;
    halving.push_back(exchange_phase(fabric, part, ranks, distance, count, sum));
  }
  return halving;
}

std::optional<Phases> halve_and_double(const Fabric& fabric, const Collective& collective,
                                       std::span<const ChipId> group, std::size_t count,
                                       const AlikeSlices* slices = nullptr) {
  if (ring_passes(collective.kind) == 0) return std::nullopt;
  std::optional<Phases> halving = halve(fabric, collective.bytes, group, count, slices);
  return halving ? from_halving(collective.kind, *std::move(halving)) : std::nullopt;
}

}  // namespace

std::optional<Phases> from_halving(CollectiveKind kind, Phases halving) {
  if (ring_passes(kind) == 0) return std::nullopt;
  if (kind == CollectiveKind::kReduceScatter) return halving;
  Phases doubling(halving.rbegin(), halving.rend());
  if (kind == CollectiveKind::kAllGather) return doubling;
  halving.insert(halving.end(), std::make_move_iterator(doubling.begin()),
                 std::make_move_iterator(doubling.end()));
  return halving;
}

std::optional<Phases> plan_halving_doubling(const Fabric& fabric, const Collective& collective,
                                            std::span<const ChipId> group) {
  return halve_and_double(fabric, collective, group, group.size());
}

std::optional<Phases> outline_halving_doubling(const Fabric& fabric, const Collective& collective,
                                               std::span<const ChipId> group) {
  return halve_and_double(fabric, collective, group, 1);
}

std::optional<Phases> halving_doubling_in_one_slice(const Fabric& fabric, const Collective& collective,
                                                    std::span<const ChipId> group,
                                                    const AlikeSlices& slices) {
  return halve_and_double(fabric, collective, group, slices.ranks_in_first(group), &slices);
}

}  // namespace podsim
