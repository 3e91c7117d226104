// Where chips and operations are while a step is followed along its longest path.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "scheduler/lowering/instructions.h"
#include "scheduler/simulation/longest_path/path_programs.h"

namespace podsim {

inline constexpr Time kNotKnown = Time::max();

// An operation that a chip has launched.
struct PathOperation {
  const PathInstruction* step;
  std::int32_t rendezvous;
  std::int32_t last = -1;  // member that came last
  Time launched;
  Time reached = kNotKnown, started = kNotKnown, end = kNotKnown;  // its turn on this chip; on all members

  // Of scheduler/simulation/fast_forward/state_capture.h, here and below.
  template <class Visitor>
  void visit(Visitor& state) {
    state.fixed(rendezvous);
    state.fixed(step->message);
    state.fixed(last);
    state.past(launched);
    for (Time* time : {&reached, &started, &end}) state.moving(*time);
  }
};

// A network stream of a chip: what it has launched there and what it has been sent, in order, as far as it
// has not been found to be over or taken.
struct PathStream {
  std::vector<PathOperation> operations;  // from `first` on; the end is known of those before `known`
  std::vector<Time> arrivals;             // from `taken` on
  std::size_t first = 0, known = 0, taken = 0;

  bool empty() const { return taken == arrivals.size(); }  // nothing is there to be taken
  bool idle() const { return first == operations.size() && empty(); }
  Time take_first() {
    const Time arrival = arrivals[taken++];
    if (empty()) {
      arrivals.clear();
      taken = 0;
    } else if (taken == std::size_t{kMostOver}) {
      arrivals.erase(arrivals.begin(), arrivals.begin() + kMostOver);
      taken = 0;
    }
    return arrival;
  }

  // What has ended by then is over.
  void trim(Time now) {
    while (first < known && operations[first].end <= now) ++first;
    if (first == operations.size()) {
      operations.clear();
      first = known = 0;
    } else if (first >= std::size_t{kMostOver}) {
      operations.erase(operations.begin(), operations.begin() + kMostOver);
      first -= kMostOver;
      known -= kMostOver;
    }
  }

  template <class Visitor>
  void visit(Visitor& state) {
    state.fixed(operations.size() - first);
    state.fixed(arrivals.size() - taken);
    for (std::size_t i = first; i < operations.size(); ++i) operations[i].visit(state);
    for (std::size_t i = taken; i < arrivals.size(); ++i) state.moving(arrivals[i]);
  }

 private:
  static constexpr std::int64_t kMostOver = 64;  // that are still there
};

// A chip class. It may be ahead of the present: at an instant until which all that concerns it is known.
struct PathChip {
  enum class Status : std::uint8_t { kReady, kComputing, kWaiting, kReceiving, kEnded };
  Status status = Status::kReady;
  bool slowed = false;                  // by transfers
  Stream stream = Stream::kActivation;  // that it waits for
  std::size_t awaited = 0;              // place of the operation among those of the stream
  std::int32_t position = 0;            // in its program's order
  std::int32_t segment = 0;
  PathSegment* program = nullptr;  // the segment
  std::size_t at = 0;              // instruction of it
  Time now;                        // since when it is at this; when it has ended
  Time host, met;                  // RunningChip
  SoloSpan* span = nullptr;        // that it is at
  LegOutcome* outcome = nullptr;
  LegOutcome own;                   // SoloSpans::outcome
  std::vector<DrainBeside> beside;  // that end behind the begin of its span
  std::array<PathStream, kNetworkStreams> streams;

  template <class Visitor>
  void visit(Visitor& state) {
    state.position(position);
    state.fixed(static_cast<int>(status));
    state.fixed(at);
    if (status == Status::kWaiting) {
      const PathStream& from = streams[static_cast<std::size_t>(stream)];
      state.fixed(awaited - from.first);
    }
    state.host(host, met);
    if (status == Status::kComputing) {
      state.fixed(span);
      state.moving(now);
    } else {
      state.past(now);
    }
    state.fixed(beside.size());
    for (DrainBeside& each : beside) {
      state.fixed(each.pattern);
      state.moving(each.begin);
      state.moving(each.end);
    }
    for (std::size_t s = 0; s < streams.size(); ++s) {
      if (streams[s].idle()) continue;
      state.fixed(s);
      streams[s].visit(state);
    }
  }
};

}  // namespace podsim
