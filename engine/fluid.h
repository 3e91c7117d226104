// Amounts that drain through shared resources: when each is gone, under max-min fair sharing.
//
// Between events an activity drains at its rate of engine/sharing.h; rates change only when an activity
// begins, ends, or a capacity changes. All that happens at one instant is solved once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/sharing.h"

namespace podsim {

// A point in time, in ticks; how long a tick is, is the caller's choice.
using Tick = std::int64_t;
inline constexpr Tick kNever = INT64_MAX;

class Fluid {
 public:
  // capacity[r] in units per second, >= 0. ticks_per_second: 1e12 for picoseconds, 1e15 where results need
  // more digits than picoseconds give.
  Fluid(std::vector<double> capacity, double ticks_per_second);

  // Begins to drain `amount` > 0 at `now`; `owner` comes back when it is gone. `uses` outlives the activity.
  // REQUIRES: now is not before any instant named so far. O(uses).
  void begin(Tick now, std::span<const Use> uses, double amount, std::int32_t owner);

  // From `now` on the resource has this capacity, >= 0; at 0 nothing on it drains.
  void set_capacity(Tick now, std::int32_t resource, double capacity);

  // The next instant at which something is gone, or kNever. Solves first if anything has changed.
  Tick next();

  // Ends all that is gone at `now` and appends the owners in the order in which they began.
  // REQUIRES: now == next().
  void end(Tick now, std::vector<std::int32_t>& owners);

  bool idle() const;  // nothing drains
};

}  // namespace podsim
