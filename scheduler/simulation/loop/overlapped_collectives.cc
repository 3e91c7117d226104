// Collectives of known times beside what a chip computes: they come, become uncertain, and are over.
#include <algorithm>
#include <cstddef>
#include <span>

#include "engine/check.h"
#include "scheduler/simulation/loop/computation.h"

namespace podsim {

void Computation::start_known(std::int32_t c, const KnownCollective& known, Time now) {
  Chip& chip = chips_[c];
  if (chip.slowdown == 1 || known.edges.empty()) return;
  change_known(c, now, [&] {
    keep(c, [](const CollectiveAhead& each) { return !each.over(); });
    add(c, known);
  });
}

void Computation::expect_among(std::int32_t c, const CollectiveAhead& collective, Time settled) {
  const Chip& chip = chips_[c];
  if (chip.hindered()) return start_known(c, collective.whole(), std::max(settled, chip.progress.updated));
  keep(c, [&](const CollectiveAhead& each) { return each.last > settled; });
  place(c) = collective;
}

void Computation::add(std::int32_t c, const KnownCollective& known) { place(c).begin(known); }

CollectiveAhead& Computation::place(std::int32_t c) {
  Chip& chip = chips_[c];
  PODSIM_CHECK(static_cast<std::size_t>(chip.ahead) < most_ahead_, "a stream runs one operation at a time");
  return ahead_[c * most_ahead_ + chip.ahead++];
}

void Computation::forget_known(std::int32_t c, std::int32_t rendezvous, bool draining, Time now) {
  if (chips_[c].slowdown == 1) return;
  change_known(c, now, [&] {
    keep(c, [&](const CollectiveAhead& each) {
      if (each.rendezvous != rendezvous) return true;
      if (draining && !each.over()) count_transfer(c, each.pattern, +1);  // not one before it
      return false;
    });
  });
}

// Collectives that are over are of no more consequence.
void Computation::drop_over(std::int32_t c, Time now) {
  keep(c, [&](CollectiveAhead& each) {
    each.pass(now);
    return !each.over();
  });
}

template <class Wanted>
void Computation::keep(std::int32_t c, Wanted&& wanted) {
  const std::span<CollectiveAhead> all = ahead_of(c);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!wanted(all[i])) continue;
    if (kept != i) all[kept] = all[i];
    ++kept;
  }
  chips_[c].ahead = static_cast<std::int32_t>(kept);
}

// What starts or becomes uncertain now is no begin or end of a transfer: the computation is settled only if
// there is one at this instant.
template <class Change>
void Computation::change_known(std::int32_t c, Time now, Change&& change) {
  Chip& chip = chips_[c];
  if (!chip.hindered()) {
    drop_over(c, now);
    change();
    return;
  }
  const bool settled_before = settle_at_instant(c, now);
  change();
  if (settle_at_instant(c, now) || settled_before) {
    refresh(c, now);
  } else {
    foresee_later(c);
  }
}

}  // namespace podsim
