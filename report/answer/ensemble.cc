// Adds timelines up in whole picoseconds, and describes how their steps spread.
#include "report/answer/ensemble.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/order_statistics.h"
#include "report/text/statistics.h"

namespace podsim {
namespace {

// Between which of the steps a quantile lies. Steps of one draw may depend on each other, at worst all be the
// same, so that a draw counts as one value: the ranks are those of as many values as there are draws, each as
// often as a draw has steps.
std::optional<ConfidenceInterval> quantile_interval(const std::vector<Time>& sorted, std::size_t draws,
                                                    double share) {
  const auto steps = static_cast<std::int64_t>(sorted.size()), count = static_cast<std::int64_t>(draws);
  const std::optional<Ranks> ranks = quantile_ranks(count, share, kConfidence);
  if (!ranks) return std::nullopt;
  const std::int64_t low = (ranks->low - 1) * steps / count + 1;
  const std::int64_t high = (ranks->high * steps + count - 1) / count;
  return ConfidenceInterval{sorted[low - 1], sorted[high - 1]};
}

ConfidenceInterval mean_interval(const Ensemble& ensemble, Time mean) {
  std::vector<Batch> batches;
  for (const Draw& draw : ensemble.draws) {
    // Around the mean, so that a double holds every picosecond.
    const Int128 excess = draw.whole_ps() - Int128{draw.steps} * mean.ps;
    batches.push_back({static_cast<double>(excess), draw.steps});
  }
  const Time half{std::llround(mean_half_width(batches, kConfidence))};
  return {mean - half, mean + half};
}

Time standard_deviation(const std::vector<Time>& times, Time mean) {
  double squares = 0;
  for (const Time time : times) {
    const auto excess = static_cast<double>((time - mean).ps);
    squares += excess * excess;
  }
  return {std::llround(std::sqrt(squares / static_cast<double>(times.size() - 1)))};
}

}  // namespace

Int128 Ensemble::trained_ps() const {
  Int128 sum = 0;
  for (const Draw& draw : draws) sum += draw.end.ps;
  return sum;
}

void add_draw(Ensemble& ensemble, Timeline timeline, Time evaluation, std::vector<double> attention) {
  ensemble.chip_time.add(timeline);
  ensemble.draws.push_back({static_cast<int>(timeline.step_end.size()), timeline.step_end.back(), evaluation,
                            std::move(attention)});
  Time begin;
  for (const Time end : timeline.step_end) {
    ensemble.step_times.push_back(end - begin + evaluation);
    begin = end;
  }
  ensemble.chips.resize(timeline.chips.size());
  for (std::size_t c = 0; c < timeline.chips.size(); ++c) {
    ensemble.chips[c].caused_ps += timeline.chips[c].caused_ps;
    ensemble.chips[c].waited_ps += timeline.chips[c].waited.ps;
  }
  ensemble.link_bytes.resize(timeline.links.size());
  for (std::size_t l = 0; l < timeline.links.size(); ++l) ensemble.link_bytes[l] += timeline.links[l].bytes;
  for (const Standstill& each : timeline.standstills) keep_longest(ensemble.standstills, each);
  ensemble.events += timeline.events;
  if (ensemble.draws.size() == 1) ensemble.first = std::move(timeline);
}

std::vector<double> mean_attention(const Ensemble& ensemble) {
  std::vector<double> mean(ensemble.draws.front().attention.size(), 0);
  for (const Draw& draw : ensemble.draws)
    for (std::size_t w = 0; w < mean.size(); ++w) mean[w] += draw.steps * draw.attention[w];
  for (double& each : mean) each /= static_cast<double>(ensemble.step_times.size());
  return mean;
}

Time mean_step_time(const Ensemble& ensemble) {
  Int128 sum = 0;
  for (const Draw& draw : ensemble.draws) sum += draw.whole_ps();
  const auto steps = static_cast<std::int64_t>(ensemble.step_times.size());
  return {static_cast<std::int64_t>((sum + steps / 2) / steps)};
}

Time percentile(const std::vector<Time>& sorted, double share) {
  return sorted[nearest_rank(sorted.size(), share)];
}

EnsembleReport describe(const Ensemble& ensemble) {
  std::vector<Time> sorted = ensemble.step_times;
  std::sort(sorted.begin(), sorted.end());
  const Time mean = mean_step_time(ensemble);
  EnsembleReport report;
  report.seeds = static_cast<int>(ensemble.draws.size());
  report.shortest = sorted.front();
  report.longest = sorted.back();
  report.standard_deviation = standard_deviation(sorted, mean);
  report.coefficient_of_variation = report.standard_deviation.in_seconds() / mean.in_seconds();
  report.mean = mean_interval(ensemble, mean);
  report.p50 = quantile_interval(sorted, ensemble.draws.size(), 0.50);
  report.p99 = quantile_interval(sorted, ensemble.draws.size(), 0.99);
  return report;
}

}  // namespace podsim
