// Follows computations over the instants at which their pace may change.
#include "scheduler/simulation/loop/computation.h"

#include <algorithm>
#include <array>

#include "engine/rounding.h"
#include "scheduler/simulation/logical_processes/lp_advance.h"

namespace podsim {
namespace {

// Most collectives of known times on a chip at once: one on each queue, and one that a neighbour sends on it.
constexpr std::size_t kMostBeside = 2 * kNetworkStreams;
constexpr std::size_t kMostAhead = kMostBeside + kNetworkStreams * LpAdvance::kMostEndings;

}  // namespace

Computation::Computation(const System& system, const SimulateOptions& options, const StreamOperations& lists,
                         const LogicalProcesses& processes, IndexedEventQueue& event_queue,
                         Accounts& accounts)
    : system_(system),
      event_queue_(event_queue),
      accounts_(accounts),
      jitter_(options.jitter),
      least_draw_(jitter_.least()),
      chips_(system.chips.size()),
      charges_(chips_.size()),
      transfers_of_(system.chips.size() * system.patterns.size(), 0) {
  std::size_t most_inner = 0;
  for (std::size_t p = 0; p < system.step.stages.size(); ++p) {
    const std::span<const StreamList> program = lists.lists_of(static_cast<int>(p));
    most_beside_ = std::max(most_beside_, 2 * program.size());
    std::size_t inner = 0;
    for (const StreamList& queue : program)
      if (processes.any() && LpAdvance::follows(queue, processes))
        inner += static_cast<std::size_t>(queue.most_unfinished);
    most_inner = std::max(most_inner, inner);
  }
  most_ahead_ = std::max<std::size_t>(most_beside_ + most_inner, kFewAhead);  // expect() adds so many unasked
  for (std::size_t c = 0; c < chips_.size(); ++c) {
    const StageProgram& program = system.step.stages[system.chips[c].program];
    chips_[c].slowdown = 1 + program.interference;
    chips_[c].scale = scale_of(static_cast<std::int32_t>(c));
    chips_[c].changing = system.chips[c].profile >= 0;
  }
  ahead_.resize(chips_.size() * most_ahead_);
  if (options.jitter == 0) return;
  for (const ChipClass& chip : system.chips)
    streams_.emplace_back(options.seed, RandomPurpose::kJitter,
                          static_cast<std::uint64_t>(chip.representative));
  draws_.resize(streams_.size());
}

double Computation::scale_of(std::int32_t c) const {
  const ChipClass& chip = system_.chips[c];
  return (1 + system_.step.stages[chip.program].skew) / chip.speed;
}

// Of the first computations it is known how long they take: their draws have been made.
Time Computation::least_length(std::int32_t c, const Instruction* at, Lookahead::Work work) {
  if (work.computations == 0) return {};
  const std::int32_t computations = work.computations;
  double least = 0;
  if (draws()) {
    if (chips_[c].known == 0) make_draws(c);
    const Chip& chip = chips_[c];
    const std::int32_t known = std::min(static_cast<std::int32_t>(chip.known), computations);
    for (std::int32_t i = 0; i < known;) {
      if ((++at)->kind != Instruction::Kind::kCompute) continue;
      const std::size_t draw = chip.drawn + static_cast<std::size_t>(i++);
      least += static_cast<double>(at->duration.ps) * draws_[c].ahead[draw % Lognormal::kDraws];
      work.duration -= at->duration;
    }
  }
  least = (least + static_cast<double>(work.duration.ps) * least_draw_) * chips_[c].scale;
  return {std::max<std::int64_t>(0, static_cast<std::int64_t>(least) - computations)};  // each is rounded
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
    drop_over(c, now);
    refresh(c, now);
  } else {
    chip.progress.end = now + duration;
    charge(c, {});
    event_queue_.set(c, chip.progress.end);
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

// Takes the chip to now. Whether a transfer begins or ends then.
bool Computation::settle_at_instant(std::int32_t c, Time now) {
  if (next_instant(ahead_of(c)) > now) return false;
  Chip& chip = chips_[c];
  follow(chip, chip.progress, ahead_of(c), now,
         [&](std::int32_t pattern, Time lost) { book(c, pattern, lost); });
  if (next_instant(ahead_of(c)) > now) return false;
  touch(c, now);
  return true;
}

Time Computation::run(std::int32_t c, const Run& run) {
  Chip& chip = chips_[c];
  std::int64_t instants = 0;
  Time free;  // of those before
  bool beside = false, several = false;
  for (const CollectiveAhead& each : ahead_of(c)) {
    if (each.last <= run.now) continue;
    instants += each.count;
    several = several || (beside && (each.passed > 0 || each.next <= free));
    free = each.last;
    beside = true;
  }
  if (!surely_ends(chip, run, instants)) return Time::max();
  chip.lost = {};
  if (!beside) return run.now + run.length;
  return several ? run_beside_several(c, run.now, run.length) : run_beside_one_by_one(c, run.now, run.length);
}

// Beside collectives of which one ends before the next one begins.
Time Computation::run_beside_one_by_one(std::int32_t c, Time now, Time duration) {
  ComputationProgress progress{duration, now, now + duration};
  for (CollectiveAhead& each : ahead_of(c))
    if (each.last > now && !goes_past(c, progress, each) && ends_amid(c, progress, each)) break;
  return progress.end;
}

// Takes a computation that has just begun to its end, or over the collective. Whether it ends before that is
// over.
bool Computation::ends_amid(std::int32_t c, ComputationProgress& progress, CollectiveAhead& each) {
  const double slowdown = chips_[c].slowdown;
  each.pass(progress.updated);
  if (each.drains()) progress.go_on_at(slowdown);
  Time lost = progress.follow(each, slowdown, Time::max());
  const bool ends = !each.over();
  if (ends) lost += progress.settle(progress.end);
  book(c, each.pattern, lost);
  return ends;
}

// The same of a collective of which so many edges are known to have passed.
bool Computation::ends_amid(std::int32_t c, ComputationProgress& progress, CollectiveAhead each,
                            std::uint32_t& passed) {
  each.go_to(passed);
  const bool ends = ends_amid(c, progress, each);
  passed = each.passed;
  return ends;
}

Time Computation::run_beside_several(std::int32_t c, Time now, Time duration) {
  const Chip& chip = chips_[c];
  drop_over(c, now);
  const std::span<CollectiveAhead> ahead = ahead_of(c);
  ComputationProgress progress{duration, now, {}, pace(chip, ahead)};
  progress.end = now + ComputationProgress::scaled(duration, progress.pace);
  const auto booking = [&](std::int32_t pattern, Time lost) { book(c, pattern, lost); };
  follow(chip, progress, ahead, Time::max(), booking);
  const Time end = progress.end, lost = progress.settle(end);
  if (lost.ps > 0) book(c, pattern_charged(chip, ahead), lost);
  return end;
}

Time Computation::end(std::int32_t c, Time now) {
  Chip& chip = chips_[c];
  if (chip.charged == kMore) {
    touch(c, now);
  } else if (chip.charged == kTwo) {
    book(c, charges_[c].first, charges_[c].lost_to_first);
    book(c, charges_[c].second, charges_[c].lost_to_second);
  } else if (chip.charged != kNone) {
    book(c, chip.charged, chip.lost_ahead);
  }
  chip.computing = false;
  return chip.lost;
}

// Books what the computation has done by now.
void Computation::touch(std::int32_t c, Time now) {
  Chip& chip = chips_[c];
  const std::span<CollectiveAhead> ahead = ahead_of(c);
  const auto booking = [&](std::int32_t pattern, Time lost) { book(c, pattern, lost); };
  follow(chip, chip.progress, ahead, now, booking);
  if (chip.progress.updated < now) {
    chip.pace_before = chip.progress.pace;
    chip.end_before = chip.progress.end;
    const Time lost = chip.progress.settle(now);
    if (lost.ps > 0) book(c, pattern_charged(chip, ahead), lost);
  }
  pass(ahead, now);
}

// The pace from now on.
void Computation::refresh(std::int32_t c, Time now) {
  Chip& chip = chips_[c];
  ComputationProgress& progress = chip.progress;
  progress.own = chip.own;
  progress.pace = pace(chip, ahead_of(c));
  progress.end = progress.pace == chip.pace_before
                     ? chip.end_before
                     : now + ComputationProgress::scaled(progress.left, progress.pace);
  foresee_later(c);
}

// Finds when the computation ends if nothing starts or ends beside it but what is known. Where two patterns
// at most are charged for what it loses, which is so most often, the end need not follow the progress again.
void Computation::foresee(std::int32_t c) {
  Chip& chip = chips_[c];
  chip.unforeseen = false;
  const std::span<CollectiveAhead> ahead = ahead_of(c);
  if (chip.transfers == 0 && chip.own == 1) {
    const auto under_way =
        std::count_if(ahead.begin(), ahead.end(), [](const CollectiveAhead& each) { return !each.over(); });
    if (under_way == 1) return foresee_beside(c, *first_of(ahead).first);
    if (under_way == 0 && chip.progress.pace == 1) {
      charge(c, {});
      event_queue_.set(c, chip.progress.end);
      return;
    }
  }
  std::array<std::uint32_t, kMostAhead> passed;  // of each, to go back to
  for (std::size_t i = 0; i < ahead.size(); ++i) passed[i] = ahead[i].passed;
  ComputationProgress progress = chip.progress;
  Charges charges;
  const auto foreseeing = [&](std::int32_t pattern, Time lost) { charges.add(pattern, lost); };
  follow(chip, progress, ahead, Time::max(), foreseeing);
  const Time end = progress.end, lost = progress.settle(end);
  if (lost.ps > 0) foreseeing(pattern_charged(chip, ahead), lost);
  for (std::size_t i = 0; i < ahead.size(); ++i)
    if (ahead[i].passed != passed[i]) ahead[i].go_to(passed[i]);
  charge(c, charges);
  event_queue_.set(c, end);
}

// The same where one collective alone may change the pace, which is so most often.
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

// What the computation will have lost when it ends.
void Computation::charge(std::int32_t c, const Charges& charges) {
  Chip& chip = chips_[c];
  chip.charged = charges.more ? kMore : charges.second != kNone ? kTwo : charges.first;
  chip.lost_ahead = charges.lost_to_first;
  if (chip.charged == kTwo) charges_[c] = charges;
}

// Takes the computation over the known instants before `until` and before its end.
template <class Book>
void Computation::follow(const Chip& chip, ComputationProgress& progress, std::span<CollectiveAhead> ahead,
                         Time until, Book&& book) const {
  const bool beside_known_only = chip.transfers == 0 && chip.own == 1;
  for (;;) {
    const FirstAhead first = first_of(ahead);
    if (first.next >= std::min(progress.end, until)) return;
    if (first.only() && beside_known_only) {
      const Time limit = std::min(until, first.until);
      first.others_drain ? follow_beside_others(progress, ahead, *first.first, limit, book)
                         : follow_alone(chip, progress, *first.first, limit, book);
      continue;
    }
    const Time lost = progress.settle(first.next);
    if (lost.ps > 0) book(pattern_charged(chip, ahead), lost);
    pass(ahead, first.next);
    progress.go_on_at(pace(chip, ahead));
  }
}

// Until then `only` alone may change the pace.
template <class Book>
void Computation::follow_alone(const Chip& chip, ComputationProgress& progress, CollectiveAhead& only,
                               Time until, Book&& book) {
  Time lost;
  if (only.last < until && progress.go_past(only, lost)) {
    only.go_to(only.count);
  } else {
    lost = progress.follow(only, chip.slowdown, until);
  }
  if (lost.ps > 0) book(only.pattern, lost);
}

// Until then transfers of `only` begin and end, while others drain.
template <class Book>
void Computation::follow_beside_others(ComputationProgress& progress, std::span<const CollectiveAhead> ahead,
                                       CollectiveAhead& only, Time until, Book&& book) {
  std::int32_t others = INT32_MAX;
  for (const CollectiveAhead& each : ahead)
    if (each.drains() && &each != &only) others = std::min(others, each.pattern);
  const ComputationProgress::Lost lost = progress.follow_beside_others(only, until);
  if (lost.others.ps > 0) book(others, lost.others);
  if (lost.together.ps > 0) book(std::min(others, only.pattern), lost.together);
}

double Computation::pace(const Chip& chip, std::span<const CollectiveAhead> ahead) const {
  bool drains = chip.transfers > 0;
  for (const CollectiveAhead& each : ahead) drains = drains || each.drains();
  return (drains ? chip.slowdown : 1) * chip.own;
}

// What a computation loses to transfers is their exposed time; of several at once the first pattern is
// charged.
std::int32_t Computation::pattern_charged(const Chip& chip, std::span<const CollectiveAhead> ahead) const {
  auto first = static_cast<std::int32_t>(system_.patterns.size());
  for (const CollectiveAhead& each : ahead)
    if (each.drains()) first = std::min(first, each.pattern);
  if (chip.transfers == 0) return first;
  const std::int32_t* of = &transfers_of_[(&chip - chips_.data()) * system_.patterns.size()];
  for (std::int32_t pattern = 0; pattern < first; ++pattern)
    if (of[pattern] > 0) return pattern;
  return first;
}

}  // namespace podsim
