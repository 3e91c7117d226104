// Tries intervals on a geometric grid.
#include "prediction/interval_search.h"

#include <algorithm>
#include <map>

namespace podsim {
namespace {

constexpr double kCoarse = 1.189207115002721;    // fourth root of 2
constexpr double kFine = 1.0442737824274138;     // its fourth root
constexpr int kCoarseSteps = 8, kFineSteps = 3;  // to each side
constexpr double kFlat = 0.001;                  // what nobody would notice: 0.1 points of ETTR

using Trials = std::map<Milliseconds, double>;

void try_around(double center_s, double ratio, int steps, Milliseconds least,
                const std::function<double(Milliseconds)>& ettr, Trials& trials) {
  double interval_s = center_s;
  for (int i = 0; i < steps; ++i) interval_s /= ratio;
  for (int i = -steps; i <= steps; ++i, interval_s *= ratio) {
    const Milliseconds interval = std::max(least, Milliseconds::seconds(interval_s));
    if (trials.count(interval) == 0) trials[interval] = ettr(interval);
  }
}

Milliseconds best_of(const Trials& trials) {
  return std::max_element(trials.begin(), trials.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

}  // namespace

IntervalReport search_interval(Milliseconds around, Milliseconds least,
                               const std::function<double(Milliseconds)>& ettr) {
  Trials trials;
  try_around(around.in_seconds(), kCoarse, kCoarseSteps, least, ettr, trials);
  try_around(best_of(trials).in_seconds(), kFine, kFineSteps, least, ettr, trials);
  const Milliseconds best = best_of(trials);
  IntervalReport report;
  report.choice = "simulated";
  report.interval_s = best.in_seconds();
  report.flat_from_s = report.flat_to_s = report.interval_s;
  for (const auto& [interval, value] : trials) {
    report.trials.push_back({interval.in_seconds(), value});
    if (value < trials[best] - kFlat) continue;
    report.flat_from_s = std::min(report.flat_from_s, interval.in_seconds());
    report.flat_to_s = std::max(report.flat_to_s, interval.in_seconds());
  }
  return report;
}

}  // namespace podsim
