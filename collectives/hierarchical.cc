// Hierarchical algorithms: scatter inside each NVLink domain or slice, ring across them on every rail, gather
// inside.
#include <algorithm>
#include <cmath>
#include <utility>

#include "collectives/algorithms.h"

namespace podsim {
namespace {

// Reduce-scatter or all-gather inside every block at once.
Phase domains_phase(const Fabric& fabric, Bytes bytes, const Blocks& domains) {
  LoadSum sum;
  for (int b = 0; b < domains.count(); ++b) add_domain_exchange(fabric, domains[b], 1.0, sum);
  const Time latency = sum.longest_latency();
  return {latency, sum.loads(bytes)};
}

// Only the first `count` slices are counted.
Phase slices_phase(const Fabric& fabric, Bytes bytes, const Blocks& slices, int count) {
  Phase all;
  for (int b = 0; b < count; ++b) {
    std::optional<Phase> torus = torus_phase(fabric, bytes, 1, slices[b]);
    const Phase one = torus ? *std::move(torus) : ring_phase(fabric, bytes, 1, slices[b]);
    all.latency = std::max(all.latency, one.latency);
    all.loads.insert(all.loads.end(), one.loads.begin(), one.loads.end());
  }
  std::ranges::sort(all.loads, {}, &LinkLoad::link);  // slices share no ICI link
  return all;
}

// Rail r joins member r of every block in a ring, with the 1 / rails of the data that these members hold.
// Only what the first `count` blocks send is counted.
Phase rails_phase(const Fabric& fabric, Bytes bytes, int passes, const Blocks& blocks, int count,
                  const AlikeSlices* slices) {
  const int rails = blocks.rails();
  LoadSum sum(slices);
  for (int r = 0; r < rails; ++r)
    for (int b = 0; b < count; ++b)
      sum.add(fabric, blocks[b][r], blocks[(b + 1) % blocks.count()][r], 1.0 / rails);
  const int steps = passes * (blocks.count() - 1);
  const Time latency = capped_times(steps, sum.longest_latency());
  return {latency, sum.loads(bytes * (passes * passed_on(blocks.count()))), steps};
}

// First every chip gives each neighbour in its domain what goes to the neighbour's rail, then the rails
// exchange. Copies are made behind the rails, piece by piece, so that both run at once.
Phases all_to_all_phases(const Fabric& fabric, const Collective& collective, const Blocks& blocks,
                         int rails) {
  const bool copies = collective.fanout.copies > 1;
  const Bytes bytes =
      collective.bytes *
      (copies ? domains_reached(collective.fanout, blocks.count()) / collective.fanout.copies : 1);
  std::vector<Phase> inside, across;
  for (int b = 0; b < blocks.count(); ++b)
    inside.push_back(all_to_all_phase(fabric, collective.bytes, blocks[b]));
  for (int r = 0; r < rails; ++r) {
    std::vector<ChipId> rail;
    for (int b = 0; b < blocks.count(); ++b) rail.push_back(blocks[b][r]);
    across.push_back(all_to_all_phase(fabric, bytes, rail));
  }
  if (!copies) return {at_once(inside), at_once(across)};
  inside.insert(inside.end(), across.begin(), across.end());
  return {at_once(inside)};
}

bool lie_alike_in_slices(const Fabric& fabric, const Blocks& blocks) {
  const ChipId first_slice = fabric.slice_of(blocks.chips[0])->first_chip;
  for (int b = 1; b < blocks.count(); ++b) {
    const ChipId shift = fabric.slice_of(blocks[b][0])->first_chip - first_slice;
    for (std::size_t i = 0; i < blocks[b].size(); ++i)
      if (blocks[b][i] - blocks[0][i] != shift) return false;
  }
  return true;
}

// With `slices` the first block stands for all.
std::optional<Phases> hierarchical(const Fabric& fabric, const Collective& collective,
                                   std::span<const ChipId> group, const AlikeSlices* slices) {
  const int passes = ring_passes(collective.kind);
  const bool exchanges = collective.kind == CollectiveKind::kAllToAll;
  if (passes == 0 && !exchanges) return std::nullopt;
  if (fabric.slices.size() == 1) return std::nullopt;
  const Blocks blocks = cut_at_domains(fabric, group);
  const int rails = blocks.rails();
  const bool over_dcn = !fabric.slices.empty();
  if (rails == 0 || (over_dcn && !lie_alike_in_slices(fabric, blocks))) return std::nullopt;
  if (exchanges && !collective.receive_share.empty())
    return unequal_exchange_by_rails(fabric, collective, blocks, group);
  if (exchanges) return all_to_all_phases(fabric, collective, blocks, rails);
  const int count = slices == nullptr ? blocks.count() : 1;
  const Phase inside = over_dcn ? slices_phase(fabric, collective.bytes, blocks, count)
                                : domains_phase(fabric, collective.bytes, blocks);
  Phase across = rails_phase(fabric, collective.bytes, passes, blocks, count, slices);
  switch (collective.kind) {
    case CollectiveKind::kReduceScatter:
      return Phases{inside, std::move(across)};
    case CollectiveKind::kAllGather:
      return Phases{std::move(across), inside};
    default:
      return Phases{inside, std::move(across), inside};
  }
}

}  // namespace

Phase at_once(const std::vector<Phase>& phases) {
  Phase all;
  LoadSum sum;
  for (const Phase& phase : phases) {
    all.latency = std::max(all.latency, phase.latency);
    for (const LinkLoad& load : phase.loads) sum.add(load.link, load.bytes);
  }
  all.loads = sum.loads({1});
  return all;
}

double domains_reached(const Fanout& fanout, int domains) {
  const double choice = fanout.most_blocks > 0 ? std::min(domains, fanout.most_blocks) : domains;
  return choice * (1 - std::pow(1 - 1 / choice, fanout.copies));
}

void add_domain_exchange(const Fabric& fabric, std::span<const ChipId> members, double passes, LoadSum& sum) {
  if (fabric.nvlink_mesh) {
    for (const ChipId from : members)
      for (const ChipId to : members)
        if (from != to) sum.add(fabric, from, to, passes / static_cast<double>(members.size()));
    return;
  }
  for (std::size_t i = 0; i < members.size(); ++i)
    sum.add(fabric, members[i], members[(i + 1) % members.size()], passes * passed_on(members.size()));
}

std::optional<Phases> plan_hierarchical(const Fabric& fabric, const Collective& collective,
                                        std::span<const ChipId> group) {
  return hierarchical(fabric, collective, group, nullptr);
}

std::optional<Phases> hierarchical_in_one_slice(const Fabric& fabric, const Collective& collective,
                                                std::span<const ChipId> group, const AlikeSlices& slices) {
  return hierarchical(fabric, collective, group, &slices);
}

}  // namespace podsim
