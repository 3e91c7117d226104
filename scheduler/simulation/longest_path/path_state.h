// Where chips and operations are while a step is followed along its longest path.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "scheduler/lowering/instructions.h"
#include "scheduler/simulation/longest_path/solo_spans.h"

namespace podsim {

inline constexpr Time kNotKnown = Time::max();

// An operation that a chip has launched.
struct PathOperation {
  std::int32_t rendezvous, message;
  std::int32_t last = -1;  // member that came last
  Time launched;
  Time reached = kNotKnown, started = kNotKnown, end = kNotKnown;  // its turn on this chip; on all members

  // Of scheduler/simulation/fast_forward/state_capture.h, here and below.
  template <class Visitor>
  void visit(Visitor& state) {
    state.fixed(rendezvous);
    state.fixed(message);
    state.fixed(last);
    state.past(launched);
    for (Time* time : {&reached, &started, &end}) state.moving(*time);
  }
};

// A network stream of a chip: what it has launched there and what it has been sent, in order, as far as it
// has not been found to be over or taken.
struct PathStream {
  std::vector<PathOperation> operations;
  std::vector<Time> arrivals;
  std::size_t taken = 0;  // of the arrivals

  bool empty() const { return taken == arrivals.size(); }  // nothing is there to be taken
  bool idle() const { return operations.empty() && empty(); }
  Time take_first() {
    const Time first = arrivals[taken++];
    if (2 * taken > arrivals.size()) {
      arrivals.erase(arrivals.begin(), arrivals.begin() + static_cast<std::ptrdiff_t>(taken));
      taken = 0;
    }
    return first;
  }

  // What has ended by then is over.
  void trim(Time now) {
    std::size_t over = 0;
    while (over < operations.size() && operations[over].end <= now) ++over;
    operations.erase(operations.begin(), operations.begin() + static_cast<std::ptrdiff_t>(over));
  }

  template <class Visitor>
  void visit(Visitor& state) {
    state.fixed(operations.size());
    state.fixed(arrivals.size() - taken);
    for (PathOperation& each : operations) each.visit(state);
    for (std::size_t i = taken; i < arrivals.size(); ++i) state.moving(arrivals[i]);
  }
};

// A chip class. It may be ahead of the present: at an instant until which all that concerns it is known.
struct PathChip {
  enum class Status : std::uint8_t { kReady, kComputing, kWaiting, kReceiving, kEnded };
  Status status = Status::kReady;
  Stream stream = Stream::kActivation;  // that it waits for
  std::int32_t awaited = 0;             // place of the operation among those of the stream
  std::int32_t position = 0;            // in its program's order
  std::int32_t segment = 0;
  std::size_t at = 0;        // instruction of the segment
  Time now;                  // since when it is at this; when it has ended
  Time host, met;            // RunningChip
  SoloSpan* span = nullptr;  // that it is at
  LegOutcome* outcome = nullptr;
  LegOutcome own;                   // SoloSpans::outcome
  std::vector<DrainBeside> beside;  // that end behind the begin of its span
  std::array<PathStream, kNetworkStreams> streams;

  template <class Visitor>
  void visit(Visitor& state) {
    state.position(position);
    state.fixed(static_cast<int>(status));
    state.fixed(at);
    state.fixed(awaited);
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
