// How throughput per chip falls when slices are joined over the DCN: published runs against predictions.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "proto/catalog/catalog.h"
#include "report/text/text.h"
#include "validation/run_rules.h"
#include "validation/validate_runs.h"

namespace podsim::slice_scaling_test {
namespace {

std::string file(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(PODSIM_SOURCE_DIR "/" + path).rdbuf();
  return text.str();
}

// Runs that differ in the number of slices alone, with as many tokens per chip: throughput per chip over that
// of the run on the fewest slices.
struct SlicePoint {
  std::string id, chip, model;
  int from = 1, to = 1;                                           // slices
  double measured = 1, predicted = 1;                             // efficiency; 1 = perfect
  double points() const { return 100 * (predicted - measured); }  // of efficiency
};

constexpr double kSameTokens = 0.01;  // tokens per chip may differ by this share

double tokens_per_chip(const PredictedRun& run) { return run.run.tokens_per_step / run.run.chips; }

bool of_one_kind(const PredictedRun& a, const PredictedRun& b) {
  const RunScenario &x = a.run, &y = b.run;
  return x.family == y.family && x.chip == y.chip && x.model == y.model && x.precision == y.precision &&
         x.parallelism == y.parallelism && x.chips / x.slices == y.chips / y.slices &&
         std::abs(tokens_per_chip(a) / tokens_per_chip(b) - 1) < kSameTokens;
}

// In the order of the runs. Runs without a measured or a predicted time are left out.
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

struct SlicePointSummary {
  int points = 0;
  double mean = 0;      // absolute, points of efficiency
  double within_3 = 0;  // share of points that are at most 3 off
};

SlicePointSummary summarize(const std::vector<SlicePoint>& points) {
  SlicePointSummary summary;
  summary.points = static_cast<int>(points.size());
  for (const SlicePoint& point : points) {
    summary.mean += std::abs(point.points()) / summary.points;
    summary.within_3 += (std::abs(point.points()) <= 3 ? 1.0 : 0.0) / summary.points;
  }
  return summary;
}

// Runs of the table on tori that several slices make up, and those on one.
std::vector<SlicePoint> published() {
  const Catalog catalog;
  const RunTable table = read_run_table("tpu_runs.csv", file("scenarios/measurements/tpu_runs.csv"));
  std::vector<PredictedRun> runs;
  for (const RunRow& row : table.rows) {
    const RunScenario run = run_scenario(row, builtin_run_rules(), catalog);
    if (run.skipped.empty() && run.measured_s) runs.push_back(predict_run(run, catalog));
  }
  return slice_scaling(runs);
}

const std::vector<SlicePoint>& points() {
  static const std::vector<SlicePoint> kPoints = published();
  return kPoints;
}

TEST(SliceScaling, is_predicted_within_3_points_of_efficiency_on_average) {
  const SlicePointSummary summary = summarize(points());
  EXPECT_GE(summary.points, 15);
  EXPECT_LE(summary.mean, 3);
  EXPECT_GE(summary.within_3, 0.7);
}

TEST(SliceScaling, never_gains_from_more_slices) {
  for (const SlicePoint& point : points()) EXPECT_LE(point.predicted, 1 + 1e-9) << point.id;
}

TEST(SliceScaling, the_page_lists_every_point) {
  const std::string page = file("docs/theory/multislice.md");
  for (const SlicePoint& point : points()) {
    const std::string line = "| " + point.id + " | " + std::to_string(point.from) + " | " +
                             std::to_string(point.to) + " | " + fixed(100 * point.measured, 1) + " | " +
                             fixed(100 * point.predicted, 1) + " |";
    EXPECT_NE(page.find(line), std::string::npos) << line;
  }
}

}  // namespace
}  // namespace podsim::slice_scaling_test
