// The hand-written scenarios of published runs stay near what was measured.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <stdexcept>

#include "prediction/predict.h"
#include "proto/scenario/load.h"
#include "validation/error_summary.h"

namespace podsim::validation_test {
namespace {

struct PublishedRun {
  std::string row, source, chip;
  ChipKind chip_kind = ChipKind::kGpu;
  double measured_s = 0;
  double error = 0;  // signed share
};

std::string read(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// The value of a header line "# key: value".
std::string header(const std::string& text, const std::string& key) {
  const std::string start = "# " + key + ": ";
  const std::size_t at = text.find(start);
  if (at == std::string::npos) throw std::runtime_error("no header line " + start);
  const std::size_t begin = at + start.size();
  return text.substr(begin, text.find('\n', begin) - begin);
}

PublishedRun predict(const std::filesystem::path& path, const Catalog& catalog) {
  const std::string text = read(path);
  const LoadResult loaded = load_scenario(path.string(), text, catalog, {});
  if (!loaded.spec) throw std::runtime_error(format_problem(loaded.problems.at(0)));
  const double measured = std::stod(header(text, "measured_step_time_s"));
  const double predicted = predict_step(*loaded.spec, {}).report.step_time.in_seconds();
  return {header(text, "row"),
          header(text, "source"),
          loaded.spec->cluster.chip.name,
          loaded.spec->cluster.chip.kind,
          measured,
          predicted / measured - 1};
}

// Every scenario of scenarios/validation, in order of file names.
const std::vector<PublishedRun>& runs() {
  static const std::vector<PublishedRun> kRuns = [] {
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator(PODSIM_SOURCE_DIR "/scenarios/validation"))
      if (entry.path().extension() == ".textproto") paths.push_back(entry.path());
    std::ranges::sort(paths);
    const Catalog catalog;
    std::vector<PublishedRun> made;
    for (const auto& path : paths) made.push_back(predict(path, catalog));
    return made;
  }();
  return kRuns;
}

TEST(Validation, the_median_error_of_published_runs_is_below_10_percent) {
  std::vector<double> errors;
  for (const PublishedRun& run : runs()) errors.push_back(run.error);
  const ErrorSummary summary = summarize_errors(errors);
  EXPECT_LT(summary.median, 0.10);
  EXPECT_LT(summary.p90, 0.25);
}

TEST(Validation, at_least_12_gpu_runs_and_8_tpu_runs_on_five_generations_are_listed) {
  int gpu = 0, tpu = 0;
  std::set<std::string> generations;
  for (const PublishedRun& run : runs()) {
    const bool is_tpu = run.chip_kind == ChipKind::kTpu;
    ++(is_tpu ? tpu : gpu);
    if (is_tpu) generations.insert(run.chip);
    EXPECT_GT(run.measured_s, 0) << run.row;
    EXPECT_FALSE(run.source.empty()) << run.row;
  }
  EXPECT_GE(gpu, 12);
  EXPECT_GE(tpu, 8);
  EXPECT_EQ(generations.size(), 5u);
}

TEST(ErrorSummary, a_summary_is_that_of_its_errors) {
  const double errors[] = {0.1, -0.2, 0.3, 0};
  const ErrorSummary summary = summarize_errors(errors);
  EXPECT_NEAR(summary.median, 0.15, 1e-12);
  EXPECT_NEAR(summary.mean, 0.15, 1e-12);
  EXPECT_NEAR(summary.max, 0.3, 1e-12);
  EXPECT_NEAR(summary.p90, 0.3, 1e-12);
  EXPECT_NEAR(summary.bias, 0.05, 1e-12);
}

}  // namespace
}  // namespace podsim::validation_test
