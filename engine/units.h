// Time in integer picoseconds, and the physical quantities that cross interfaces.
#pragma once

#include <cmath>
#include <compare>
#include <cstdint>

#include "engine/check.h"

namespace podsim {

// A point in simulated time or a duration, in whole picoseconds. Signed; +-106 days fit.
struct Time {
  std::int64_t ps = 0;

  // Nearest picosecond. REQUIRES: |s| < 9.2e6.
  static Time seconds(double s) {
    PODSIM_CHECK(std::fabs(s) < 9.2e6, "a time fits in 64 bits of picoseconds");
    return {std::llround(s * 1e12)};
  }
  static Time microseconds(double us) { return seconds(us * 1e-6); }
  static constexpr Time max() { return {INT64_MAX}; }
  // The double nearest to the exact value, up to 2^53 ps (2.5 hours).
  double in_seconds() const { return static_cast<double>(ps) / 1e12; }

  friend constexpr auto operator<=>(Time, Time) = default;
  friend constexpr Time operator+(Time a, Time b) { return {a.ps + b.ps}; }
  friend constexpr Time operator-(Time a, Time b) { return {a.ps - b.ps}; }
  friend constexpr Time operator*(std::int64_t n, Time t) { return {n * t.ps}; }
  Time& operator+=(Time t) {
    ps += t.ps;
    return *this;
  }
  Time& operator-=(Time t) {
    ps -= t.ps;
    return *this;
  }
};

__extension__ typedef __int128 Int128;  // chip-picoseconds of a large pod exceed 64 bits

// A non-negative amount of one kind; kinds do not mix. Fractions are allowed: a collective cuts a tensor in n
// parts.
template <class Kind>
struct Quantity {
  double value = 0;

  friend constexpr auto operator<=>(Quantity, Quantity) = default;
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return {a.value + b.value}; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return {a.value - b.value}; }
  friend constexpr Quantity operator*(double k, Quantity q) { return {k * q.value}; }
  friend constexpr Quantity operator*(Quantity q, double k) { return {k * q.value}; }
  friend constexpr Quantity operator/(Quantity q, double k) { return {q.value / k}; }
  friend constexpr double operator/(Quantity a, Quantity b) { return a.value / b.value; }
  Quantity& operator+=(Quantity q) {
    value += q.value;
    return *this;
  }
};

using Bytes = Quantity<struct BytesKind>;          // bytes
using Flops = Quantity<struct FlopsKind>;          // floating-point operations; a multiply-add is two
using Bandwidth = Quantity<struct BandwidthKind>;  // bytes per second, one direction; 1 GB/s = 1e9
using FlopRate = Quantity<struct FlopRateKind>;    // floating-point operations per second

// REQUIRES: the rate is positive.
inline double seconds_at(Bytes amount, Bandwidth rate) { return amount.value / rate.value; }
inline double seconds_at(Flops amount, FlopRate rate) { return amount.value / rate.value; }

}  // namespace podsim
