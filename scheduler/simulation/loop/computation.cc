// Follows computations over the instants at which their pace may change.
#include "scheduler/simulation/loop/computation.h"

#include <algorithm>

#include "engine/check.h"

namespace podsim {

std::size_t Computation::most_beside(const System& system, const StreamOperations& lists) {
  std::size_t most = 1;
  for (std::size_t p = 0; p < system.step.stages.size(); ++p)
    most = std::max(most, 2 * lists.lists_of(static_cast<int>(p)).size());
  return most;
}

Computation::Computation(const System& system, const SimulateOptions& options, const StreamOperations& lists,
                         std::size_t more_known, IndexedEventQueue& event_queue, Accounts& accounts)
    : system_(system),
      event_queue_(event_queue),
      accounts_(accounts),
      draws_(system, options),
      chips_(system.chips.size()),
      known_(chips_.size(), most_beside(system, lists) + more_known),
      charges_(chips_.size()),
      transfers_of_(chips_.size() * system.patterns.size(), 0) {
  for (std::size_t c = 0; c < chips_.size(); ++c) {
    const StageProgram& program = system.step.stages[system.chips[c].program];
    chips_[c].slowdown = 1 + program.interference;
    chips_[c].scale = scale_of(static_cast<std::int32_t>(c));
    chips_[c].changing = system.chips[c].profile >= 0;
  }
}

double Computation::scale_of(std::int32_t c) const {
  const ChipClass& chip = system_.chips[c];
  return (1 + system_.step.stages[chip.program].skew) / chip.speed;
}

void Computation::start(std::int32_t c, Time now, Time duration, bool pause) {
  Chip& chip = chips_[c];
  chip.computing = true;
  chip.pausing = pause;
  chip.lost = {};
  chip.progress.left = duration;
  chip.progress.updated = now;
  chip.pace_before = 0;
  if (chip.hindered()) {
    known_.drop_over(c, chip.known, now);
    refresh(c);
  } else {
    chip.progress.end = now + duration;
    charge(c, {});
    event_queue_.set(c, chip.progress.end);
  }
}

Time Computation::end(std::int32_t c, Time now) {
  Chip& chip = chips_[c];
  if (chip.charged == kMore) {
    settle(c, now);
  } else if (chip.charged == kTwo) {
    book(c, charges_[c].first, charges_[c].lost_to_first);
    book(c, charges_[c].second, charges_[c].lost_to_second);
  } else if (chip.charged != kNone) {
    book(c, chip.charged, chip.lost_ahead);
  }
  chip.computing = false;
  return chip.lost;
}

void Computation::change_speed(std::int32_t c, double factor, Time now) {
  PODSIM_CHECK(factor > 0, "a chip that stands still never ends its step");
  Chip& chip = chips_[c];
  const bool hindered = chip.hindered();
  if (hindered) settle(c, now);
  chip.own = 1 / factor;
  if (hindered) refresh(c);
}

void Computation::change_transfers(std::int32_t c, std::int32_t pattern, int difference, Time now) {
  Chip& chip = chips_[c];
  if (chip.slowdown == 1) return;
  const bool hindered = chip.hindered();
  if (hindered) settle(c, now);
  count_transfer(c, pattern, difference);
  if (hindered) refresh(c);
}

void Computation::start_known(std::int32_t c, const KnownCollective& known, Time now) {
  Chip& chip = chips_[c];
  if (chip.slowdown == 1 || known.edges.empty()) return;
  change_known(c, now, [&] {
    known_.keep(c, chip.known, [](const CollectiveAhead& each) { return !each.over(); });
    known_.add(c, chip.known).begin(known);
  });
}

void Computation::forget_known(std::int32_t c, std::int32_t rendezvous, bool draining, Time now) {
  Chip& chip = chips_[c];
  if (chip.slowdown == 1) return;
  change_known(c, now, [&] {
    known_.keep(c, chip.known, [&](const CollectiveAhead& each) {
      if (each.rendezvous != rendezvous) return true;
      if (draining && !each.over()) count_transfer(c, each.pattern, +1);  // not one before it
      return false;
    });
  });
}

// What starts or becomes uncertain now is no begin or end of a transfer: the computation is settled only if
// there is one at this instant.
template <class Change>
void Computation::change_known(std::int32_t c, Time now, Change&& change) {
  Chip& chip = chips_[c];
  if (!chip.hindered()) {
    known_.drop_over(c, chip.known, now);
    change();
    return;
  }
  const bool settled_before = settle_at_instant(c, now);
  change();
  if (settle_at_instant(c, now) || settled_before) {
    refresh(c);
  } else {
    foresee_later(c);
  }
}

bool Computation::settle_at_instant(std::int32_t c, Time now) {
  const Overlap overlap = overlap_of(c);
  if (overlap.next_instant() > now) return false;
  overlap.follow(chips_[c].progress, now, [&](std::int32_t pattern, Time lost) { book(c, pattern, lost); });
  if (overlap.next_instant() > now) return false;
  settle(c, now);
  return true;
}

void Computation::settle(std::int32_t c, Time now) {
  Chip& chip = chips_[c];
  const Overlap overlap = overlap_of(c);
  overlap.follow(chip.progress, now, [&](std::int32_t pattern, Time lost) { book(c, pattern, lost); });
  if (chip.progress.updated < now) {
    chip.pace_before = chip.progress.pace;
    chip.end_before = chip.progress.end;
    const Time lost = chip.progress.settle(now);
    if (lost.ps > 0) book(c, overlap.pattern(), lost);
  }
  overlap.pass(now);
}

void Computation::refresh(std::int32_t c) {
  Chip& chip = chips_[c];
  ComputationProgress& progress = chip.progress;
  progress.own = chip.own;
  progress.pace = overlap_of(c).pace();
  if (progress.pace == chip.pace_before) {
    progress.end = chip.end_before;
  } else {
    progress.foresee();
  }
  foresee_later(c);
}

// Where two patterns at most are to be charged for what it loses, which is so most often, the end need not
// follow the progress again.
void Computation::foresee(std::int32_t c) {
  Chip& chip = chips_[c];
  chip.unforeseen = false;
  const Overlap overlap = overlap_of(c);
  if (overlap.known_only()) {
    const auto under_way = std::count_if(overlap.known.begin(), overlap.known.end(),
                                         [](const CollectiveAhead& each) { return !each.over(); });
    if (under_way == 1) return foresee_beside(c, *first_of(overlap.known).first);
    if (under_way == 0 && chip.progress.pace == 1) {
      charge(c, {});
      event_queue_.set(c, chip.progress.end);
      return;
    }
  }
  passed_.clear();
  for (const CollectiveAhead& each : overlap.known) passed_.push_back(each.passed);
  ComputationProgress progress = chip.progress;
  Charges charges;
  const auto foreseeing = [&](std::int32_t pattern, Time lost) { charges.add(pattern, lost); };
  overlap.follow(progress, Time::max(), foreseeing);
  const Time end = progress.end, lost = progress.settle(end);
  if (lost.ps > 0) foreseeing(overlap.pattern(), lost);
  for (std::size_t i = 0; i < passed_.size(); ++i)
    if (overlap.known[i].passed != passed_[i]) overlap.known[i].go_to(passed_[i]);
  charge(c, charges);
  event_queue_.set(c, end);
}

void Computation::foresee_beside(std::int32_t c, CollectiveAhead only) {
  Chip& chip = chips_[c];
  ComputationProgress progress = chip.progress;
  Time lost = progress.follow(only, chip.slowdown, Time::max());
  const Time end = progress.end;
  lost += progress.settle(end);
  Charges charges;
  if (lost.ps > 0) charges.add(only.pattern, lost);
  charge(c, charges);
  event_queue_.set(c, end);
}

void Computation::charge(std::int32_t c, const Charges& charges) {
  Chip& chip = chips_[c];
  chip.charged = charges.more ? kMore : charges.second != kNone ? kTwo : charges.first;
  chip.lost_ahead = charges.lost_to_first;
  if (chip.charged == kTwo) charges_[c] = charges;
}

}  // namespace podsim
