// Walks through the edges of all profiles.
#include "scheduler/simulation/state/speed_changes.h"

#include <algorithm>

namespace podsim {

SpeedChanges::SpeedChanges(const System& system, std::uint64_t seed)
    : system_(system), seed_(seed), things_(system.profiles.size()) {
  for (std::size_t c = 0; c < system.chips.size(); ++c)
    if (const std::int32_t p = system.chips[c].profile; p >= 0)
      things_[p].chips.push_back(static_cast<std::int32_t>(c));
  for (std::size_t l = 0; l < system.links.size(); ++l)
    if (const std::int32_t p = system.links[l].profile; p >= 0)
      things_[p].links.push_back(static_cast<std::int32_t>(l));
  find_next();
}

bool SpeedChanges::turn(std::size_t p) {
  Things& things = things_[p];
  if (things.next != next_) return false;
  const SpeedProfile& profile = system_.profiles[p];
  const double before = things.factor;
  things.factor = factor_at(profile, next_, seed_);
  things.next = next_edge(profile, next_, seed_);
  return things.factor != before;
}

void SpeedChanges::find_next() {
  next_ = Time::max();
  for (const Things& things : things_) next_ = std::min(next_, things.next);
}

}  // namespace podsim
