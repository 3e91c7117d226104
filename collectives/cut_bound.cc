// Counts ranks on both sides of a cut, and measures the cut.
#include "collectives/cut_bound.h"

#include <algorithm>
#include <cmath>

#include "collectives/blocks.h"
#include "engine/check.h"
#include "topology/min_cut.h"

namespace podsim {
namespace {

// Sums of loads and flows in whole bytes are exact to about this.
constexpr double kRounding = 1e-9;

Side other_side(Side near) {
  near.flip();
  return near;
}

double share_of(const Collective& collective, const Side& side) {
  if (collective.receive_share.empty())
    return static_cast<double>(std::ranges::count(side, true)) / static_cast<double>(side.size());
  double share = 0;
  for (std::size_t rank = 0; rank < side.size(); ++rank)
    if (side[rank]) share += collective.receive_share[rank];
  return share;
}

int successors_beyond(const Side& near) {
  int beyond = 0;
  for (std::size_t rank = 0; rank < near.size(); ++rank)
    if (near[rank] && !near[(rank + 1) % near.size()]) ++beyond;
  return beyond;
}

}  // namespace

double must_cross(const Collective& collective, const Side& near) {
  const double ranks = static_cast<double>(near.size());
  const double inside = static_cast<double>(std::ranges::count(near, true)), outside = ranks - inside;
  const double bytes = collective.bytes.value;
  if (inside == 0 || outside == 0) return 0;
  switch (collective.kind) {
    case CollectiveKind::kAllReduce:
      return bytes;
    case CollectiveKind::kAllGather:
      return inside / ranks * bytes;
    case CollectiveKind::kReduceScatter:
      return outside / ranks * bytes;
    case CollectiveKind::kAllToAll:
      return inside * share_of(collective, other_side(near)) * bytes / collective.fanout.copies;
    case CollectiveKind::kBroadcast:
    case CollectiveKind::kSendReceive:
      return near.front() ? bytes : 0;
    case CollectiveKind::kPermute:
      return successors_beyond(near) * bytes;
    case CollectiveKind::kBarrier:
      return 0;
  }
  return 0;
}

std::vector<Side> narrow_cuts(const Fabric& fabric, std::span<const ChipId> group) {
  constexpr int kMostDomains = 8;
  if (group.size() < 2) return {};
  std::vector<ChipId> ascending(group.begin(), group.end());
  std::ranges::sort(ascending);
  const auto side_of = [&](std::span<const ChipId> chips) {
    Side side(group.size());
    for (std::size_t rank = 0; rank < group.size(); ++rank)
      side[rank] = std::ranges::find(chips, group[rank]) != chips.end();
    return side;
  };
  std::vector<Side> cuts = {side_of(std::span(ascending).first(group.size() / 2))};
  const Blocks domains = cut_at_domains(fabric, group);
  for (int domain = 0; domain < std::min(domains.count(), kMostDomains); ++domain)
    if (domains.count() > 1) cuts.push_back(side_of(domains[domain]));
  return cuts;
}

Time cut_bound(const Fabric& fabric, const Collective& collective, std::span<const ChipId> group,
               const Side& near) {
  PODSIM_CHECK(near.size() == group.size(), "a cut has a side for every rank");
  std::vector<ChipId> inside, outside;
  for (std::size_t rank = 0; rank < group.size(); ++rank)
    (near[rank] ? inside : outside).push_back(group[rank]);
  const auto seconds = [&](const Side& side, std::span<const ChipId> from, std::span<const ChipId> to) {
    const double bytes = must_cross(collective, side);
    return bytes > 0 ? bytes / min_cut(fabric, from, to).value : 0;
  };
  const double slower = std::max(seconds(near, inside, outside), seconds(other_side(near), outside, inside));
  return Time{static_cast<std::int64_t>(std::floor(slower * (1 - kRounding) * 1e12))};
}

bool carries_across(const Fabric& fabric, const Collective& collective, std::span<const ChipId> group,
                    const CollectivePlan& plan, const Side& near) {
  PODSIM_CHECK(near.size() == group.size(), "a cut has a side for every rank");
  enum : char { kOutside, kNear, kFar };
  std::vector<char> place(fabric.nodes.size(), kOutside);
  for (std::size_t rank = 0; rank < group.size(); ++rank) place[group[rank]] = near[rank] ? kNear : kFar;
  double out_of_near = 0, out_of_far = 0;
  const auto add = [&](char from, char to, double bytes) {
    if (from == kNear && to != kNear) out_of_near += bytes;
    if (from == kFar && to != kFar) out_of_far += bytes;
  };
  const RegularTree* tree = fabric.tree();  // no link joins two chips there
  for (const Phase& phase : plan.phases)
    for (const LinkLoad& load : phase.loads) {
      if (tree == nullptr) {
        const Link& link = fabric.links[load.link];
        add(place[link.from], place[link.to], load.bytes);
      } else if (const TreeLink link = tree->place(load.link); !link.down) {
        add(place[link.below], kOutside, load.bytes);
      }
    }
  return out_of_near >= must_cross(collective, near) * (1 - kRounding) &&
         out_of_far >= must_cross(collective, other_side(near)) * (1 - kRounding);
}

}  // namespace podsim
