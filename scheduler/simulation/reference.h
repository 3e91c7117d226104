// The definition of a step, carried out: what the rules of simulate.h speak of.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "engine/time_limits.h"
#include "scheduler/folding/system.h"
#include "scheduler/simulation/state/simulate_options.h"
#include "scheduler/simulation/state/step_draws.h"
#include "scheduler/simulation/state/timeline.h"

namespace podsim {

// As simulate(), rule by rule and as plainly as can be: events and operations in queues, rates from the
// solver, nothing known ahead, joined or skipped. The loops that are fast are tested against it. It shares
// with them the system, what is drawn (StepDraws) and how speeds change (SpeedProfile), what stands in engine
// (the solver for rates, random numbers, rounding), and what writes results down: intervals and passes
// (Recording), the blank timeline and the bytes that a message puts on links (timeline_parts.h). It shares
// nothing else. O(events log events) and what the solver takes.
std::vector<Timeline> simulate_by_the_rules(const System& system, const SimulateOptions& options);

namespace reference {

// An operation that a chip has launched on a stream.
struct Launched {
  const Instruction* what;
  std::int64_t number;  // among all launches of the chip
};

// A stream of a chip.
struct Lane {
  std::deque<Launched> unfinished;  // the first of them has come to its turn
  Time moved;                       // when it did, or when the last one ended
  int late = 0;                     // launches that the host has yet to come to
  int arrived = 0;                  // transfers from a neighbour that have not been received
  bool copying = false;             // the first of them is a copy that runs
};

// A chip class.
struct Chip {
  const ChipClass* of = nullptr;
  const StageProgram* program = nullptr;
  std::size_t position = 0;                         // in the order: to come
  const Instruction *at = nullptr, *end = nullptr;  // of the segment
  bool blocked = false;
  Time since;  // it waits, works, or has ended its step
  Time host;   // its host has launched what it was asked for
  std::array<Lane, kStreams> lanes;
  std::int64_t launched = 0;
  double step_factor = 1;                 // of its computations in this step
  std::optional<StepDraws::Pause> pause;  // to come in this step
  Instruction pausing{Instruction::Kind::kPause, {}, Bucket::kPause, -1, 0, {}};
  Time lateness;  // of its host with launches of gradients in this step
  Lane& lane(Stream stream) { return lanes[static_cast<std::size_t>(stream)]; }
  void begin_step(Time now) {
    position = 0;
    at = end = nullptr;
    host = now;
    for (Lane& each : lanes) each.arrived = 0;
  }
  // Rule 7.
  bool over(const Instruction& wait) {
    const Lane& of_wait = lane(wait.stream);
    return static_cast<int>(of_wait.unfinished.size()) + of_wait.late <= wait.pending;
  }
  bool block(Time now) {
    blocked = true;
    since = now;
    return false;
  }
  // Blocked at an instruction of this kind and stream.
  bool waits(Instruction::Kind kind, Stream stream) const {
    return blocked && at->kind == kind && at->stream == stream;
  }
};

// The operation that the members of a group gather for on a stream, or that runs there.
struct Operation {
  std::int32_t group = 0, message = -1, reached = 0;
  std::int32_t last = -1;  // member that reached it last; of several at one instant the slowest
  Time last_reached, started;
  std::size_t phase = 0;
};

// A job, and the step that it is in.
struct Job {
  const InputPipeline* input = nullptr;
  std::vector<std::int32_t> chips;
  bool meets_nobody = false;          // on links
  int running = 0;                    // chips that have not ended the step
  bool over = false;                  // no step follows
  std::vector<Time> begins;           // of steps
  std::vector<Time> loaded;           // [host] it has its part of the batch of the next step
  std::vector<MicrobatchLoad> loads;  // of the step

  // Rule 4, with how long each host stalls.
  void begin_step(Time now, std::vector<Time> stalls) {
    begins.push_back(now);
    if (stalls.empty()) stalls.emplace_back();  // all hosts are like one
    const std::size_t next = begins.size(), ahead = static_cast<std::size_t>(input->ahead);
    const Time room = next < ahead ? Time{} : begins[next - ahead];
    loaded.resize(stalls.size());
    for (std::size_t h = 0; h < stalls.size(); ++h)
      loaded[h] =
          next_instant(next_instant(std::max(loaded[h], room) + input->load, false) + stalls[h], false);
  }
  Time next_batch() const { return *std::max_element(loaded.begin(), loaded.end()); }
};

}  // namespace reference
}  // namespace podsim
