// How far figures of a sample may be from those of the distribution that it was drawn from.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace podsim {

// The t for which a variable of Student's distribution lies in [-t, t] with this probability.
// REQUIRES: degrees_of_freedom >= 1, 0 < confidence < 1.
double student_t(std::int64_t degrees_of_freedom, double confidence);

// Ranks, from 1, in ascending order.
struct Ranks {
  std::int64_t low, high;

  friend bool operator==(Ranks, Ranks) = default;
};

// `count` independent values in ascending order: between which two of them the quantile of this share lies,
// whatever the distribution, with at least this confidence. Below the first and above the second it lies with
// at most (1 - confidence) / 2 each; nothing where the values are too few to say so. The number of values up
// to the quantile is binomial (David and Nagaraja, Order Statistics, 2003, section 7.1).
std::optional<Ranks> quantile_ranks(std::int64_t count, double share, double confidence);

// What a group of values that may depend on each other adds to a mean: the batch of one draw.
struct Batch {
  double sum = 0;
  std::int64_t count = 0;
};

// Half the width of the confidence interval of the mean of all values of independent batches: with n batches
// of equal size, t(n - 1) s / sqrt(n), s the standard deviation of the batch means; of unequal size, the same
// for the ratio of sums of values and counts (Cochran, Sampling Techniques, 1977, eq. 6.13).
// REQUIRES: at least two batches.
double mean_half_width(std::span<const Batch> batches, double confidence);

}  // namespace podsim
