// Goes from the top of the network down, so that a node knows what lies above it.
#include "scheduler/traffic/slowest_groups.h"

#include <algorithm>
#include <limits>
#include <set>
#include <span>
#include <utility>

#include "engine/check.h"

namespace podsim {
namespace {

constexpr double kNoLink = std::numeric_limits<double>::infinity();

// Chosen: so many groups are planned for each kind of link and message, and not hundreds where a hundredth of
// all hosts is slow.
constexpr std::size_t kMostPlaces = 8;

}  // namespace

SlowestGroups::SlowestGroups(const Fabric& fabric) : fabric_(fabric), least_(fabric.nodes.size()) {
  for (auto node = static_cast<NodeId>(least_.size()) - 1; node >= 0; --node) least_[node] = above(node);
  // Whose only link of a kind has failed has none of the bandwidth that others have.
  for (std::size_t kind = 0; fabric.damaged && kind < kKinds; ++kind) {
    const auto has = [&](NodeId chip) { return least_[chip][kind] != kNoLink; };
    bool any = false;
    for (ChipId chip = 0; chip < fabric.chips; ++chip) any = any || has(chip);
    for (ChipId chip = 0; any && chip < fabric.chips; ++chip)
      if (!has(chip)) least_[chip][kind] = 0;
  }
  for (ChipId chip = 1; chip < fabric.chips; ++chip) alike_ = alike_ && least_[chip] == least_[0];
}

// A chip's links to its neighbours are its own; a switch has those that lead up.
SlowestGroups::Bandwidths SlowestGroups::above(NodeId node) const {
  Bandwidths own{}, least;
  least.fill(kNoLink);
  for (const Link& link : fabric_.out(node)) {
    const bool up = fabric_.nodes[link.to].tier > fabric_.nodes[node].tier;
    if (!up && node >= fabric_.chips) continue;
    own[static_cast<std::size_t>(link.kind)] += link.bandwidth.value;
    for (std::size_t kind = 0; up && kind < kKinds; ++kind)
      least[kind] = std::min(least[kind], least_[link.to][kind]);
  }
  for (std::size_t kind = 0; kind < kKinds; ++kind)
    if (own[kind] > 0) least[kind] = std::min(least[kind], own[kind]);
  return least;
}

std::vector<std::int32_t> SlowestGroups::of(const ChipGroups& groups) const {
  PODSIM_CHECK(groups.size() > 0, "a scope has groups");
  if (alike_) return {0};
  std::vector<std::int32_t> found;
  for (std::size_t kind = 0; kind < kKinds; ++kind) add_slowest(kind, groups, found);
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

// Algorithms differ by what each rank sends, so that it counts which members are slow, and how many.
void SlowestGroups::add_slowest(std::size_t kind, const ChipGroups& groups,
                                std::vector<std::int32_t>& found) const {
  double least = kNoLink, longest = 0;
  std::int32_t slow_in_sum = 0;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    double seconds_per_byte = 0;  // of all members, one after the other
    for (const ChipId chip : groups[g]) {
      least = std::min(least, least_[chip][kind]);
      seconds_per_byte += 1 / least_[chip][kind];
    }
    if (seconds_per_byte <= longest) continue;
    longest = seconds_per_byte;
    slow_in_sum = static_cast<std::int32_t>(g);
  }
  if (least == kNoLink) return;
  found.push_back(slow_in_sum);
  std::set<std::vector<std::size_t>> known;  // places of the slowest members
  for (std::size_t g = 0; g < groups.size() && known.size() < kMostPlaces; ++g) {
    std::vector<std::size_t> slow;
    for (std::size_t place = 0; place < groups.members(); ++place)
      if (least_[groups[g][place]][kind] == least) slow.push_back(place);
    if (!slow.empty() && known.insert(std::move(slow)).second) found.push_back(static_cast<std::int32_t>(g));
  }
}

}  // namespace podsim
