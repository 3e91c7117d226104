// Legs move by move: what they come to beside transfers that drain at given times.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "scheduler/folding/system.h"
#include "scheduler/simulation/loop/legs.h"

namespace podsim {

// An operation of a leg: when it came to its turn on the chip, when the last member came and who that was,
// and when it is over.
struct RehearsedLaunch {
  Time reached, started, end;
  std::int32_t last = -1;
  std::int32_t behind = -1;  // the one before it on its stream
};

// What a rehearsal works on, kept from one to the next.
struct RehearsalBuffers {
  std::vector<DrainBeside> drains;
  std::vector<RehearsedLaunch> launches;  // [launch] of the leg
};

// A chip on its way through legs. Rules 6, 7, 8 and 13 of simulate.h. Times of the outcome are after a begin
// of the caller's choice, and the drains are given by times after that.
class Rehearsal {
 public:
  // REQUIRES: all of them outlive this object.
  Rehearsal(const System& system, const StageProgram& program, RehearsalBuffers& buffers, LegOutcome& outcome,
            std::vector<HostCall>* host = nullptr)
      : system_(system),
        program_(program),
        outcome_(outcome),
        host_(host),
        drains_(buffers.drains),
        launches_(buffers.launches) {}

  // Where its first leg begins, beside these transfers.
  void begin(Time at, std::span<const DrainBeside> beside) {
    outcome_.clear();
    outcome_.length = at;
    drains_.assign(beside.begin(), beside.end());
  }
  void begin_leg(const Leg& leg) { launches_.assign(static_cast<std::size_t>(leg.launches), {}); }
  // REQUIRES: it launches nothing.
  void carry_out(const LegStep& step);
  // When an operation that the chip launches now comes to its turn there.
  Time turn(const LegStep& step) const {
    return step.behind < 0 ? outcome_.length
                           : std::max(outcome_.length, launches_[static_cast<std::size_t>(step.behind)].end);
  }
  // It comes to its turn at turn(), and starts when the last of its members has come to it.
  void launch(const LegStep& step, Time started, std::int32_t last = -1);

  // How long the chip waited for each of its peers, one after the other.
  const std::vector<std::pair<std::int32_t, Time>>& waited_for() const { return waited_for_; }
  // When it first did anything but that, and how long it stood still for peers from then on or before, as
  // Recording has it.
  Time first_own() const { return first_own_; }
  Time stood() const { return stood_; }

 private:
  void book(Bucket bucket, Time time) { outcome_.bucket[static_cast<std::size_t>(bucket)] += time; }
  void expose(std::int32_t pattern, Time time);
  void wait(const LegStep& step);
  void note_own(Time begin) { first_own_ = std::min(first_own_, begin); }
  void compute(const LegStep& step);
  Time lose(Time at, Time time);
  double pace_at(Time now) const;
  Time next_edge(Time now) const;

  const System& system_;
  const StageProgram& program_;
  LegOutcome& outcome_;
  std::vector<HostCall>* host_;  // to be listed, or null
  std::vector<DrainBeside>& drains_;
  std::vector<RehearsedLaunch>& launches_;
  std::vector<std::pair<std::int32_t, Time>> waited_for_;
  Time first_own_ = Time::max(), stood_;
};

// What the leg comes to beside these transfers, given by their times after its begin; tells of calls of the
// host where `host` is not null.
void rehearse(const System& system, const StageProgram& program, const Leg& leg,
              std::span<const DrainBeside> beside, RehearsalBuffers& buffers, LegOutcome& outcome,
              std::vector<HostCall>* host = nullptr);

}  // namespace podsim
