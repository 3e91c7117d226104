// Published runs stay within the stated error, and the page that lists them tells the truth.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>

#include "tests/validation/published_runs.h"

namespace podsim::testing {
namespace {

const std::vector<PublishedRun>& runs() {
  static const std::vector<PublishedRun> kRuns = predict_published_runs();
  return kRuns;
}

TEST(Validation, the_median_error_of_published_runs_is_below_25_percent) {
  for (const PublishedRun& run : runs())
    std::cout << run.row << " on " << run.chips << " " << run.chip << ": measured " << run.measured_s
              << " s, predicted " << run.predicted_s << " s, error " << 100 * run.error() << " %\n";
  EXPECT_LT(summarize_errors("all", runs()).median, 0.25);
}

TEST(Validation, at_least_12_gpu_runs_and_8_tpu_runs_on_five_generations_are_listed) {
  int gpu = 0, tpu = 0;
  std::set<std::string> generations;
  for (const PublishedRun& run : runs()) {
    bool is_tpu = run.chip.starts_with("tpu");
    ++(is_tpu ? tpu : gpu);
    if (is_tpu) generations.insert(run.chip);
    EXPECT_GT(run.measured_s, 0) << run.row;
    EXPECT_FALSE(run.source.empty()) << run.row;
  }
  EXPECT_GE(gpu, 12);
  EXPECT_GE(tpu, 8);
  EXPECT_EQ(generations.size(), 5u);
}

TEST(Validation, a_summary_is_that_of_its_errors) {
  std::vector<PublishedRun> made(4);
  const double predicted[] = {1.1, 0.8, 1.3, 1.0};
  for (int i = 0; i < 4; ++i) made[i].measured_s = 1, made[i].predicted_s = predicted[i];
  ErrorSummary summary = summarize_errors("made", made);
  EXPECT_NEAR(summary.median, 0.15, 1e-12);
  EXPECT_NEAR(summary.mean, 0.15, 1e-12);
  EXPECT_NEAR(summary.max, 0.3, 1e-12);
  EXPECT_NEAR(summary.bias, 0.05, 1e-12);
}

// Rewritten instead of compared when PODSIM_UPDATE is set.
TEST(Validation, the_page_lists_what_is_predicted_now) {
  const std::string path = PODSIM_SOURCE_DIR "/docs/validation.md";
  const std::string expected = validation_document(runs());
  if (std::getenv("PODSIM_UPDATE")) {
    std::ofstream(path) << expected;
    return;
  }
  std::ostringstream page;
  page << std::ifstream(path).rdbuf();
  EXPECT_EQ(page.str(), expected) << "run tests/validation/update and read the difference";
}

}  // namespace
}  // namespace podsim::testing
