// Computations, and what chips do by themselves.
#pragma once

#include "scheduler/simulation/loop/computation.h"
#include "scheduler/simulation/loop/solo_runs.h"

namespace podsim {

// Computation that tells solo runs of what drains beside them.
class SoloComputation : public Computation {
 public:
  using Computation::Computation;

  // REQUIRES: it outlives this, and before anything else is asked.
  void attend(SoloRuns& runs) { runs_ = &runs; }

  void change_transfers(std::int32_t chip, std::int32_t pattern, int difference, Time now) {
    Computation::change_transfers(chip, pattern, difference, now);
    if (concerns(chip)) runs_->change_transfers(chip, pattern, difference);
  }
  void start_known(std::int32_t chip, const KnownCollective& known, Time now) {
    Computation::start_known(chip, known, now);
    if (concerns(chip)) runs_->start_known(chip, known);
  }
  void forget_known(std::int32_t chip, std::int32_t rendezvous, bool draining, Time now) {
    Computation::forget_known(chip, rendezvous, draining, now);
    if (concerns(chip)) runs_->forget_known(chip, rendezvous);
  }
  void foresee() {
    Computation::foresee();
    runs_->foresee();
  }

  // Whether the chip goes on by itself from here. REQUIRES: it computes nothing.
  bool begin_run(std::int32_t chip, Time now);

 private:
  bool concerns(std::int32_t chip) const { return runs_->running(chip) && slowed_by_transfers(chip); }

  SoloRuns* runs_ = nullptr;
  std::vector<DrainBeside> beside_;
};

inline bool SoloComputation::begin_run(std::int32_t c, Time now) {
  if (!runs_->may_begin(c)) return false;
  beside_.clear();
  const Overlap overlap = overlap_of(c);
  overlap.pass(now);
  for (const CollectiveAhead& each : overlap.known)
    for (std::uint32_t e = each.passed / 2 * 2; e + 1 < each.count; e += 2)
      beside_.push_back({each.start + each.edges[e].after, each.start + each.edges[e + 1].after, each.pattern,
                         each.rendezvous});
  for (std::int32_t pattern = 0; overlap.others != nullptr && pattern < overlap.patterns; ++pattern)
    for (std::int32_t i = 0; i < overlap.others[pattern]; ++i) beside_.push_back({now, Time::max(), pattern});
  runs_->begin(c, beside_);
  return true;
}

}  // namespace podsim
