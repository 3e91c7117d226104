// How throughput per chip falls when slices are joined over the DCN: published runs against predictions.
#include "validation/slice_scaling.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "proto/catalog/catalog.h"
#include "report/text/text.h"
#include "validation/run_rules.h"

namespace podsim::slice_scaling_test {
namespace {

std::string file(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(PODSIM_SOURCE_DIR "/" + path).rdbuf();
  return text.str();
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
