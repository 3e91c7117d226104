// Goes through computations at once, over all that is known to run beside them.
#include "scheduler/simulation/logical_processes/lp_computation.h"

#include "engine/check.h"
#include "scheduler/simulation/logical_processes/lp_advance.h"

namespace podsim {

LpComputation::LpComputation(const System& system, const SimulateOptions& options,
                             const StreamOperations& lists, const LogicalProcesses& processes,
                             IndexedEventQueue& event_queue, Accounts& accounts)
    : Computation(system, options, lists, most_ahead(system, lists, processes), event_queue, accounts),
      most_beside_(most_beside(system, lists)) {}

std::size_t LpComputation::most_ahead(const System& system, const StreamOperations& lists,
                                      const LogicalProcesses& processes) {
  std::size_t most = kFewKnown;  // expect() adds so many unasked
  for (std::size_t p = 0; p < system.step.stages.size(); ++p) {
    std::size_t inner = 0;
    for (const StreamList& queue : lists.lists_of(static_cast<int>(p)))
      if (LpAdvance::follows(queue, processes)) inner += static_cast<std::size_t>(queue.most_unfinished);
    most = std::max(most, inner);
  }
  return most;
}

// Of the first computations it is known how long they take: their draws have been made.
Time LpComputation::least_length(std::int32_t c, const Instruction* at, Lookahead::Work work) {
  if (work.computations == 0) return {};
  Chip& chip = chips_[c];
  const std::int32_t known = draws() ? std::min(draws_.known(c, chip.draws), work.computations) : 0;
  double least = 0;
  for (std::int32_t i = 0; i < known;) {
    if ((++at)->kind != Instruction::Kind::kCompute) continue;
    least += static_cast<double>(at->duration.ps) * draws_.peek(c, chip.draws, i++);
    work.duration -= at->duration;
  }
  least = (least + static_cast<double>(work.duration.ps) * draws_.least()) * chip.scale;
  least = std::min(least, static_cast<double>(kLongestStep.ps));
  // Each is rounded.
  return {std::max<std::int64_t>(0, static_cast<std::int64_t>(least) - work.computations)};
}

void LpComputation::expect_among(std::int32_t c, const CollectiveAhead& collective, Time settled) {
  Chip& chip = chips_[c];
  if (chip.hindered()) return start_known(c, collective.whole(), std::max(settled, chip.progress.updated));
  known_.keep(c, chip.known, [&](const CollectiveAhead& each) { return each.last > settled; });
  known_.add(c, chip.known) = collective;
}

Time LpComputation::run(std::int32_t c, const Run& run) {
  Chip& chip = chips_[c];
  std::int64_t instants = 0;
  Time free;  // of those before
  bool beside = false, several = false;
  for (const CollectiveAhead& each : known_of(c)) {
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
Time LpComputation::run_beside_one_by_one(std::int32_t c, Time now, Time duration) {
  ComputationProgress progress{duration, now, now + duration};
  for (CollectiveAhead& each : known_of(c))
    if (each.last > now && !goes_past(c, progress, each) && ends_amid(c, progress, each)) break;
  return progress.end;
}

// Takes a computation that has just begun to its end, or over the collective. Whether it ends before that is
// over.
bool LpComputation::ends_amid(std::int32_t c, ComputationProgress& progress, CollectiveAhead& each) {
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
bool LpComputation::ends_amid(std::int32_t c, ComputationProgress& progress, CollectiveAhead each,
                              std::uint32_t& passed) {
  each.go_to(passed);
  const bool ends = ends_amid(c, progress, each);
  passed = each.passed;
  return ends;
}

Time LpComputation::run_beside_several(std::int32_t c, Time now, Time duration) {
  known_.drop_over(c, chips_[c].known, now);
  const Overlap overlap = overlap_of(c);
  ComputationProgress progress{duration, now, {}, overlap.pace()};
  progress.end = now + ComputationProgress::scaled(duration, progress.pace);
  overlap.follow(progress, Time::max(), [&](std::int32_t pattern, Time lost) { book(c, pattern, lost); });
  const Time end = progress.end, lost = progress.settle(end);
  if (lost.ps > 0) book(c, overlap.pattern(), lost);
  return end;
}

}  // namespace podsim
