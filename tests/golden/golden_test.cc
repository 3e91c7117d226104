// Every runnable scenario against its whole expected report. tests/golden/update rewrites the expectations.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "prediction/predict.h"
#include "proto/scenario/load.h"
#include "proto/writing/write.h"

namespace podsim::golden_test {
namespace {

namespace fs = std::filesystem;

const fs::path kGolden = fs::path(PODSIM_SOURCE_DIR) / "tests" / "golden";
const std::string kScenarioEnd = ".scenario.textproto", kReportEnd = ".report.textproto";

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// The text before `end`, which it must end with.
std::string without(const std::string& text, const std::string& end) {
  return text.substr(0, text.size() - end.size());
}

struct Case {
  std::string name;
  fs::path scenario;

  friend std::ostream& operator<<(std::ostream& out, const Case& shown) { return out << shown.name; }
};

// The runnable scenarios of the project, and those that live beside their reports here.
std::vector<Case> cases() {
  std::vector<Case> found;
  for (const auto& entry : fs::directory_iterator(fs::path(PODSIM_SOURCE_DIR) / "scenarios")) {
    if (entry.path().extension() == ".textproto")
      found.push_back({entry.path().stem().string(), entry.path()});
  }
  for (const auto& entry : fs::directory_iterator(kGolden)) {
    const std::string name = entry.path().filename().string();
    if (ends_with(name, kScenarioEnd)) found.push_back({without(name, kScenarioEnd), entry.path()});
  }
  std::sort(found.begin(), found.end(), [](const Case& a, const Case& b) { return a.name < b.name; });
  return found;
}

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Without the lines that tell which podsim made it and from what: a new version, or a field that a file of
// the catalogue gains, changes no figure.
std::string without_header(const std::string& report) {
  std::istringstream lines(report);
  std::string line, rest;
  while (std::getline(lines, line)) {
    const std::string field = line.substr(0, line.find(':'));
    if (field != "podsim" && field != "schema" && field != "scenario_sha256") rest += line + "\n";
  }
  return rest;
}

// Without the lines that count events, of which every loop has its own.
std::string without_counts(const std::string& report) {
  std::istringstream lines(report);
  std::string line, rest;
  while (std::getline(lines, line))
    if (line.find("events:") == std::string::npos && line.find("periods_skipped:") == std::string::npos)
      rest += line + "\n";
  return rest;
}

// The lines that differ, at most ten, as "- expected" and "+ predicted".
std::string difference(const std::string& expected, const std::string& predicted) {
  std::istringstream old_text(expected), new_text(predicted);
  std::string old_line, new_line, out;
  for (int shown = 0; shown < 10;) {
    const bool old_there = static_cast<bool>(std::getline(old_text, old_line));
    const bool new_there = static_cast<bool>(std::getline(new_text, new_line));
    if (!old_there && !new_there) break;
    if (old_there && new_there && old_line == new_line) continue;
    if (old_there) out += "- " + old_line + "\n";
    if (new_there) out += "+ " + new_line + "\n";
    ++shown;
  }
  return out;
}

class Golden : public ::testing::TestWithParam<Case> {};

std::string predict(const Case& which, Loop loop) {
  const LoadResult loaded = load_scenario_file(which.scenario.string(), Catalog(), {});
  for (const Problem& problem : loaded.problems) ADD_FAILURE() << format_problem(problem);
  if (!loaded.spec) return "";
  PredictOptions options;
  options.loop = loop;
  const Prediction prediction = predict_step(*loaded.spec, options);
  return without_header(prediction.jobs ? report_textproto(*prediction.jobs)
                                        : report_textproto(prediction.report));
}

TEST_P(Golden, report_is_as_expected) {
  const std::string predicted = predict(GetParam(), Loop::kFast);
  const std::string expected = read(kGolden / (GetParam().name + kReportEnd));
  ASSERT_NE(expected, "") << "no expected report; tests/golden/update writes it";
  EXPECT_TRUE(predicted == expected) << difference(expected, predicted)
                                     << "if this is right, run tests/golden/update";
}

// Scenarios whose every repetition and draw the definition of a step goes through in a few seconds.
const std::set<std::string> kQuick = {"dense_100b_512_h100",
                                      "dense_100b_512_v5p",
                                      "dlrm_64_h100",
                                      "dlrm_8_h100",
                                      "garbage_collection_128_h100",
                                      "input_stalls_512_h100",
                                      "jitter_1000_seeds_8_h100",
                                      "jitter_16_h100",
                                      "late_launch_64_h100",
                                      "layers_96_4096_torus",
                                      "layers_96_512_torus",
                                      "llama31_405b_16384_h100",
                                      "llama3_70b_512_h100",
                                      "llama3_70b_512_v5p",
                                      "long_context_8b_64_h100",
                                      "maxtext_128b_512_v5p",
                                      "mixtral_8x22b_256_v5p",
                                      "mixtral_8x7b_64_h100",
                                      "nic_flap_32_h100",
                                      "one_ocs_down_4096_v4",
                                      "one_slow_chip_512",
                                      "qwen3_14b_8_h100",
                                      "resnet50_256_v4",
                                      "resnet50_spatial_64_v5p",
                                      "sdxl_64_h100",
                                      "slow_hosts_12288_a100",
                                      "two_jobs_oversubscribed",
                                      "two_slices_32_v5e",
                                      "uneven_lengths_128_h100",
                                      "zero_bubble_70b_256_h100"};

std::vector<Case> quick_cases() {
  std::vector<Case> quick;
  for (const Case& each : cases())
    if (kQuick.count(each.name) > 0) quick.push_back(each);
  return quick;
}

class Loops : public Golden {};

TEST_P(Loops, all_give_the_report_that_is_expected) {
  const std::string expected = without_counts(read(kGolden / (GetParam().name + kReportEnd)));
  for (const Loop loop : {Loop::kReference, Loop::kOrdered}) {
    const std::string predicted = without_counts(predict(GetParam(), loop));
    EXPECT_TRUE(predicted == expected)
        << difference(expected, predicted) << "loop " << static_cast<int>(loop);
  }
}

INSTANTIATE_TEST_SUITE_P(Scenarios, Loops, ::testing::ValuesIn(quick_cases()),
                         [](const ::testing::TestParamInfo<Case>& each) { return each.param.name; });

INSTANTIATE_TEST_SUITE_P(Scenarios, Golden, ::testing::ValuesIn(cases()),
                         [](const ::testing::TestParamInfo<Case>& each) { return each.param.name; });

TEST(GoldenFiles, every_report_belongs_to_a_scenario) {
  const std::vector<Case> known = cases();
  for (const auto& entry : fs::directory_iterator(kGolden)) {
    const std::string file = entry.path().filename().string();
    if (!ends_with(file, kReportEnd)) continue;
    const std::string name = without(file, kReportEnd);
    EXPECT_TRUE(std::any_of(known.begin(), known.end(), [&](const Case& candidate) {
      return candidate.name == name;
    })) << file;
  }
}

}  // namespace
}  // namespace podsim::golden_test
