// Time over weeks: whole milliseconds.
#pragma once

#include <cmath>
#include <compare>
#include <cstdint>

namespace podsim {

// A point in a training run or a duration. Chips x ticks of a million chips over a century fit in 64 bits.
struct Tick {
  std::int64_t ms = 0;

  // Nearest millisecond. REQUIRES: |s| < 9.2e15.
  static Tick seconds(double s) { return {std::llround(s * 1e3)}; }
  static constexpr Tick max() { return {INT64_MAX}; }
  double in_seconds() const { return static_cast<double>(ms) / 1e3; }

  friend constexpr auto operator<=>(Tick, Tick) = default;
  friend constexpr Tick operator+(Tick a, Tick b) { return {a.ms + b.ms}; }
  friend constexpr Tick operator-(Tick a, Tick b) { return {a.ms - b.ms}; }
};

}  // namespace podsim
