// Computations of chips that go through their programs ahead of events.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "scheduler/simulation/logical_processes/common_collectives.h"
#include "scheduler/simulation/logical_processes/logical_processes.h"
#include "scheduler/simulation/logical_processes/lookahead.h"
#include "scheduler/simulation/loop/computation.h"

namespace podsim {

// A computation beside which all is known that will run needs no event: it is gone through at once, with the
// picoseconds that events would give. Collectives are told before they start, as soon as it is known when.
class LpComputation : public Computation {
 public:
  // REQUIRES: all of them outlive this object.
  LpComputation(const System& system, const SimulateOptions& options, const StreamOperations& lists,
                const LogicalProcesses& processes, IndexedEventQueue& event_queue, Accounts& accounts);

  // The computations of `work`, which come after `at` one after another, take no less than this together from
  // now on.
  Time least_length(std::int32_t chip, const Instruction* at, Lookahead::Work work);

  // One of which nothing has passed is to start some time after `settled`, up to which all is known that
  // concerns the chip.
  void expect(std::int32_t chip, const CollectiveAhead& collective, Time settled) {
    Chip& c = chips_[chip];
    if (c.slowdown == 1) return;
    if (c.hindered() || c.known >= kFewKnown) return expect_among(chip, collective, settled);
    known_.add(chip, c.known) = collective;
  }
  // Whether a collective of a shared stream may be, with all those of inner streams that may yet come.
  bool may_expect(std::int32_t chip, Time settled) const {
    const std::span<const CollectiveAhead> known = known_of(chip);
    const auto under_way = std::count_if(known.begin(), known.end(), [&](const CollectiveAhead& each) {
      return !each.over() && each.last > settled;
    });
    return static_cast<std::size_t>(under_way) < most_beside_;
  }
  // When all collectives that the chip has been told of are over.
  Time beside_until(std::int32_t chip) const {
    Time until{};
    for (const CollectiveAhead& each : known_of(chip)) until = std::max(until, each.last);
    return until;
  }

  bool under_way(std::int32_t chip) const { return chips_[chip].computing; }

  // When what the chip computes ends, as far as it is known. REQUIRES: it computes, and its slot is apart.
  Time foreseen_end(std::int32_t chip) {
    if (chips_[chip].unforeseen) Computation::foresee(chip);
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
  Time lost(std::int32_t chip) const { return chips_[chip].lost; }

 private:
  static constexpr std::int32_t kFewKnown = 4;  // of which those that are over cost little
  // Of how many collectives a chip is told before they start.
  static std::size_t most_ahead(const System& system, const StreamOperations& lists,
                                const LogicalProcesses& processes);

  // Beside no more than so many instants at which transfers begin or end: what is settled at each may be
  // rounded.
  static bool surely_ends(const Chip& chip, const Run& run, std::int64_t instants) {
    return chip.transfers == 0 && static_cast<double>(1 + run.length.ps + instants) * chip.slowdown <
                                      static_cast<double>((run.horizon - run.now).ps);
  }
  bool goes_past(std::int32_t chip, ComputationProgress& progress, const CollectiveAhead& each) {
    Time lost;
    if (!progress.go_past(each, lost)) return false;
    book(chip, each.pattern, lost);
    return true;
  }
  bool ends_amid(std::int32_t chip, ComputationProgress& progress, CollectiveAhead& each);
  bool ends_amid(std::int32_t chip, ComputationProgress& progress, CollectiveAhead each,
                 std::uint32_t& passed);
  Time run_beside_one_by_one(std::int32_t chip, Time now, Time duration);
  Time run_beside_several(std::int32_t chip, Time now, Time duration);
  void expect_among(std::int32_t chip, const CollectiveAhead& collective, Time settled);

  const std::size_t most_beside_;  // collectives of known times of a chip at once
};

}  // namespace podsim
