// What is left of a computation, and collectives of known times that slow it down meanwhile.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "engine/cache.h"
#include "engine/rounding.h"
#include "engine/time_limits.h"
#include "engine/units.h"
#include "scheduler/simulation/state/uncontended_collectives.h"

namespace podsim {

// A collective of which all times are known.
struct KnownCollective {
  Time start;
  std::span<const TransferEdge> edges;  // that outlive the collective
  std::int32_t pattern, rendezvous;
};

// One that a computation has yet to go past. Transfers begin and end in turn at `edges` after `start`;
// `passed` of them are over.
struct alignas(kCacheLine) CollectiveAhead {
  const TransferEdge* edges;
  Time start, last;  // of the edges
  Time next;         // of the edges to come; Time::max() = it is over
  std::int32_t pattern, rendezvous;
  std::uint32_t count;  // of edges, > 0
  std::uint32_t passed;

  // Of all of it. REQUIRES: there are edges.
  void begin(const KnownCollective& known) {
    edges = known.edges.data();
    pattern = known.pattern;
    rendezvous = known.rendezvous;
    count = static_cast<std::uint32_t>(known.edges.size());
    start_at(known.start);
    go_to(0);
  }
  KnownCollective whole() const { return {start, {edges, count}, pattern, rendezvous}; }
  void start_at(Time time) {
    start = time;
    last = start + edges[count - 1].after;
  }
  bool over() const { return passed == count; }
  bool drains() const { return passed % 2 == 1; }
  void go_to(std::uint32_t edge) {
    passed = edge;
    next = over() ? Time::max() : start + edges[edge].after;
  }
  void pass(Time until) {
    if (last <= until) return go_to(count);
    while (next <= until) go_to(passed + 1);
  }
};

// The first of several at which a transfer begins or ends, and when; until some time it is the only one.
struct FirstAhead {
  CollectiveAhead* first;
  Time next, until;
  bool others_drain;

  bool only() const { return until > next; }
};
inline FirstAhead first_of(std::span<CollectiveAhead> ahead) {
  // One variable each: the parts of a struct would go through memory.
  CollectiveAhead* first = nullptr;
  Time next = Time::max(), until = Time::max();
  std::uint32_t drain = 0;
  for (CollectiveAhead& each : ahead) {
    drain += each.drains();
    const bool sooner = each.next < next;
    until = sooner ? next : std::min(until, each.next);
    next = sooner ? each.next : next;
    first = sooner ? &each : first;
  }
  return {first, next, until, first && drain > static_cast<std::uint32_t>(first->drains())};
}

// A computation, and when it ends if the pace stays.
struct ComputationProgress {
  Time left;  // at `updated`, at full speed
  Time updated, end;
  double pace = 1;  // slowdown since `updated`
  double own = 1;   // what of that is the chip's own speed

  // Computes until then. What was lost to transfers.
  Time settle(Time until) {
    const Time elapsed = until - updated;
    const Time done = pace == 1 ? elapsed : nearest(static_cast<double>(elapsed.ps) / pace);
    updated = until;
    left = std::max(Time{}, left - done);
    if (own == 1) return elapsed - done;
    return pace == own ? Time{} : elapsed - std::min(elapsed, scaled(done, own));
  }

  // Goes on at this pace from `updated` on. Where it is the same as before the end stays as it was rounded.
  void go_on_at(double changed) {
    if (changed == pace) return;
    pace = changed;
    foresee();
  }

  // Sets the end by the pace. A speed of the chip's own may be so low that it is beyond all time, and change
  // before that: then the end is somewhere after kLongestRun.
  void foresee() {
    if (own == 1) {
      end = updated + scaled(left, pace);
    } else {
      const auto most = static_cast<double>((kLongestRun + kLongestStep - updated).ps);
      end = updated + nearest(std::min(static_cast<double>(left.ps) * pace, most));
    }
  }

  // Over the edges before `until` and before the end, beside the only collective that may change the pace,
  // which then is `slowdown` while it drains. What is lost.
  Time follow(CollectiveAhead& only, double slowdown, Time until);

  // The same where others drain all the while, so that the pace stays: what is lost while this one drains
  // too, and while only the others do.
  struct Lost {
    Time together, others;
  };
  Lost follow_beside_others(CollectiveAhead& only, Time until) {
    Lost lost;
    while (only.next < std::min(end, until)) {
      (only.drains() ? lost.together : lost.others) += settle(only.next);
      only.pass(only.next);
    }
    return lost;
  }

  // Over a collective that has yet to begin, with nothing else beside it, if the computation surely goes on
  // longer: as follow() does. Adds what is lost.
  bool go_past(const CollectiveAhead& only, Time& lost) {
    const TransferEdge &first = only.edges[0], &last = only.edges[only.count - 1];
    const Time before = only.start + first.after - updated, after = left - before - last.done;
    if (before.ps <= 0 || after < kMargin) return false;
    lost += last.after - first.after - last.done;
    left = after;
    updated = only.last;
    end = updated + left;
    return true;
  }

  static Time scaled(Time time, double factor) {
    return factor == 1 ? time : nearest(static_cast<double>(time.ps) * factor);
  }

 private:
  static constexpr Time kMargin{2};  // by which rounding cannot bring an end before an instant

  Time skip(CollectiveAhead& only, double slowdown, Time until);
};

}  // namespace podsim
