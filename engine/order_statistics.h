// Ranks and medians of samples, and a percentile of the normal distribution.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "engine/check.h"

namespace podsim {

inline constexpr double kNormalP90 = 1.2815515655446004;  // 90th percentile of the standard normal

// In a sample of `count` in ascending order, the index of the least value that at least this share of them
// does not exceed: the nearest rank. REQUIRES: count > 0, share in [0, 1].
inline std::size_t nearest_rank(std::size_t count, double share) {
  PODSIM_CHECK(count > 0 && share >= 0 && share <= 1, "a rank is one of a sample");
  constexpr double kRounded = 1 - 1e-12;  // 0.55 x 100 is 55, and not the least number above it
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(count) * kRounded));
  return std::max<std::size_t>(rank, 1) - 1;
}

// Of an even number of values, the mean of the two in the middle. REQUIRES: values.
inline double median(std::vector<double> values) {
  PODSIM_CHECK(!values.empty(), "a median is of something");
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace podsim
