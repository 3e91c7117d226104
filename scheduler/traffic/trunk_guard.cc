// Adds up what comes to each link between switches from below.
#include "scheduler/traffic/trunk_guard.h"

#include <algorithm>
#include <cstddef>

namespace podsim {

TrunkGuard::TrunkGuard(const RegularTree& tree, PhaseSink& onward)
    : tree_(tree), trunks_(tree), onward_(onward), below_(static_cast<std::size_t>(trunks_.count())) {}

void TrunkGuard::add(std::size_t pattern, const PhaseTraffic& phase, std::span<const UsageOnLink> uses) {
  found_limits_ = found_limits_ || any_overfull(uses);
  onward_.add(pattern, phase, uses);
}

// Everything that a link between switches takes, or has taken, came over the links below its lower switch, or
// goes on over them.
bool TrunkGuard::any_overfull(std::span<const UsageOnLink> uses) {
  crossing_.clear();
  touched_.clear();
  for (const UsageOnLink& use : uses) {
    const TreeLink link = tree_.place(use.link);
    if (link.nvlink) continue;
    if (link.below >= tree_.chips()) crossing_.push_back({trunks_.of(link), use.usage});
    const std::int32_t onward = trunks_.above_link(link);
    if (onward < 0) continue;
    BelowTrunk& stem = below_[static_cast<std::size_t>(onward)];
    if (stem.links == 0) touched_.push_back(onward);
    stem.usage += use.usage;
    ++stem.links;
  }
  const bool found = std::ranges::any_of(crossing_, [&](const Use& use) {
    const BelowTrunk& covers = below_[static_cast<std::size_t>(use.resource)];
    return covers.links == 0 || use.usage > covers.usage + covers.links + 1;
  });
  for (const std::int32_t trunk : touched_) below_[static_cast<std::size_t>(trunk)] = {};
  return found;
}

}  // namespace podsim
