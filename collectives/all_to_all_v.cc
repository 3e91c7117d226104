// All-to-all with unequal parts: what each rank sends goes to the ranks in given shares.
#include <algorithm>

#include "collectives/algorithms.h"
#include "engine/check.h"

namespace podsim {
namespace {

// The pairs that an equal all-to-all adds flow by flow, so that flows on one path can collide: the same ones
// do in an unequal one, however little its parts differ.
class CollidingPairs {
 public:
  CollidingPairs(const Fabric& fabric, std::span<const ChipId> group) : fabric_(fabric) {
    if (!flows_collide(fabric)) return;
    all_ = fabric.individual_switches;
    if (all_ || fabric.slices.empty()) return;
    const Blocks blocks = cut_at_domains(fabric, group);
    for (int b = 0; b < blocks.count(); ++b)
      if (adds_flow_by_flow(fabric, blocks[b])) slices_.push_back(fabric.slice_of(blocks[b][0]));
  }

  bool none() const { return !all_ && slices_.empty(); }
  bool has(ChipId from, ChipId to) const {
    const TorusSlice* slice = fabric_.slice_of(to);
    return all_ || (slice == fabric_.slice_of(from) && std::ranges::find(slices_, slice) != slices_.end());
  }

 private:
  const Fabric& fabric_;
  bool all_ = false;
  std::vector<const TorusSlice*> slices_;  // inside which they do
};

bool are_equal(std::span<const double> shares) {
  return std::ranges::all_of(shares, [&](double share) { return share == shares[0]; });
}

}  // namespace

void UnequalExchange::add(std::span<const ChipId> group, std::span<const double> receive_share) {
  PODSIM_CHECK(receive_share.size() == group.size(), "an all-to-all has a share for every rank");
  const CollidingPairs colliding(fabric_, group);
  std::vector<ChipId> together;
  for (std::size_t rank = 0; rank < group.size(); ++rank) {
    const double share = receive_share[rank];
    if (share <= 0) continue;
    if (colliding.none()) {
      gathered_.add(group, group[rank], share);
      continue;
    }
    together.clear();
    for (const ChipId from : group)
      if (colliding.has(from, group[rank]))
        latency_ = std::max(latency_, sum_.add(fabric_, route(fabric_, from, group[rank]), share));
      else
        together.push_back(from);
    gathered_.add(together, group[rank], share);
  }
}

Phase UnequalExchange::phase(Bytes bytes) {
  for (LinkId link = 0; link < static_cast<LinkId>(fabric_.links.size()); ++link)
    if (gathered_.units(link) > 0) sum_.add(link, gathered_.units(link));
  return {std::max(latency_, gathered_.longest_latency()), sum_.loads(bytes)};
}

Phase all_to_all_v_phase(const Fabric& fabric, Bytes bytes, std::span<const double> receive_share,
                         std::span<const ChipId> group) {
  if (are_equal(receive_share)) return all_to_all_phase(fabric, bytes, group);
  UnequalExchange exchange(fabric);
  exchange.add(group, receive_share);
  return exchange.phase(bytes);
}

Phases unequal_exchange_by_rails(const Fabric& fabric, const Collective& collective, const Blocks& blocks,
                                 std::span<const ChipId> group) {
  const auto rails = static_cast<std::size_t>(blocks.rails()),
             count = static_cast<std::size_t>(blocks.count());
  std::vector<double> share_of(static_cast<std::size_t>(fabric.chips));  // [chip]
  for (std::size_t rank = 0; rank < group.size(); ++rank)
    share_of[group[rank]] = collective.receive_share[rank];
  std::vector<double> of_rail(rails);
  for (std::size_t i = 0; i < blocks.chips.size(); ++i) of_rail[i % rails] += share_of[blocks.chips[i]];

  UnequalExchange inside(fabric);
  for (std::size_t b = 0; b < count; ++b) inside.add(blocks[static_cast<int>(b)], of_rail);
  std::vector<Phase> across;
  for (std::size_t r = 0; r < rails; ++r) {
    if (of_rail[r] <= 0) continue;
    std::vector<ChipId> rail;
    std::vector<double> shares;
    for (std::size_t b = 0; b < count; ++b) {
      rail.push_back(blocks[static_cast<int>(b)][r]);
      shares.push_back(share_of[rail.back()] / of_rail[r]);
    }
    const double held = static_cast<double>(rails) * of_rail[r];  // of what a rank had, once inside is over
    across.push_back(all_to_all_v_phase(fabric, collective.bytes * held, shares, rail));
  }
  return {inside.phase(collective.bytes), at_once(across)};
}

}  // namespace podsim
