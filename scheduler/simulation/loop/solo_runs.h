// What a chip does by itself for a while, as one event: computations, and collectives between chips of its
// class on links that nobody else loads.
//
// Rule. A *leg* is a run of such instructions by whose end the chip has waited for all that it has launched
// in it. Its length follows from what drains on the chip's links beside it, so a chip that begins a leg with
// its streams idle and its host in time has one event, at the end of all legs that follow each other; what
// happens beside it is noted, and the end foreseen anew. Legs that are over are booked, with the arithmetic
// of computation.h: the same times to the picosecond. Beside no other transfer, or beside one throughout, a
// leg is worked out once.
//
// Where transfers between stages load links of its collectives, a leg goes so only while none of them is
// under way, and ends before the next one may begin: each computation of the chip that sends it takes its
// length at least.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "scheduler/simulation/loop/legs.h"
#include "scheduler/simulation/loop/rehearsal.h"
#include "scheduler/simulation/loop/solo_legs.h"
#include "scheduler/simulation/state/computation_progress.h"
#include "scheduler/simulation/state/step_state.h"

namespace podsim {

// Carries out legs for the chips of an ordered loop.
class SoloRuns {
 public:
  // off: chips never have any. REQUIRES: both outlive this object.
  SoloRuns(StepState& state, SoloLegs& legs, bool on);

  bool running(std::int32_t chip) const { return !runs_.empty() && runs_[chip].legs != nullptr; }

  // Whether the chip, which is at an instruction, does enough by itself from there on. Then begins it, beside
  // these drains.
  bool may_begin(std::int32_t chip);
  void begin(std::int32_t chip, std::span<const DrainBeside> beside);  // right after it

  // Of a chip that runs: a transfer of times not known ahead begins (+1) or ends (-1); one of known times
  // starts; its times are known no longer.
  void change_transfers(std::int32_t chip, std::int32_t pattern, int difference);
  void start_known(std::int32_t chip, const KnownCollective& known);
  void forget_known(std::int32_t chip, std::int32_t rendezvous);

  // Sets the ends of what is beside other transfers than when they were set. Before the queue is asked.
  void foresee();

  // The chip's event: all of it is over, and the chip is at what comes then.
  void end(std::int32_t chip);

  std::int64_t begun() const { return begun_; }
  std::int64_t begun_between_transfers() const { return begun_between_transfers_; }

  // Of state_capture.h.
  template <class Visitor>
  void visit(Visitor& state) {
    for (Run& run : runs_) {
      state.fixed(run.legs);
      if (run.legs == nullptr) continue;
      state.fixed(run.leg);
      state.fixed(run.last);
      state.moving(run.begin);
      for (DrainBeside& each : run.beside) {
        state.fixed(each.pattern);
        state.fixed(each.rendezvous);
        state.moving(each.begin);
        state.moving(each.end);
      }
    }
  }

 private:
  struct Run {
    SegmentLegs* legs = nullptr;  // none while the chip goes from event to event
    std::int32_t leg = 0, last = 0;
    Time begin;  // of the leg
    double interference = 0;
    bool unforeseen = false;
    std::vector<DrainBeside> beside;  // what of it drains behind `begin`
    // Legs gone through beside `beside` as it is now; those behind `rehearsed` are room for more.
    std::vector<std::pair<std::int32_t, LegOutcome>> rehearsals;
    std::size_t rehearsed = 0;
  };

  std::int32_t segment_of(std::int32_t chip) const;      // that it is in
  const Instruction* first_of(std::int32_t chip) const;  // of that segment
  SegmentLegs& legs_of(std::int32_t chip);               // of that segment
  // Behind the last of the legs from this one on, as far as they follow each other, that is over before a
  // transfer between stages may load links of theirs.
  std::int32_t last_undisturbed(std::int32_t chip, SegmentLegs& segment, std::int32_t leg) const;
  // No operation of these rendezvous loads links of the chip before then.
  Time free_until(std::int32_t chip, std::span<const std::int32_t> rendezvous) const;
  Time earliest_launch(std::int32_t chip, std::int32_t source, Stream stream) const;
  // All that is left from that leg on, which begins then, goes alone. How long all before a leg take alone.
  static bool alone_from(const Run& run, std::int32_t leg, Time begin);
  static Time alone_before(const Run& run, std::int32_t leg) {
    return run.legs->sums().length[static_cast<std::size_t>(leg)];
  }
  // The leg as it goes from then on, beside what is known to drain. Valid until the next call.
  const LegOutcome& outcome(std::int32_t chip, std::int32_t leg, Time begin);
  const LegOutcome& rehearsed(std::int32_t chip, std::int32_t leg, Time begin);
  void book_until(std::int32_t chip, Time now);
  void book(std::int32_t chip, const Leg& leg, const LegOutcome& outcome, Time begin);
  void book_alone(std::int32_t chip, std::int32_t from, std::int32_t to, Time begin);
  void go_host(RunningChip& chip, const LegOutcome& outcome, Time begin, Time end) const;
  void foresee_later(std::int32_t chip);

  StepState& state_;
  SoloLegs& legs_;
  std::vector<Run> runs_;  // [chip]; none where it is off
  std::vector<std::int32_t> unforeseen_;
  std::int32_t last_ = -1;  // of the run that may begin
  std::int64_t begun_ = 0, begun_between_transfers_ = 0;
  RehearsalBuffers buffers_;
  std::vector<DrainBeside> near_;                       // scratch of rehearsed()
  std::vector<std::pair<std::int32_t, Time>> exposed_;  // scratch of book_alone()
};

}  // namespace podsim
