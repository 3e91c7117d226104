// The mean of independent draws, and how far it may be off.
#pragma once

#include <cmath>
#include <cstdint>

#include "engine/check.h"

namespace podsim {

// Running mean and squared deviations. Source: Welford, Technometrics 4, 1962.
class Sample {
 public:
  void add(double value) {
    ++count_;
    const double off = value - mean_;
    mean_ += off / static_cast<double>(count_);
    squares_ += off * (value - mean_);
  }
  double mean() const { return mean_; }
  // REQUIRES: at least two values.
  double standard_error() const {
    PODSIM_CHECK(count_ >= 2, "one value tells nothing of its spread");
    const auto n = static_cast<double>(count_);
    return std::sqrt(squares_ / (n - 1) / n);
  }

 private:
  std::int64_t count_ = 0;
  double mean_ = 0, squares_ = 0;
};

}  // namespace podsim
