// Time over weeks: whole milliseconds.
#pragma once

#include <cmath>
#include <compare>
#include <cstdint>

namespace podsim {

// A point in a training run or a duration. Chips x ticks of a million chips over a century fit in 64 bits.
struct Milliseconds {
  std::int64_t ms = 0;

  // Nearest millisecond. REQUIRES: |s| < 9.2e15.
  static Milliseconds seconds(double s) { return {std::llround(s * 1e3)}; }
  static constexpr Milliseconds max() { return {INT64_MAX}; }
  double in_seconds() const { return static_cast<double>(ms) / 1e3; }

  friend constexpr auto operator<=>(Milliseconds, Milliseconds) = default;
  friend constexpr Milliseconds operator+(Milliseconds a, Milliseconds b) { return {a.ms + b.ms}; }
  friend constexpr Milliseconds operator-(Milliseconds a, Milliseconds b) { return {a.ms - b.ms}; }
};

}  // namespace podsim
