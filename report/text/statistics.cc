// Confidence intervals of a mean and of quantiles.
#include "report/text/statistics.h"

// Long double is not the same on all machines.
#define BOOST_MATH_PROMOTE_DOUBLE_POLICY false
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

#include "engine/check.h"

namespace podsim {
namespace {

// The smallest number of successes in `count` trials up to which the probability reaches `least`.
std::int64_t fewest_successes(std::int64_t count, double share, double least) {
  const boost::math::binomial trials(static_cast<double>(count), share);
  std::int64_t low = 0, high = count;
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (boost::math::cdf(trials, static_cast<double>(middle)) >= least) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

}  // namespace

double student_t(std::int64_t degrees_of_freedom, double confidence) {
  const boost::math::students_t t(static_cast<double>(degrees_of_freedom));
  return boost::math::quantile(boost::math::complement(t, (1 - confidence) / 2));
}

std::optional<Ranks> quantile_ranks(std::int64_t count, double share, double confidence) {
  const double beyond = (1 - confidence) / 2;
  // The quantile lies below the value of rank r where fewer than r values reach up to it, and above where at
  // least r do.
  const std::int64_t low = fewest_successes(count, share, beyond);
  const std::int64_t high = fewest_successes(count, share, 1 - beyond) + 1;
  if (low < 1 || high > count) return std::nullopt;
  return Ranks{low, high};
}

double mean_half_width(std::span<const Batch> batches, double confidence) {
  PODSIM_CHECK(batches.size() >= 2, "one batch does not tell how batches differ");
  double sum = 0, count = 0;
  for (const Batch& batch : batches) {
    sum += batch.sum;
    count += static_cast<double>(batch.count);
  }
  const double mean = sum / count, groups = static_cast<double>(batches.size());
  double squares = 0;
  for (const Batch& batch : batches) {
    const double excess = batch.sum - mean * static_cast<double>(batch.count);
    squares += excess * excess;
  }
  const double error = std::sqrt(squares / (groups - 1) * groups) / count;
  return student_t(static_cast<std::int64_t>(batches.size()) - 1, confidence) * error;
}

}  // namespace podsim
