// Where chips and operations are while a step is followed along its longest path.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
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

// What drains on a chip's links, in order of the begins.
class DrainsBeside {
 public:
  std::span<const DrainBeside> all() const { return {room_.data() + first_, count_ - first_}; }
  bool empty() const { return first_ == count_; }

  void add(const DrainBeside& drain) {
    if (count_ == room_.size()) [[unlikely]]
      grow();
    std::size_t place = count_++;
    for (; place > first_ && room_[place - 1].begin > drain.begin; --place) room_[place] = room_[place - 1];
    room_[place] = drain;
  }
  // Forgets of those that began first what has ended by then.
  void trim(Time now) {
    while (first_ < count_ && room_[first_].end <= now) ++first_;
    if (first_ == count_) {
      first_ = count_ = 0;
    } else if (first_ >= std::size_t{kMostOver}) {
      std::copy(room_.begin() + static_cast<std::ptrdiff_t>(first_),
                room_.begin() + static_cast<std::ptrdiff_t>(count_), room_.begin());
      count_ -= std::exchange(first_, 0);
    }
  }
  // Calls change(drain) for each, and forgets it where that is false.
  template <class Change>
  void change(Change&& change) {
    std::size_t kept = first_;
    for (std::size_t i = first_; i < count_; ++i)
      if (change(room_[i])) room_[kept++] = room_[i];
    count_ = kept;
  }

  // What has ended by then decides nothing.
  template <class Visitor>
  void visit(Visitor& state, Time now) {
    std::size_t count = 0;
    for (std::size_t i = first_; i < count_; ++i) {
      if (room_[i].end <= now) continue;
      ++count;
      state.fixed(room_[i].pattern);
      state.moving(room_[i].begin);
      state.moving(room_[i].end);
    }
    state.fixed(count);
  }

 private:
  static constexpr std::int64_t kMostOver = 32;  // that are still there
  void grow() { room_.resize(std::max<std::size_t>(8, 2 * count_)); }

  std::vector<DrainBeside> room_;  // of which those from `first_` up to `count_`
  std::size_t first_ = 0, count_ = 0;
};

// A network stream of a chip: what it has launched there and what it has been sent, in order, as far as it
// has not been found to be over or taken.
struct PathStream {
  std::vector<PathOperation> operations;  // from `first` on; the end is known of those before `known`
  std::vector<Time> arrivals;             // from `taken` on
  std::size_t first = 0, known = 0, taken = 0;
  struct Quiet {
    Time until;          // before then it launches nothing there, and what it has launched is known to end
    bool ahead = false;  // by segments that the chip is yet to come to
  };
  Quiet quiet;  // as far as somebody has asked
  // The runs of the last sends, which take turns.
  std::array<std::pair<const PathInstruction*, const PathRun*>, 2> sends{};

  bool empty() const { return taken == arrivals.size(); }  // nothing is there to be taken
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
    first = first_after(now);
    if (first == operations.size()) {
      operations.clear();
      first = known = 0;
    } else if (first >= std::size_t{kMostOver}) {
      operations.erase(operations.begin(), operations.begin() + kMostOver);
      first -= kMostOver;
      known -= kMostOver;
    }
  }

  // When all is over that has been launched; kNotKnown: that is not known.
  Time over(Time now) const { return first == operations.size() ? now : operations.back().end; }

  // The first operation that is not over by then.
  std::size_t first_after(Time now) const {
    std::size_t place = first;
    while (place < known && operations[place].end <= now) ++place;
    return place;
  }

  // What is over decides nothing.
  template <class Visitor>
  void visit(Visitor& state, Time now) {
    const std::size_t begin = first_after(now);
    state.fixed(operations.size() - begin);
    state.fixed(arrivals.size() - taken);
    for (std::size_t i = begin; i < operations.size(); ++i) operations[i].visit(state);
    for (std::size_t i = taken; i < arrivals.size(); ++i) state.moving(arrivals[i]);
  }

 private:
  static constexpr std::int64_t kMostOver = 64;  // that are still there
};

// A span that peers (SoloLegs::peers) begin together: once all of them have come to it, each at its own time.
struct PeerSpan {
  struct Member {
    bool ended = false;
    Time begin;                       // of one that has ended
    std::vector<DrainBeside> drains;  // what drained beside it
    LegOutcome outcome;               // where they are not alike
    std::vector<std::pair<std::int32_t, Time>> waited_for;
    Time first_own, stood;  // as Rehearsal has them, after its begin
  };
  std::span<const std::int32_t> chips;
  std::size_t gathered = 0;
  bool under_way = false;
  bool foreseen = false;  // the events of its chips are their ends, as far as these are known
  bool alike = false;     // all come to the same: they began at one instant, beside the same
  std::vector<Member> members;

  // Those that are under way are named with their chips.
  template <class Visitor>
  void visit(Visitor& state) {
    state.fixed(gathered);
    state.fixed(under_way);
    for (Member& member : members) {
      state.fixed(member.ended);
      if (!member.ended) continue;
      state.moving(member.begin);
      for (DrainBeside& drain : member.drains) {
        state.fixed(drain.pattern);
        state.moving(drain.begin);
        state.moving(drain.end);
      }
    }
  }
};

// A chip class. It may be ahead of the present: at an instant until which all that concerns it is known.
struct PathChip {
  // Gathering: for a span with its peers, which are still to come; together: with them.
  enum class Status : std::uint8_t {
    kReady,
    kComputing,
    kGathering,
    kTogether,
    kWaiting,
    kReceiving,
    kEnded
  };
  Status status = Status::kReady;
  bool slowed = false;                  // by transfers
  bool foreseen = false;                // its event is the end of its span, as far as it is known
  Stream stream = Stream::kActivation;  // that it waits for
  std::size_t awaited = 0;              // place of the operation among those of the stream
  std::int32_t position = 0;            // in its program's order
  std::int32_t segment = 0;
  PathSegment* program = nullptr;  // the segment
  std::size_t at = 0;              // instruction of it
  Time now;                        // since when it is at this; when it has ended
  Time host, met;                  // RunningChip
  SoloSpan* span = nullptr;        // that it is at
  PeerSpan* peers = nullptr;       // and it; null where it has none
  bool apart = false;              // goes on without them from here, although they would come
  Time parted;                     // when it last did: until it is there, it may be behind the present
  SpanCourse course;               // of the span, once its end is foreseen
  DrainsBeside beside;             // that end behind the begin of its span
  std::array<PathStream, kNetworkStreams> streams;

  // It is at a span that begins at `now`.
  bool in_span() const {
    return status == Status::kComputing || status == Status::kGathering || status == Status::kTogether;
  }

  // At the present.
  template <class Visitor>
  void visit(Visitor& state, Time present) {
    // Who waits goes on at the present or later.
    const Time here = in_span() ? now : std::max(now, present);
    state.position(position);
    state.fixed(static_cast<int>(status));
    state.fixed(at);
    if (status == Status::kWaiting) {
      const PathStream& from = streams[static_cast<std::size_t>(stream)];
      state.fixed(awaited - from.first_after(here));
    }
    state.host(host, met);
    state.past(parted);
    if (in_span()) {
      state.fixed(span);
      state.moving(now);
    } else {
      state.past(now);
    }
    beside.visit(state, std::min(here, present));
    for (std::size_t s = 0; s < streams.size(); ++s) {
      PathStream& each = streams[s];
      if (each.empty() && each.first_after(here) == each.operations.size()) continue;
      state.fixed(s);
      each.visit(state, here);
    }
  }
};

}  // namespace podsim
