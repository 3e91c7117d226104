// Amounts that drain through shared resources: when each is gone, under max-min fair sharing.
//
// Between events an activity drains at its rate of engine/sharing.h; rates change only when an activity
// begins, ends, or a capacity changes. All that happens at one instant is solved once.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "engine/sharing.h"

namespace podsim {

// A point in time, in ticks; how long a tick is, is the caller's choice.
using Tick = std::int64_t;
inline constexpr Tick kNever = INT64_MAX;

// All that drains at present, and the capacities of what it drains through.
// - A change is only noted; rates are solved for when `next` asks, once for all changes of an instant.
// - What has ended at one tick ends together, in the order in which it began: ties have no other order.
class Fluid {
 public:
  // capacity[r] in units per second, >= 0. ticks_per_second: 1e12 for picoseconds, 1e15 where results need
  // more digits than picoseconds give.
  Fluid(std::vector<double> capacity, double ticks_per_second);

  // Makes room for so many activities at once; more may come.
  void reserve(std::size_t activities);

  // Begins to drain `amount` > 0 at `now`; `owner` comes back when it is gone. `uses` outlives the activity.
  // REQUIRES: now is not before any instant named so far. O(uses).
  void begin(Tick now, std::span<const Use> uses, double amount, std::int32_t owner);

  // What has drained alone since `since` is no longer alone from `now` on. As if it had begun here then.
  // REQUIRES: since <= now, it is not gone, and nothing else has used its resources in between.
  void begin_alone(Tick since, Tick now, std::span<const Use> uses, double amount, std::int32_t owner);

  // How long `amount` takes with all its resources to itself; kNever as in `next`. O(uses).
  Tick time_alone(std::span<const Use> uses, double amount) const;

  // From `now` on the resource has this capacity, >= 0; at 0 nothing on it drains.
  void set_capacity(Tick now, std::int32_t resource, double capacity);

  // The next instant at which something is gone, rounded to the nearest tick; kNever when nothing ever is
  // with these capacities, or not before kNever. Solves first if anything has changed: as Sharing::solve, and
  // O(1) for each activity with another rate, O(log n) for each run of them that ends at one tick.
  Tick next();

  // Ends all that is gone at `now` and appends the owners in the order in which they began.
  // REQUIRES: now == next().
  void end(Tick now, std::vector<std::int32_t>& owners);

  bool idle() const { return draining_count_ == 0; }  // nothing drains

  std::int64_t solves() const { return solves_; }  // instants at which rates were solved for

  // Owners of what does not drain at present, in the order in which they began. REQUIRES: next() was called
  // after the last change but of capacities. O(n log n) of all that was ever active at once.
  std::vector<std::int32_t> stalled() const;

  // Since when what has this owner does not drain. REQUIRES: it is among stalled(). O(activities).
  Tick stalled_since(std::int32_t owner) const;

  // Goes over what drains with a visitor of scheduler/simulation/fast_forward/state_capture.h, which moves
  // all times or none. REQUIRES: next() was called after the last change. O(n log n) of what drains.
  template <class Visitor>
  void visit(Visitor& state) {
    for (const ActivityId id : by_begin()) {
      Draining& draining = draining_[id];
      state.fixed(draining.owner);
      state.fixed(draining.left);
      state.fixed(draining.rate);
      state.moving(draining.since);
    }
    for (auto& [end, run] : queue_) state.moves_along(end);
  }

 private:
  static constexpr std::int32_t kNone = -1;

  // INVARIANT: `left` is what is left at `since`; it falls by `rate` a second from then on.
  struct Draining {
    double left = 0;  // at `since`
    double rate = 0;  // per second
    Tick since = 0;
    std::int64_t sequence = kNone;  // order of beginning; kNone = not active
    std::int32_t owner = 0;
    std::int32_t run = kNone;
  };
  // Activities that end at one tick. An activity with another run has left this one.
  struct Run {
    std::int32_t first_member = kNone, last_member = kNone;
    std::int32_t members = 0;  // that have not left
  };
  struct Member {
    ActivityId activity;
    std::int32_t next;
  };

  void advance(Tick now);
  void solve();
  std::vector<ActivityId> by_begin() const;  // of all that drains
  void leave_run(Draining& draining);
  void join_run(ActivityId activity, std::int32_t run);
  std::int32_t begin_run(Tick end);
  void free_run(std::int32_t run);
  void drop_empty_runs();

  Sharing sharing_;
  double ticks_per_second_;
  Tick now_ = INT64_MIN;
  bool dirty_ = false;
  std::int64_t begun_ = 0, draining_count_ = 0, solves_ = 0;
  std::vector<Draining> draining_;                    // [activity]
  std::vector<std::pair<Tick, std::int32_t>> queue_;  // a heap of runs, the earliest end first
  std::vector<Run> runs_;
  std::vector<std::int32_t> free_runs_;
  std::size_t empty_runs_ = 0;  // in the queue, without members
  std::vector<Member> members_;
  std::int32_t free_member_ = kNone;
  std::vector<ActivityId> changed_, gone_;
};

}  // namespace podsim
