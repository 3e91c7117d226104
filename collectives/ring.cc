// Ring algorithms: one logical ring, several channels over NVLink domains, both directions, and the pipelined
// chains.
#include <algorithm>
#include <cmath>

#include "collectives/algorithms.h"

namespace podsim {
namespace {

struct RingHop {
  ChipId from, to;
  double share;  // of the traffic of one whole ring
};

std::vector<RingHop> single_ring(std::span<const ChipId> order, std::size_t count) {
  std::vector<RingHop> hops;
  for (std::size_t i = 0; i < std::min(order.size(), count); ++i)
    hops.push_back({order[i], order[(i + 1) % order.size()], 1.0});
  return hops;
}

// Channel c enters an even block at its member c, walks up round the block and leaves from member c - 1. It
// walks odd blocks down, from c - 1 to c, so that all hops between blocks stay on one rail (but the closing
// one of an odd number of blocks).
std::vector<RingHop> channel_rings(const Blocks& blocks) {
  const int channels = blocks.smallest();
  const auto entrance = [&](int b, int c) {
    const int size = static_cast<int>(blocks[b].size());
    return blocks[b][b % 2 == 0 ? c : (c + size - 1) % size];
  };
  const auto exit = [&](int b, int c) {
    const int size = static_cast<int>(blocks[b].size());
    return blocks[b][b % 2 == 0 ? (c + size - 1) % size : c];
  };
  std::vector<RingHop> hops;
  for (int b = 0; b < blocks.count(); ++b) {
    for (int c = 0; c < channels; ++c)
      hops.push_back({exit(b, c), entrance((b + 1) % blocks.count(), c), 1.0 / channels});
    const auto members = blocks[b];
    const int size = static_cast<int>(members.size());
    for (int i = 0; i < size; ++i) {
      const int next = (i + 1) % size;
      const int walking =
          next < channels ? channels - 1 : channels;  // the channel that enters or leaves at `next` does not
      if (walking == 0) continue;
      const double share = static_cast<double>(walking) / channels;
      hops.push_back(b % 2 == 0 ? RingHop{members[i], members[next], share}
                                : RingHop{members[next], members[i], share});
    }
  }
  return hops;
}

// Each chip follows each other one in equally many of the rings.
std::vector<RingHop> rings_in_all_orders(std::span<const ChipId> chips) {
  std::vector<RingHop> hops;
  for (const ChipId from : chips)
    for (const ChipId to : chips)
      if (from != to) hops.push_back({from, to, 1.0 / static_cast<double>(chips.size() - 1)});
  return hops;
}

// The first `count` of them, or all.
std::vector<RingHop> ring_hops(const Fabric& fabric, std::span<const ChipId> group, std::size_t count) {
  if (fabric.gpus_per_domain <= 1) return single_ring(group, count);
  const Blocks blocks = cut_at_domains(fabric, group);
  const bool within_mesh = blocks.count() == 1 && fabric.nvlink_mesh;
  if (!within_mesh && (blocks.count() <= 1 || blocks.smallest() <= 1))
    return single_ring(blocks.chips, count);
  std::vector<RingHop> hops = within_mesh ? rings_in_all_orders(blocks.chips) : channel_rings(blocks);
  hops.resize(std::min(hops.size(), count));
  return hops;
}

enum class Directions { kOne, kBoth };

// Only the first `count` hops are counted.
Phase close_ring(const Fabric& fabric, Bytes bytes, int passes, std::span<const ChipId> group,
                 Directions ways, std::size_t count = SIZE_MAX, const AlikeSlices* slices = nullptr) {
  const std::vector<RingHop> hops = ring_hops(fabric, group, count);
  const bool both = ways == Directions::kBoth;
  LoadSum sum(slices);
  for (const RingHop& hop : hops) {
    sum.add(fabric, hop.from, hop.to, both ? hop.share / 2 : hop.share);
    if (both) sum.add(fabric, hop.to, hop.from, hop.share / 2);
  }
  const auto steps = static_cast<std::int64_t>(passes * (group.size() - 1));
  const Time latency = capped_times(steps, sum.longest_latency());
  return {latency, sum.loads(bytes * (passes * passed_on(group.size()))), static_cast<int>(steps)};
}

std::optional<Phases> close_ring_in_one_slice(const Fabric& fabric, const Collective& collective,
                                              std::span<const ChipId> group, const AlikeSlices& slices,
                                              Directions ways) {
  const int passes = ring_passes(collective.kind);
  if (passes == 0) return std::nullopt;
  return alone(
      close_ring(fabric, collective.bytes, passes, group, ways, slices.ranks_in_first(group), &slices));
}

// Chunk after chunk of the tensor runs from the first rank round every ring, to the rank before the first.
// Only the first `count` hops are counted. The latency is the mean of that of the rings.
Phase chain_phase(const Fabric& fabric, Bytes bytes, std::span<const ChipId> group,
                  std::size_t count = SIZE_MAX) {
  LoadSum sum;
  double latency_ps = 0;
  for (const RingHop& hop : ring_hops(fabric, group, count))
    if (hop.to != group[0])
      latency_ps += hop.share * static_cast<double>(sum.add(fabric, hop.from, hop.to, hop.share).ps);
  return {{std::llround(latency_ps)}, sum.loads(bytes), static_cast<int>(group.size()) - 1};
}

}  // namespace

int ring_passes(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::kAllReduce:
      return 2;
    case CollectiveKind::kAllGather:
    case CollectiveKind::kReduceScatter:
      return 1;
    default:
      return 0;
  }
}

double passed_on(std::size_t ranks) { return static_cast<double>(ranks - 1) / static_cast<double>(ranks); }

Phase ring_phase(const Fabric& fabric, Bytes bytes, int passes, std::span<const ChipId> group) {
  return close_ring(fabric, bytes, passes, group, Directions::kOne);
}

std::optional<Phases> plan_ring(const Fabric& fabric, const Collective& collective,
                                std::span<const ChipId> group) {
  if (collective.kind == CollectiveKind::kBroadcast)
    return alone(chain_phase(fabric, collective.bytes, group));
  const int passes = ring_passes(collective.kind);
  if (passes == 0) return std::nullopt;
  return alone(ring_phase(fabric, collective.bytes, passes, group));
}

std::optional<Phases> outline_ring(const Fabric& fabric, const Collective& collective,
                                   std::span<const ChipId> group) {
  if (collective.kind == CollectiveKind::kBroadcast)
    return alone(chain_phase(fabric, collective.bytes, group, 1));
  const int passes = ring_passes(collective.kind);
  if (passes == 0) return std::nullopt;
  return alone(close_ring(fabric, collective.bytes, passes, group, Directions::kOne, 1));
}

std::optional<Phases> plan_bidirectional_ring(const Fabric& fabric, const Collective& collective,
                                              std::span<const ChipId> group) {
  const int passes = ring_passes(collective.kind);
  if (passes == 0) return std::nullopt;
  return alone(close_ring(fabric, collective.bytes, passes, group, Directions::kBoth));
}

std::optional<Phases> outline_bidirectional_ring(const Fabric& fabric, const Collective& collective,
                                                 std::span<const ChipId> group) {
  const int passes = ring_passes(collective.kind);
  if (passes == 0) return std::nullopt;
  return alone(close_ring(fabric, collective.bytes, passes, group, Directions::kBoth, 1));
}

std::optional<Phases> ring_in_one_slice(const Fabric& fabric, const Collective& collective,
                                        std::span<const ChipId> group, const AlikeSlices& slices) {
  if (collective.kind == CollectiveKind::kBroadcast) return plan_ring(fabric, collective, group);
  return close_ring_in_one_slice(fabric, collective, group, slices, Directions::kOne);
}

std::optional<Phases> bidirectional_ring_in_one_slice(const Fabric& fabric, const Collective& collective,
                                                      std::span<const ChipId> group,
                                                      const AlikeSlices& slices) {
  return close_ring_in_one_slice(fabric, collective, group, slices, Directions::kBoth);
}

}  // namespace podsim
