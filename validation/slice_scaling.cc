// Pairs every run on several slices with the one of its kind on the fewest.
#include "validation/slice_scaling.h"

#include <cmath>

namespace podsim {
namespace {

constexpr double kSameTokens = 0.01;  // tokens per chip may differ by this share

double tokens_per_chip(const PredictedRun& run) { return run.run.tokens_per_step / run.run.chips; }

bool of_one_kind(const PredictedRun& a, const PredictedRun& b) {
  const RunScenario &x = a.run, &y = b.run;
  return x.family == y.family && x.chip == y.chip && x.model == y.model && x.precision == y.precision &&
         x.parallelism == y.parallelism && x.chips / x.slices == y.chips / y.slices &&
         std::abs(tokens_per_chip(a) / tokens_per_chip(b) - 1) < kSameTokens;
}

}  // namespace

std::vector<SlicePoint> slice_scaling(const std::vector<PredictedRun>& runs) {
  std::vector<SlicePoint> points;
  for (const PredictedRun& run : runs) {
    if (!run.error()) continue;
    const PredictedRun* base = &run;
    for (const PredictedRun& other : runs)
      if (other.error() && of_one_kind(other, run) && other.run.slices < base->run.slices) base = &other;
    if (base == &run) continue;
    const double share = tokens_per_chip(run) / tokens_per_chip(*base);
    const auto seconds = [](const PredictedRun& of) { return of.report.step_time.in_seconds(); };
    points.push_back({run.run.id, run.run.chip, run.run.model, base->run.slices, run.run.slices,
                      share * *base->run.measured_s / *run.run.measured_s,
                      share * seconds(*base) / seconds(run)});
  }
  return points;
}

SlicePointSummary summarize(const std::vector<SlicePoint>& points) {
  SlicePointSummary summary;
  summary.points = static_cast<int>(points.size());
  for (const SlicePoint& point : points) {
    summary.mean += std::abs(point.points()) / summary.points;
    summary.within_3 += (std::abs(point.points()) <= 3 ? 1.0 : 0.0) / summary.points;
  }
  return summary;
}

}  // namespace podsim
