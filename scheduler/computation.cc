// Follows computations over the instants at which their pace may change.
#include "scheduler/computation.h"

#include <algorithm>
#include <array>

#include "engine/check.h"
#include "engine/rounding.h"

namespace podsim {
namespace {

// Most collectives of known times on a chip at once: one on each lane, and one that a neighbour sends on it.
constexpr std::size_t kMostAhead = 2 * kNetworkStreams;

Time scaled(Time time, double factor) { return nearest(static_cast<double>(time.ps) * factor); }

}  // namespace

Computation::Computation(const System& system, const SimulateOptions& options, const Lanes& lanes,
                         Agenda& agenda, Accounts& accounts)
    : system_(system),
      agenda_(agenda),
      accounts_(accounts),
      jitter_(options.jitter),
      least_draw_(jitter_.least()),
      chips_(system.chips.size()),
      transfers_of_(system.chips.size() * system.patterns.size(), 0) {
  for (std::size_t c = 0; c < chips_.size(); ++c) {
    const StageProgram& program = system.step.stages[system.chips[c].program];
    chips_[c].slowdown = 1 + program.interference;
    chips_[c].scale = scale_of(static_cast<std::int32_t>(c));
    chips_[c].changing = system.chips[c].profile >= 0;
    most_ahead_ = std::max(most_ahead_, 2 * lanes.lanes_of(system.chips[c].program).size());
  }
  ahead_.resize(chips_.size() * most_ahead_);
  if (options.jitter == 0) return;
  for (const ChipClass& chip : system.chips)
    streams_.emplace_back(options.seed, RandomPurpose::kJitter,
                          static_cast<std::uint64_t>(chip.representative));
  draws_.resize(streams_.size());
}

// Computes until then. What was lost to transfers.
inline Time Computation::settle(Course& course, Time until) {
  const Time elapsed = until - course.updated;
  const Time done = course.pace == 1 ? elapsed : nearest(static_cast<double>(elapsed.ps) / course.pace);
  course.updated = until;
  course.left = std::max(Time{}, course.left - done);
  if (course.own == 1) return elapsed - done;
  return course.pace == course.own ? Time{} : elapsed - std::min(elapsed, scaled(done, course.own));
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
  chip.course.left = duration;
  chip.course.updated = now;
  chip.pace_before = 0;
  if (chip.hindered()) {
    drop_over(c, now);
    refresh(c, now);
  } else {
    chip.course.end = now + duration;
    chip.lost_ahead = {};
    chip.charged = kNone;
    agenda_.set(c, chip.course.end);
  }
}

void Computation::change_speed(std::int32_t c, double factor, Time now) {
  Chip& chip = chips_[c];
  const bool hindered = chip.hindered();
  if (hindered) touch(c, now);
  chip.own = 1 / factor;
  if (hindered) refresh(c, now);
}

void Computation::change_transfers(std::int32_t c, std::int32_t pattern, int difference, Time now) {
  Chip& chip = chips_[c];
  if (chip.slowdown == 1) return;
  const bool hindered = chip.hindered();
  if (hindered) touch(c, now);
  count_transfer(c, pattern, difference);
  if (hindered) refresh(c, now);
}

void Computation::start_known(std::int32_t c, const Known& known, Time now) {
  Chip& chip = chips_[c];
  if (chip.slowdown == 1) return;
  change_known(c, now, [&] {
    keep(c, [](const Ahead& each) { return !each.over(); });
    PODSIM_CHECK(static_cast<std::size_t>(chip.ahead) < most_ahead_, "a lane runs one operation at a time");
    Ahead& added = ahead_[c * most_ahead_ + chip.ahead++];
    added = {known.edges.data(), known.start, known.pattern, known.meeting,
             static_cast<std::uint32_t>(known.edges.size())};
    added.go_to(0);
  });
}

void Computation::forget_known(std::int32_t c, std::int32_t meeting, bool draining, Time now) {
  if (chips_[c].slowdown == 1) return;
  change_known(c, now, [&] {
    keep(c, [&](const Ahead& each) {
      const bool other = each.meeting != meeting;
      if (!other && draining) count_transfer(c, each.pattern, +1);
      return other;
    });
  });
}

// Collectives that are over are of no more consequence.
void Computation::drop_over(std::int32_t c, Time now) {
  pass(ahead_of(c), now);
  keep(c, [](const Ahead& each) { return !each.over(); });
}

template <class Wanted>
void Computation::keep(std::int32_t c, Wanted&& wanted) {
  const std::span<Ahead> all = ahead_of(c);
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

// Takes the chip to now. Whether a transfer begins or ends then.
bool Computation::settle_at_instant(std::int32_t c, Time now) {
  if (next_instant(ahead_of(c)) > now) return false;
  Chip& chip = chips_[c];
  follow(chip, chip.course, ahead_of(c), now,
         [&](std::int32_t pattern, Time lost) { book(c, pattern, lost); });
  if (next_instant(ahead_of(c)) > now) return false;
  touch(c, now);
  return true;
}

Time Computation::end(std::int32_t c, Time now) {
  Chip& chip = chips_[c];
  if (chip.charged == kSeveral) {
    touch(c, now);
  } else if (chip.charged != kNone) {
    book(c, chip.charged, chip.lost_ahead);
  }
  chip.computing = false;
  return chip.lost;
}

void Computation::book(std::int32_t c, std::int32_t pattern, Time lost) {
  if (lost.ps == 0) return;
  chips_[c].lost += lost;
  accounts_.slow_down(c, pattern, lost);
}

// Books what the computation has done by now.
void Computation::touch(std::int32_t c, Time now) {
  Chip& chip = chips_[c];
  const std::span<Ahead> ahead = ahead_of(c);
  const auto booking = [&](std::int32_t pattern, Time lost) { book(c, pattern, lost); };
  follow(chip, chip.course, ahead, now, booking);
  if (chip.course.updated < now) {
    chip.pace_before = chip.course.pace;
    chip.end_before = chip.course.end;
    const Time lost = settle(chip.course, now);
    if (lost.ps > 0) book(c, pattern_charged(chip, ahead), lost);
  }
  pass(ahead, now);
}

// The pace from now on.
void Computation::refresh(std::int32_t c, Time now) {
  Chip& chip = chips_[c];
  Course& course = chip.course;
  course.own = chip.own;
  course.pace = pace(chip, ahead_of(c));
  course.end = course.pace == chip.pace_before ? chip.end_before : now + scaled(course.left, course.pace);
  foresee_later(c);
}

// Finds when the computation ends if nothing starts or ends beside it but what is known. Most often one
// pattern is charged for all that it loses, `lost_ahead`, and the end need not follow the course again.
void Computation::foresee(std::int32_t c) {
  Chip& chip = chips_[c];
  chip.unforeseen = false;
  const std::span<Ahead> ahead = ahead_of(c);
  if (chip.transfers == 0 && chip.own == 1) {
    const auto under_way =
        std::count_if(ahead.begin(), ahead.end(), [](const Ahead& each) { return !each.over(); });
    if (under_way == 1) return foresee_beside(c, *only_one(chip, ahead));
    if (under_way == 0 && chip.course.pace == 1) {
      chip.charged = kNone;
      chip.lost_ahead = {};
      agenda_.set(c, chip.course.end);
      return;
    }
  }
  std::array<std::uint32_t, kMostAhead> passed;  // of each, to go back to
  for (std::size_t i = 0; i < ahead.size(); ++i) passed[i] = ahead[i].passed;
  Course course = chip.course;
  chip.charged = kNone;
  chip.lost_ahead = {};
  const auto foreseeing = [&](std::int32_t pattern, Time lost) {
    chip.charged = chip.charged == kNone || chip.charged == pattern ? pattern : kSeveral;
    chip.lost_ahead += lost;
  };
  follow(chip, course, ahead, Time::max(), foreseeing);
  const Time end = course.end, lost = settle(course, end);
  if (lost.ps > 0) foreseeing(pattern_charged(chip, ahead), lost);
  for (std::size_t i = 0; i < ahead.size(); ++i) ahead[i].go_to(passed[i]);
  agenda_.set(c, end);
}

// The same where one collective alone may change the pace, which is so most often.
void Computation::foresee_beside(std::int32_t c, Ahead only) {
  Chip& chip = chips_[c];
  Course course = chip.course;
  Time lost = follow_beside(chip, course, only, Time::max());
  const Time end = course.end;
  lost += settle(course, end);
  chip.charged = lost.ps > 0 ? only.pattern : kNone;
  chip.lost_ahead = lost;
  agenda_.set(c, end);
}

// Takes the computation over the known instants before `until` and before its end.
template <class Book>
void Computation::follow(const Chip& chip, Course& course, std::span<Ahead> ahead, Time until,
                         Book&& book) const {
  for (;;) {
    if (Ahead* only = only_one(chip, ahead)) {
      const Time lost = follow_beside(chip, course, *only, until);
      if (lost.ps > 0) book(only->pattern, lost);
      return;
    }
    const Time next = next_instant(ahead);
    if (next >= std::min(course.end, until)) return;
    const Time lost = settle(course, next);
    if (lost.ps > 0) book(pattern_charged(chip, ahead), lost);
    pass(ahead, next);
    const double changed = pace(chip, ahead);
    if (changed == course.pace) continue;
    course.pace = changed;
    course.end = next + scaled(course.left, changed);
  }
}

// The same beside the only collective that may change the pace. What it loses.
Time Computation::follow_beside(const Chip& chip, Course& course, Ahead& only, Time until) const {
  Time lost = skip(chip, course, only, until);
  while (only.next < std::min(course.end, until)) {
    const Time next = only.next;
    lost += settle(course, next);
    pass({&only, 1}, next);
    const double changed = only.drains() ? chip.slowdown : 1;
    if (changed == course.pace) continue;
    course.pace = changed;
    course.end = next + scaled(course.left, changed);
    lost += skip(chip, course, only, until);
  }
  return lost;
}

// The one collective that may change the pace, or null.
Computation::Ahead* Computation::only_one(const Chip& chip, std::span<Ahead> ahead) {
  if (chip.transfers > 0 || chip.own != 1) return nullptr;
  Ahead* only = nullptr;
  for (Ahead& each : ahead) {
    if (each.over()) continue;
    if (only) return nullptr;
    only = &each;
  }
  return only;
}

// Takes a computation that stands at an edge of the only collective beside it over those that follow before
// `until` and surely before its end, as settling at each of them would. What it loses.
Time Computation::skip(const Chip& chip, Course& course, Ahead& ahead, Time until) const {
  constexpr Time kMargin{2};  // by which rounding cannot bring the end before the edge
  if (ahead.passed == 0) return {};
  const TransferEdge *at = ahead.edges + ahead.passed - 1, *to = ahead.edges + ahead.count - 1;
  if (ahead.start + at->after != course.updated) return {};
  const auto reaches = [&](const TransferEdge& edge) {
    return course.left - (edge.done - at->done) >= kMargin && ahead.start + edge.after < until;
  };
  while (to > at && !reaches(*to)) --to;
  // Where a transfer begins as another ends the pace stays, and with it the end that was foreseen before.
  while (to > at &&
         (to[-1].after == to->after || (to + 1 < ahead.edges + ahead.count && to[1].after == to->after)))
    --to;
  if (to == at) return {};
  const Time elapsed = to->after - at->after, done = to->done - at->done;
  course.left -= done;
  course.updated += elapsed;
  ahead.go_to(ahead.passed + static_cast<std::uint32_t>(to - at));
  course.pace = ahead.drains() ? chip.slowdown : 1;
  course.end = course.updated + scaled(course.left, course.pace);
  return elapsed - done;
}

double Computation::pace(const Chip& chip, std::span<const Ahead> ahead) const {
  bool drains = chip.transfers > 0;
  for (const Ahead& each : ahead) drains = drains || each.drains();
  return (drains ? chip.slowdown : 1) * chip.own;
}

// What a computation loses to transfers is their exposed time; of several at once the first pattern is
// charged.
std::int32_t Computation::pattern_charged(const Chip& chip, std::span<const Ahead> ahead) const {
  auto first = static_cast<std::int32_t>(system_.patterns.size());
  for (const Ahead& each : ahead)
    if (each.drains()) first = std::min(first, each.pattern);
  if (chip.transfers == 0) return first;
  const std::int32_t* of = &transfers_of_[(&chip - chips_.data()) * system_.patterns.size()];
  for (std::int32_t pattern = 0; pattern < first; ++pattern)
    if (of[pattern] > 0) return pattern;
  return first;
}

}  // namespace podsim
