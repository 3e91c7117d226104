// How fast chips compute: speed, random jitter, and transfers that run beside computation.
//
// Rule. While a chip takes part in a transfer it computes 1 / (1 + interference) as fast. What is left of a
// computation, at full speed and in whole picoseconds, is settled at every instant at which a transfer of the
// chip begins or ends; its end is foreseen when it begins and whenever its pace has changed over such an
// instant, all changes at the instant taken together. The order of what happens at one instant is therefore
// of no consequence. Where the chip's speed changes over time, each change is such an instant too; the part
// that it has done by then is rounded to the nearest picosecond at full speed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "engine/cache.h"
#include "engine/indexed_event_queue.h"
#include "engine/rounding.h"
#include "engine/time_limits.h"
#include "scheduler/simulation/loop/jitter_draws.h"
#include "scheduler/simulation/loop/known_overlap.h"
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
              IndexedEventQueue& event_queue, Accounts& accounts)
      : Computation(system, options, lists, 0, event_queue, accounts) {}

  // How long a computation takes, whose duration is on a chip of speed 1 without jitter, with the wait for
  // slower hosts and a draw of its own under jitter. Throws StepTooLong where that makes it longer than a
  // step may be, as joined() does of several.
  Time draw_length(std::int32_t c, Time duration) {
    Chip& chip = chips_[c];
    if (!draws()) return nearest(static_cast<double>(duration.ps) * chip.scale);
    const double length = static_cast<double>(duration.ps) * (chip.scale * draws_.next(c, chip.draws));
    check_computation(length * chip.slowdown);
    return nearest(length);
  }
  // Two that the chip does as one.
  Time joined(std::int32_t c, Time first, Time second) const {
    check_computation(static_cast<double>((first + second).ps) * chips_[c].slowdown);
    return first + second;
  }
  bool draws() const { return draws_.any(); }

  // From now on all that the chip computes takes this much longer than the system says.
  void vary(std::int32_t chip, double factor) { chips_[chip].scale = scale_of(chip) * factor; }

  // A computation of this length at full speed.
  void begin(std::int32_t chip, Time now, Time duration) { start(chip, now, duration, false); }

  // A pause of this length, whatever the transfers beside it.
  void begin_pause(std::int32_t chip, Time now, Time duration) { start(chip, now, duration, true); }

  // The chip's computation is over. What it lost to transfers beside it, booked already.
  Time end(std::int32_t chip, Time now);

  // A transfer of the pattern begins (+1) or ends (-1) on the chip; what it computes goes on at the new pace.
  void change_transfers(std::int32_t chip, std::int32_t pattern, int difference, Time now);

  // A collective of known times starts.
  void start_known(std::int32_t chip, const KnownCollective& known, Time now);

  // From now on they are not known; what happens at this instant is told. `draining`: one of its transfers
  // has begun before now and does not end now.
  void forget_known(std::int32_t chip, std::int32_t rendezvous, bool draining, Time now);

  // From now on the chip computes at this share of its speed; so does what it is computing.
  void change_speed(std::int32_t chip, double factor, Time now);

  // Sets the ends of computations whose progress has changed since the last call. To be called before the
  // event queue is asked what is next: several changes at an instant cost one foresight.
  void foresee() {
    for (const std::int32_t chip : unforeseen_)
      if (chips_[chip].unforeseen) foresee(chip);
    unforeseen_.clear();
  }

  // How much slower the chip computes while a transfer of its runs.
  double slowdown(std::int32_t chip) const { return chips_[chip].slowdown; }
  bool slowed_by_transfers(std::int32_t chip) const { return slowdown(chip) > 1; }

  // Loads what the chip's next event needs; what slowdown(chip) needs.
  void fetch_chip(std::int32_t chip) const {
    fetch(chips_[chip]);
    known_.fetch_chip(chip);
    draws_.fetch_chip(chip);
  }
  void fetch_pace(std::int32_t chip) const { fetch(chips_[chip].slowdown); }

  // Of state_capture.h. Transfers of times not known ahead are those of the links.
  template <class Visitor>
  void visit(Visitor& state, Time now);

 protected:
  // Most collectives of known times on a chip at once: one on each queue, and one that a neighbour sends on
  // it. Of those `more_known` more may be told before they start.
  static std::size_t most_beside(const System& system, const StreamOperations& lists);
  Computation(const System& system, const SimulateOptions& options, const StreamOperations& lists,
              std::size_t more_known, IndexedEventQueue& event_queue, Accounts& accounts);

  static constexpr std::int32_t kNone = -1, kTwo = -2, kMore = -3;
  // A chip class and what it computes.
  struct alignas(kCacheLine) Chip {
    bool computing = false;
    bool pausing = false;
    bool changing = false;         // its speed, over time
    bool unforeseen = false;       // is in `unforeseen_`
    std::int32_t known = 0;        // collectives of known times
    std::int32_t transfers = 0;    // of others
    std::int32_t charged = kNone;  // a pattern, or how many; see foresee
    ComputationProgress progress;
    double pace_before = 0;  // the instant `updated`; 0 where the computation began then
    Time end_before;         // foreseen then
    Time lost;               // of the present computation, booked
    Time lost_ahead;         // see foresee
    double slowdown = 1;     // while a transfer runs
    double scale = 1;        // of durations
    double own = 1;          // slowdown by what changes over time
    JitterDraws::Position draws;
    bool hindered() const { return computing && !pausing && (slowdown > 1 || changing); }
  };
  static_assert(sizeof(Chip) == 2 * kCacheLine);

  std::span<CollectiveAhead> known_of(std::int32_t chip) { return known_.of(chip, chips_[chip].known); }
  std::span<const CollectiveAhead> known_of(std::int32_t chip) const {
    return known_.of(chip, chips_[chip].known);
  }
  Overlap overlap_of(std::int32_t chip) {
    const Chip& of = chips_[chip];
    const auto patterns = static_cast<std::int32_t>(system_.patterns.size());
    const std::int32_t* others =
        of.transfers > 0 ? &transfers_of_[static_cast<std::size_t>(chip) * system_.patterns.size()] : nullptr;
    return {known_of(chip), others, patterns, of.slowdown, of.own};
  }
  // The present computation has lost this much to a transfer of the pattern.
  void book(std::int32_t chip, std::int32_t pattern, Time lost) {
    if (lost.ps == 0) return;
    chips_[chip].lost += lost;
    accounts_.slow_down(chip, pattern, lost);
  }
  // Finds when the computation ends if nothing starts or ends beside it but what is known.
  void foresee(std::int32_t chip);

  const System& system_;
  IndexedEventQueue& event_queue_;
  Accounts& accounts_;
  JitterDraws draws_;
  std::vector<Chip> chips_;
  KnownCollectives known_;

 private:
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

  // What durations are multiplied by, without step variation and jitter.
  double scale_of(std::int32_t chip) const;
  void start(std::int32_t chip, Time now, Time duration, bool pause);
  // Carries out a change of what is known ahead, which by itself is no begin or end of a transfer.
  template <class Change>
  void change_known(std::int32_t chip, Time now, Change&& change);
  // Takes the chip to now. Whether a known transfer begins or ends then, at which it has been settled.
  bool settle_at_instant(std::int32_t chip, Time now);
  // Books what the computation has done by now.
  void settle(std::int32_t chip, Time now);
  // The pace from now on; the end is foreseen anew where it is another than before this instant. REQUIRES:
  // the progress has been taken to now.
  void refresh(std::int32_t chip);
  // foresee() where one collective alone may change the pace, which is so most often.
  void foresee_beside(std::int32_t chip, CollectiveAhead only);
  // What the computation will have lost when it ends.
  void charge(std::int32_t chip, const Charges& charges);
  void foresee_later(std::int32_t chip) {
    if (!std::exchange(chips_[chip].unforeseen, true)) unforeseen_.push_back(chip);
  }
  void count_transfer(std::int32_t chip, std::int32_t pattern, int difference) {
    chips_[chip].transfers += difference;
    transfers_of_[chip * system_.patterns.size() + pattern] += difference;
  }

  std::vector<Charges> charges_;            // [chip] where Chip::charged is kTwo
  std::vector<std::int32_t> unforeseen_;    // whose progress has changed
  std::vector<std::int32_t> transfers_of_;  // [chip * patterns + pattern] not known ahead
  std::vector<std::uint32_t> passed_;       // scratch of foresee(): of each known collective, to go back to
};

template <class Visitor>
void Computation::visit(Visitor& state, Time now) {
  for (std::size_t c = 0; c < chips_.size(); ++c) {
    Chip& chip = chips_[c];
    state.fixed(chip.computing + 2 * chip.pausing);
    if (chip.computing) {
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
    if (chip.computing && chip.charged == kTwo) {
      state.fixed(charges_[c].second);
      state.fixed(charges_[c].lost_to_second);
    }
    const Overlap overlap = overlap_of(static_cast<std::int32_t>(c));
    if (!chip.hindered()) overlap.pass(now);
    for (CollectiveAhead& each : overlap.known) {
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

}  // namespace podsim
