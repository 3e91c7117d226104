// How a speed changes over time: windows, cycles, staircases, and chance.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "engine/random.h"
#include "engine/units.h"

namespace podsim {

// From these times on, ascending, the factor is this one; before the first it is 1. With a period the times
// are offsets into it, the first is 0, and all lie before its end.
struct Staircase {
  std::vector<std::pair<Time, double>> steps;
  Time period;  // 0 = happens once

  friend auto operator<=>(const Staircase&, const Staircase&) = default;
};

// Time is cut into slots of this length; in each it is there with this probability, whatever the others.
// Slot k is addressed by (seed, entity, k), so that any instant is found without going through those before.
struct Chance {
  Time slot;  // > 0
  double share = 1;
  std::uint64_t entity = 0;

  bool there(std::uint64_t seed, std::int64_t slot_number) const;
  friend auto operator<=>(const Chance&, const Chance&) = default;
};

// What one adversity does to a speed: the staircase, or 1 where chance has it that nothing is there.
struct Wave {
  Staircase staircase;
  std::optional<Chance> chance;

  double at(Time now, std::uint64_t seed) const;
  // The first instant after `now` at which the factor may change; Time::max() when it never does.
  Time next_edge(Time now, std::uint64_t seed) const;
  friend auto operator<=>(const Wave&, const Wave&) = default;
};

// The product of the waves, multiplied in their order. `seed` is that of the draw.
using SpeedProfile = std::vector<Wave>;
double factor_at(const SpeedProfile& profile, Time now, std::uint64_t seed);
Time next_edge(const SpeedProfile& profile, Time now, std::uint64_t seed);

// A factor that holds in [from, to) of every period, or once where the period is 0; windows in ascending
// order, apart or touching. REQUIRES: from < to, and to <= period where there is one.
Staircase windows(const std::vector<std::pair<Time, Time>>& windows, double factor, Time period);

// From `high` at the begin of each period down to high x (1 - amplitude) in its middle and up again, in
// `levels` equal parts, each at the middle of what it covers of the curve x^2 (3 - 2 x): within 0.011 of the
// amplitude of a cosine, and the same bits on every machine.
Staircase swing(double high, double amplitude, Time period, int levels);

}  // namespace podsim
