// Collectives of known times beside what chips compute, and how a computation goes over them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "engine/cache.h"
#include "engine/check.h"
#include "scheduler/simulation/state/computation_progress.h"

namespace podsim {

// What runs beside the computation of one chip, at one time or over its known future: all that decides how
// fast it goes, and to which pattern the time is charged that it loses.
struct Overlap {
  std::span<CollectiveAhead> known;
  // [pattern] transfers of the chip whose times are not known ahead; null = there are none.
  const std::int32_t* others;
  std::int32_t patterns;
  double slowdown;  // while any transfer drains
  double own;       // by the chip's own speed

  // How much slower the chip computes now than at full speed.
  double pace() const {
    bool drains = others != nullptr;
    for (const CollectiveAhead& each : known) drains = drains || each.drains();
    return (drains ? slowdown : 1) * own;
  }

  // The first pattern of which a transfer drains: of several at once it is charged for all.
  std::int32_t pattern() const {
    std::int32_t first = patterns;
    for (const CollectiveAhead& each : known)
      if (each.drains()) first = std::min(first, each.pattern);
    for (std::int32_t pattern = 0; others != nullptr && pattern < first; ++pattern)
      if (others[pattern] > 0) return pattern;
    return first;
  }

  // Nothing but the known collectives changes the pace, and without them it is 1.
  bool known_only() const { return others == nullptr && own == 1; }

  // When a known transfer begins or ends next.
  Time next_instant() const {
    Time next = Time::max();
    for (const CollectiveAhead& each : known) next = std::min(next, each.next);
    return next;
  }

  // Takes the known collectives to then, whatever is computed beside them. REQUIRES: until < Time::max().
  void pass(Time until) const {
    for (CollectiveAhead& each : known) each.pass(until);
  }

  // Takes the computation over the known instants before `until` and before its end; tells
  // book(pattern, lost) of what it loses. O(instants), less where one collective alone changes the pace.
  template <class Book>
  void follow(ComputationProgress& progress, Time until, Book&& book) const;

 private:
  // Until then `only` alone may change the pace.
  template <class Book>
  void follow_alone(ComputationProgress& progress, CollectiveAhead& only, Time until, Book&& book) const;
  // Until then transfers of `only` begin and end, while others drain.
  template <class Book>
  void follow_beside_others(ComputationProgress& progress, CollectiveAhead& only, Time until,
                            Book&& book) const;
};

// The known collectives of all chips: a few places for each chip, so that nothing is allocated. How many of
// its places a chip uses, its `count`, is kept by who keeps the chip.
class KnownCollectives {
 public:
  // `most`: of a chip at once, > 0.
  KnownCollectives(std::size_t chips, std::size_t most) : most_(most), all_(chips * most) {}

  // Those of a chip that uses `count` places, in the order in which they have come.
  std::span<CollectiveAhead> of(std::int32_t chip, std::int32_t count) {
    return {&all_[chip * most_], static_cast<std::size_t>(count)};
  }
  std::span<const CollectiveAhead> of(std::int32_t chip, std::int32_t count) const {
    return {&all_[chip * most_], static_cast<std::size_t>(count)};
  }

  // One more, for the caller to fill.
  CollectiveAhead& add(std::int32_t chip, std::int32_t& count) {
    PODSIM_CHECK(static_cast<std::size_t>(count) < most_, "a stream runs one operation at a time");
    return all_[chip * most_ + count++];
  }

  // Only those that are wanted stay, in their order.
  template <class Wanted>
  void keep(std::int32_t chip, std::int32_t& count, Wanted&& wanted) {
    const std::span<CollectiveAhead> present = of(chip, count);
    std::int32_t kept = 0;
    for (std::int32_t i = 0; i < count; ++i) {
      if (!wanted(present[i])) continue;
      if (kept != i) present[kept] = present[i];
      ++kept;
    }
    count = kept;
  }

  // Takes them to now. Those that are over are of no more consequence.
  void drop_over(std::int32_t chip, std::int32_t& count, Time now) {
    keep(chip, count, [&](CollectiveAhead& each) {
      each.pass(now);
      return !each.over();
    });
  }

  // Loads the chip's first ones.
  void fetch_chip(std::int32_t chip) const { fetch(&all_[chip * most_], 2 * sizeof(CollectiveAhead)); }

 private:
  std::size_t most_;
  std::vector<CollectiveAhead> all_;  // [chip * most_ + i]
};

template <class Book>
void Overlap::follow(ComputationProgress& progress, Time until, Book&& book) const {
  for (;;) {
    const FirstAhead first = first_of(known);
    if (first.next >= std::min(progress.end, until)) return;
    if (first.only() && known_only()) {
      const Time limit = std::min(until, first.until);
      first.others_drain ? follow_beside_others(progress, *first.first, limit, book)
                         : follow_alone(progress, *first.first, limit, book);
      continue;
    }
    const Time lost = progress.settle(first.next);
    if (lost.ps > 0) book(pattern(), lost);
    pass(first.next);
    progress.go_on_at(pace());
  }
}

template <class Book>
void Overlap::follow_alone(ComputationProgress& progress, CollectiveAhead& only, Time until,
                           Book&& book) const {
  Time lost;
  if (only.last < until && progress.go_past(only, lost)) {
    only.go_to(only.count);
  } else {
    lost = progress.follow(only, slowdown, until);
  }
  if (lost.ps > 0) book(only.pattern, lost);
}

template <class Book>
void Overlap::follow_beside_others(ComputationProgress& progress, CollectiveAhead& only, Time until,
                                   Book&& book) const {
  std::int32_t first = INT32_MAX;  // pattern of the others
  for (const CollectiveAhead& each : known)
    if (each.drains() && &each != &only) first = std::min(first, each.pattern);
  const ComputationProgress::Lost lost = progress.follow_beside_others(only, until);
  if (lost.others.ps > 0) book(first, lost.others);
  if (lost.together.ps > 0) book(std::min(first, only.pattern), lost.together);
}

}  // namespace podsim
