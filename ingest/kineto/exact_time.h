// Times as profiles write them: microseconds with decimals, larger than a double can hold to the nanosecond.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace podsim::kineto {

// Nanoseconds and billionths of one.
struct ExactTime {
  std::int64_t ns = 0;
  std::int64_t billionths = 0;  // 0 to 10^9 - 1

  std::int64_t rounded_ns() const { return billionths >= 500'000'000 ? ns + 1 : ns; }  // half up
};

// Nothing where the sum is beyond 292 years.
std::optional<ExactTime> sum(const ExactTime& a, const ExactTime& b);

// "4458676522690.655" us; nothing where it is no decimal number, or beyond 292 years. Digits beyond 10^-18 s
// are dropped.
std::optional<ExactTime> from_microseconds(std::string_view number);
std::optional<ExactTime> from_microseconds(std::int64_t number);

}  // namespace podsim::kineto
