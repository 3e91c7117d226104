// Islands run one by one while nothing that they share is under way: what one needs then stays near the
// processor.
//
// Rule. An operation that islands share starts when the last of them has reached it, so not before any
// instant that an island has been taken to without reaching it. While none is under way and none has been
// reached, each island may therefore run until it reaches one; and those that have may then run to where the
// furthest one is. What remains before the start is worked off together, in order. An operation of an island
// that would share links starts together too, because rates are solved for in order of time; the island waits
// for it.
#include <algorithm>

#include "scheduler/simulation.h"

namespace podsim {

void Simulation::list_island_slots() {
  const bool copies = HostCopies::slots(system_) > 0, late = delays_.late().any();
  island_slots_.resize(islands_.chips.size());
  for (std::size_t i = 0; i < island_slots_.size(); ++i) {
    const auto& chips = islands_.chips[i];
    island_slots_[i].assign(chips.begin(), chips.end());
  }
  for (std::size_t m = 0; m < islands_.of_meeting.size(); ++m)
    if (islands_.of_meeting[m] != Islands::kShared)
      island_slots_[islands_.of_meeting[m]].push_back(first_meeting_ + m);
  for (std::size_t i = 0; i < island_slots_.size(); ++i) {
    for (const std::int32_t c : islands_.chips[i])
      for (const Stream stream : {Stream::kToHost, Stream::kFromHost})
        if (copies) island_slots_[i].push_back(copies_.slot_of({c, stream}));
    for (const std::int32_t c : islands_.chips[i])
      if (late) island_slots_[i].push_back(first_late_ + static_cast<std::size_t>(c));
  }
}

void Simulation::reach_shared(const Meeting& meeting) {
  if (meeting.reached == 0) ++shared_under_way_;
  if (mode_ == Mode::kUntilShared) stop_ = std::max(stop_, Stop::kShared);
}

bool Simulation::island_ended(std::size_t island) const {
  const std::vector<std::int32_t>& chips = islands_.chips[island];
  return std::all_of(chips.begin(), chips.end(), [&](std::int32_t c) { return chips_[c].ended; });
}

bool Simulation::run_apart() {
  const std::int64_t before = events_;
  std::vector<Stop> stops;
  mode_ = Mode::kUntilShared;
  for (std::size_t i = 0; i < islands_.chips.size(); ++i) {
    run_island(i, Time::max());
    stops.push_back(stop_);
  }
  mode_ = Mode::kUntilFurthest;
  for (std::size_t i = 0; i < islands_.chips.size(); ++i)
    if (stops[i] != Stop::kHeld) run_island(i, furthest_);
  mode_ = Mode::kTogether;
  return events_ > before;
}

void Simulation::run_island(std::size_t island, Time until) {
  agenda_.narrow(island_slots_[island]);
  const int& running = jobs_.front().running;
  stop_ = island_ended(island) ? Stop::kHeld : Stop::kNone;
  while (stop_ == Stop::kNone && agenda_.next_time() < until) {
    const int before = running;
    now_ = agenda_.next_time();
    handle(agenda_.next());
    if (running < before && island_ended(island)) stop_ = Stop::kHeld;
  }
  agenda_.widen();
  furthest_ = std::max(furthest_, now_);
}

}  // namespace podsim
