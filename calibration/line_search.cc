// Line search by errors that are linear between the points tried.
#include "calibration/line_search.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "engine/check.h"

namespace podsim {
namespace {

constexpr int kTries = 12;
constexpr int kGoldenSections = 40;

std::vector<double> between(const std::vector<double>& from, const std::vector<double>& to, double share) {
  std::vector<double> result(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) result[i] = from[i] + share * (to[i] - from[i]);
  return result;
}

class Way {
 public:
  Way(const FitProblem& problem, const TriedPoint& from, const std::vector<double>& to,
      const ErrorsAt& errors_at)
      : problem_(problem), from_(from.offsets), to_(to), errors_at_(errors_at) {
    tried_[0] = from.errors;
    try_at(1);
  }

  double cost(double share) const {
    return fit_cost(problem_, errors_about(share), between(from_, to_, share));
  }

  // The least under errors that are linear between what was tried: on each piece the cost is convex.
  double expected_least() const {
    double best = 0;
    for (auto piece = tried_.begin(), next = std::next(piece); next != tried_.end(); piece = next++)
      for (const double share : {least_within(piece->first, next->first), next->first})
        if (cost(share) < cost(best)) best = share;
    return best;
  }

  // Whether errors there are known but for so much.
  bool knows(double share, double settled) const {
    const std::vector<double> expected = errors_about(share);
    return std::ranges::any_of(
        tried_, [&](const auto& at) { return largest_difference(at.second, expected) <= settled; });
  }

  void try_at(double share) { tried_[share] = errors_at_(between(from_, to_, share)); }

  double shortest() const { return std::next(tried_.begin())->first; }

  TriedPoint best() const {
    double best = 0;
    for (const auto& [share, errors] : tried_)
      if (cost(share) < cost(best)) best = share;
    return {best == 1 ? to_ : between(from_, to_, best), tried_.at(best)};
  }

 private:
  std::vector<double> errors_about(double share) const {
    const auto next = tried_.lower_bound(share);
    PODSIM_CHECK(next != tried_.end(), "both ends are tried");
    if (next->first == share) return next->second;
    const auto last = std::prev(next);
    return between(last->second, next->second, (share - last->first) / (next->first - last->first));
  }

  double least_within(double low, double high) const {
    const double golden = (std::sqrt(5.0) - 1) / 2;
    for (int section = 0; section < kGoldenSections; ++section) {
      const double width = golden * (high - low);
      if (cost(high - width) <= cost(low + width)) {
        high = low + width;
      } else {
        low = high - width;
      }
    }
    return (low + high) / 2;
  }

  const FitProblem& problem_;
  const std::vector<double>& from_;
  const std::vector<double>& to_;
  const ErrorsAt& errors_at_;
  std::map<double, std::vector<double>> tried_;  // [share of the way] errors
};

}  // namespace

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  PODSIM_CHECK(a.size() == b.size(), "lists of one length");
  double difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) difference = std::max(difference, std::abs(a[i] - b[i]));
  return difference;
}

TriedPoint least_on_the_way(const FitProblem& problem, const TriedPoint& from, const std::vector<double>& to,
                            const ErrorsAt& errors_at, double settled) {
  PODSIM_CHECK(settled > 0, "errors are compared");
  Way way(problem, from, to, errors_at);
  for (int tries = 1; tries < kTries; ++tries) {
    double share = way.expected_least();
    // The way begins downhill, if slopes are right: so much closer, then.
    if (share == 0) share = way.shortest() / 2;
    if (way.knows(share, settled)) break;
    way.try_at(share);
  }
  return way.best();
}

}  // namespace podsim
