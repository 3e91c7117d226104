// How fast chips compute: speed, random jitter, and transfers that run beside computation.
//
// Rule. While a chip takes part in a transfer it computes 1 / (1 + interference) as fast. What is left of a
// computation, at full speed and in whole picoseconds, is settled at every instant at which a transfer of the
// chip begins or ends; its end is foreseen when it begins and whenever its pace has changed over such an
// instant, all changes at the instant taken together. The order of what happens at one instant is therefore
// of no consequence. Where the chip's speed changes over time, each change is such an instant too; the part
// that it has done by then is rounded to the nearest picosecond at full speed.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "engine/cache.h"
#include "engine/indexed_event_queue.h"
#include "engine/random.h"
#include "engine/rounding.h"
#include "scheduler/simulation/logical_processes/lockstep.h"
#include "scheduler/simulation/logical_processes/logical_processes.h"
#include "scheduler/simulation/logical_processes/lookahead.h"
#include "scheduler/simulation/state/accounts.h"
#include "scheduler/simulation/state/computation_progress.h"
#include "scheduler/simulation/state/simulate_options.h"
#include "scheduler/simulation/state/stream_operations.h"
#include "scheduler/simulation/state/uncontended_collectives.h"

namespace podsim {

// At most one computation of each chip class at a time. Its end is the event of slot `chip`. Transfers whose
// times are not known ahead tell of each begin and end; collectives that run alone are told once, and the
// pace is foreseen over all their phases.
class Computation {
 public:
  // REQUIRES: all of them outlive this object.
  Computation(const System& system, const SimulateOptions& options, const StreamOperations& lists,
              const LogicalProcesses& processes, IndexedEventQueue& event_queue, Accounts& accounts);

  // How long a computation takes, whose duration is on a chip of speed 1 without jitter, with the wait for
  // slower hosts and a draw of its own under jitter.
  Time draw_length(std::int32_t chip, Time duration) {
    const double scale = chips_[chip].scale;
    return nearest(static_cast<double>(duration.ps) * (draws() ? scale * draw(chip) : scale));
  }
  bool draws() const { return !streams_.empty(); }

  // The computations of `work`, which come after `at` one after another, take no less than this together from
  // now on.
  Time least_length(std::int32_t chip, const Instruction* at, Lookahead::Work work);

  // From now on all that the chip computes takes this much longer than the system says.
  void vary(std::int32_t chip, double factor) { chips_[chip].scale = scale_of(chip) * factor; }

  // A computation of this length at full speed.
  void begin(std::int32_t chip, Time now, Time duration) { start(chip, now, duration, false); }

  // A pause of this length, whatever the transfers beside it.
  void begin_pause(std::int32_t chip, Time now, Time duration) { start(chip, now, duration, true); }

  // A transfer of the pattern begins (+1) or ends (-1) on the chip; what it computes goes on at the new pace.
  void change_transfers(std::int32_t chip, std::int32_t pattern, int difference, Time now);

  // How much slower the chip computes while a transfer of its runs.
  double slowdown(std::int32_t chip) const { return chips_[chip].slowdown; }
  bool slowed_by_transfers(std::int32_t chip) const { return slowdown(chip) > 1; }

  // A collective of known times starts.
  void start_known(std::int32_t chip, const KnownCollective& known, Time now);

  // One of which nothing has passed is to start some time after `settled`, up to which all is known that
  // concerns the chip.
  void expect(std::int32_t chip, const CollectiveAhead& collective, Time settled) {
    Chip& c = chips_[chip];
    if (c.slowdown == 1) return;
    if (c.hindered() || c.ahead >= kFewAhead) return expect_among(chip, collective, settled);
    ahead_[chip * most_ahead_ + c.ahead++] = collective;
  }
  // Whether a collective of a shared stream may be, with all those of inner streams that may yet come.
  bool may_expect(std::int32_t chip, Time settled) const {
    const std::span<const CollectiveAhead> ahead = ahead_of(chip);
    const auto under_way = std::count_if(ahead.begin(), ahead.end(), [&](const CollectiveAhead& each) {
      return !each.over() && each.last > settled;
    });
    return static_cast<std::size_t>(under_way) < most_beside_;
  }

  // From now on they are not known; what happens at this instant is told. `draining`: one of its transfers
  // has begun before now and does not end now.
  void forget_known(std::int32_t chip, std::int32_t rendezvous, bool draining, Time now);

  // Loads what the chip's next event needs.
  void fetch_chip(std::int32_t chip) const {
    fetch(chips_[chip]);
    fetch(&ahead_[chip * most_ahead_], 2 * sizeof(CollectiveAhead));
    if (!draws_.empty()) fetch(draws_[chip]);
  }

  // Loads slowdown(chip).
  void fetch_pace(std::int32_t chip) const { fetch(chips_[chip].slowdown); }

  // From now on the chip computes at this share of its speed; so does what it is computing.
  void change_speed(std::int32_t chip, double factor, Time now);

  // Sets the ends of computations whose progress has changed since the last call. To be called before the
  // event queue is asked what is next: several changes at an instant cost one foresight.
  void foresee() {
    for (const std::int32_t chip : unforeseen_)
      if (chips_[chip].unforeseen) foresee(chip);
    unforeseen_.clear();
  }

  bool under_way(std::int32_t chip) const { return chips_[chip].computing; }

  // When what the chip computes ends, as far as it is known. REQUIRES: it computes, and its slot is apart.
  Time foreseen_end(std::int32_t chip) {
    if (chips_[chip].unforeseen) foresee(chip);
    return event_queue_.time_apart(static_cast<std::size_t>(chip));
  }

  // A computation of this length at full speed, which begins `now`.
  struct Run {
    Time now, length, horizon;
  };
  // Goes through a computation that surely ends by the horizon, whatever known collectives run beside it, and
  // says when it ends; what it loses is booked, and is lost(). Of another one nothing is done: Time::max().
  Time run(std::int32_t chip, const Run& run);
  // The same beside collectives that are common to the chip's group, and none that it has been told of.
  // Takes the chip past those that are over.
  Time run(std::int32_t chip, const Run& run, const CommonCollectives& common,
           CommonCollectives::Progress& passed) {
    Chip& c = chips_[chip];
    common.go_to(passed, run.now);
    if (!surely_ends(c, run, common.edges())) return Time::max();
    c.lost = {};
    ComputationProgress progress{run.length, run.now, run.now + run.length};
    for (; passed.first < common.count(); passed = {passed.first + 1, 0}) {
      const CollectiveAhead& next = common[passed.first];
      if (!goes_past(chip, progress, next) && ends_amid(chip, progress, next, passed.passed)) break;
    }
    return progress.end;
  }
  // When all collectives that the chip has been told of are over.
  Time beside_until(std::int32_t chip) const {
    Time until{};
    for (const CollectiveAhead& each : ahead_of(chip)) until = std::max(until, each.last);
    return until;
  }
  Time lost(std::int32_t chip) const { return chips_[chip].lost; }

  // The chip's computation is over. What it lost to transfers beside it, booked already.
  Time end(std::int32_t chip, Time now);

  // Of state_capture.h. Transfers of times not known ahead are those of the links.
  template <class Visitor>
  void visit(Visitor& state, Time now) {
    for (std::size_t c = 0; c < chips_.size(); ++c) {
      Chip& chip = chips_[c];
      state.fixed(chip.computing + 2 * chip.pausing);
      if (chip.computing) visit_progress(state, chip);
      if (chip.computing && chip.charged == kTwo) {
        state.fixed(charges_[c].second);
        state.fixed(charges_[c].lost_to_second);
      }
      const std::span<CollectiveAhead> ahead = ahead_of(static_cast<std::int32_t>(c));
      if (!chip.hindered()) pass(ahead, now);
      for (CollectiveAhead& each : ahead) {
        state.fixed(each.over());
        if (each.over()) continue;
        state.fixed(each.rendezvous);
        state.fixed(each.passed);
        state.moving(each.start);
        each.start_at(each.start);
        each.go_to(each.passed);
      }
    }
  }

 private:
  static constexpr std::int32_t kNone = -1, kTwo = -2, kMore = -3;
  struct alignas(kCacheLine) Chip {
    bool computing = false;
    bool pausing = false;
    std::int32_t ahead = 0;        // collectives of known times
    std::int32_t transfers = 0;    // of others
    std::int32_t charged = kNone;  // a pattern, or how many; see foresee
    ComputationProgress progress;
    double pace_before = 0;   // the instant `updated`; 0 where the computation began then
    Time end_before;          // foreseen then
    Time lost;                // of the present computation, booked
    Time lost_ahead;          // see foresee
    double slowdown = 1;      // while a transfer runs
    double scale = 1;         // of durations
    double own = 1;           // slowdown by what changes over time
    bool changing = false;    // over time
    bool unforeseen = false;  // is in `unforeseen_`
    std::uint32_t known = 0;  // random draws of its operations that are made and not yet drawn
    std::uint64_t drawn = 0;  // of them
    bool hindered() const { return computing && !pausing && (slowdown > 1 || changing); }
  };
  static_assert(sizeof(Chip) == 2 * kCacheLine);
  static constexpr std::int32_t kFewAhead = 4;  // of which those that are over cost little
  // To which patterns a computation is foreseen to lose time, where they are two at most.
  struct Charges {
    std::int32_t first = kNone, second = kNone;
    Time lost_to_first, lost_to_second;
    bool more = false;  // than two
    void add(std::int32_t pattern, Time lost) {
      if (first == kNone) first = pattern;
      if (first == pattern) {
        lost_to_first += lost;
      } else {
        more = more || (second != kNone && second != pattern);
        second = pattern;
        lost_to_second += lost;
      }
    }
  };
  // Draws of a chip's operations made ahead, and where they come from.
  struct alignas(kCacheLine) Draws {
    std::array<double, Lognormal::kDraws> ahead;
  };
  double draw(std::int32_t c) {
    Chip& chip = chips_[c];
    if (chip.known == 0) make_draws(c);
    --chip.known;
    return draws_[c].ahead[chip.drawn++ % Lognormal::kDraws];
  }
  void make_draws(std::int32_t c) {
    jitter_.draw(streams_[c], chips_[c].drawn, draws_[c].ahead);
    chips_[c].known = Lognormal::kDraws;
  }

  template <class Visitor>
  static void visit_progress(Visitor& state, Chip& chip) {
    state.fixed(chip.charged);
    state.fixed(chip.lost);
    state.fixed(chip.lost_ahead);
    state.fixed(chip.progress.left);
    state.fixed(chip.progress.pace);
    state.moving(chip.progress.updated);
    state.moving(chip.progress.end);
    state.fixed(chip.pace_before);
    if (chip.pace_before != 0) state.moving(chip.end_before);
  }

  double scale_of(std::int32_t chip) const;
  void start(std::int32_t chip, Time now, Time duration, bool pause);
  Time run_beside_one_by_one(std::int32_t chip, Time now, Time duration);
  bool goes_past(std::int32_t chip, ComputationProgress& progress, const CollectiveAhead& each) {
    Time lost;
    if (!progress.go_past(each, lost)) return false;
    book(chip, each.pattern, lost);
    return true;
  }
  bool ends_amid(std::int32_t chip, ComputationProgress& progress, CollectiveAhead& each);
  bool ends_amid(std::int32_t chip, ComputationProgress& progress, CollectiveAhead each,
                 std::uint32_t& passed);
  // Beside no more than so many instants at which transfers begin or end: what is settled at each may be
  // rounded.
  static bool surely_ends(const Chip& chip, const Run& run, std::int64_t instants) {
    return chip.transfers == 0 && static_cast<double>(1 + run.length.ps + instants) * chip.slowdown <
                                      static_cast<double>((run.horizon - run.now).ps);
  }
  Time run_beside_several(std::int32_t chip, Time now, Time duration);
  void expect_among(std::int32_t chip, const CollectiveAhead& collective, Time settled);
  void drop_over(std::int32_t chip, Time now);
  void add(std::int32_t chip, const KnownCollective& known);
  CollectiveAhead& place(std::int32_t chip);
  template <class Wanted>
  void keep(std::int32_t chip, Wanted&& wanted);
  template <class Change>
  void change_known(std::int32_t chip, Time now, Change&& change);
  bool settle_at_instant(std::int32_t chip, Time now);
  void touch(std::int32_t chip, Time now);
  void refresh(std::int32_t chip, Time now);
  void foresee(std::int32_t chip);
  void foresee_beside(std::int32_t chip, CollectiveAhead only);
  void charge(std::int32_t chip, const Charges& charges);
  void foresee_later(std::int32_t chip) {
    if (!std::exchange(chips_[chip].unforeseen, true)) unforeseen_.push_back(chip);
  }
  template <class Book>
  void follow(const Chip& chip, ComputationProgress& progress, std::span<CollectiveAhead> ahead, Time until,
              Book&& book) const;
  template <class Book>
  static void follow_alone(const Chip& chip, ComputationProgress& progress, CollectiveAhead& only, Time until,
                           Book&& book);
  template <class Book>
  static void follow_beside_others(ComputationProgress& progress, std::span<const CollectiveAhead> ahead,
                                   CollectiveAhead& only, Time until, Book&& book);
  static Time next_instant(std::span<const CollectiveAhead> ahead) {
    Time next = Time::max();
    for (const CollectiveAhead& each : ahead) next = std::min(next, each.next);
    return next;
  }
  // REQUIRES: until < Time::max().
  static void pass(std::span<CollectiveAhead> ahead, Time until) {
    for (CollectiveAhead& each : ahead) each.pass(until);
  }
  double pace(const Chip& chip, std::span<const CollectiveAhead> ahead) const;
  std::int32_t pattern_charged(const Chip& chip, std::span<const CollectiveAhead> ahead) const;
  std::span<CollectiveAhead> ahead_of(std::int32_t chip) {
    return {&ahead_[chip * most_ahead_], static_cast<std::size_t>(chips_[chip].ahead)};
  }
  std::span<const CollectiveAhead> ahead_of(std::int32_t chip) const {
    return {&ahead_[chip * most_ahead_], static_cast<std::size_t>(chips_[chip].ahead)};
  }
  void book(std::int32_t chip, std::int32_t pattern, Time lost) {
    if (lost.ps == 0) return;
    chips_[chip].lost += lost;
    accounts_.slow_down(chip, pattern, lost);
  }
  void count_transfer(std::int32_t chip, std::int32_t pattern, int difference) {
    chips_[chip].transfers += difference;
    transfers_of_[chip * system_.patterns.size() + pattern] += difference;
  }

  const System& system_;
  IndexedEventQueue& event_queue_;
  Accounts& accounts_;
  const Lognormal jitter_;
  const double least_draw_;
  std::vector<RandomStream> streams_;  // [chip], empty without jitter
  std::vector<Draws> draws_;           // of each stream
  std::vector<Chip> chips_;
  std::vector<Charges> charges_;            // [chip] where Chip::charged is kTwo
  std::vector<std::int32_t> unforeseen_;    // whose progress has changed
  std::size_t most_beside_ = 1;             // collectives of known times of a chip at once
  std::size_t most_ahead_ = 1;              // and of its inner streams, where they are known ahead
  std::vector<CollectiveAhead> ahead_;      // [chip * most_ahead_ + i]
  std::vector<std::int32_t> transfers_of_;  // [chip * patterns + pattern]
};

}  // namespace podsim
