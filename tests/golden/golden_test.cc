// Every runnable scenario against its whole expected report. tests/golden/update rewrites the expectations.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "prediction/predict.h"
#include "proto/scenario/load.h"
#include "proto/writing/write.h"

namespace podsim {
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

class Golden : public testing::TestWithParam<Case> {};

TEST_P(Golden, report_is_as_expected) {
  const LoadResult loaded = load_scenario_file(GetParam().scenario.string(), Catalog(), {});
  for (const Problem& problem : loaded.problems) ADD_FAILURE() << format_problem(problem);
  ASSERT_TRUE(loaded.spec.has_value());
  const Prediction prediction = predict_step(*loaded.spec, {});
  const std::string predicted = without_header(prediction.jobs ? report_textproto(*prediction.jobs)
                                                               : report_textproto(prediction.report));
  const std::string expected = read(kGolden / (GetParam().name + kReportEnd));
  ASSERT_NE(expected, "") << "no expected report; tests/golden/update writes it";
  EXPECT_TRUE(predicted == expected) << difference(expected, predicted)
                                     << "if this is right, run tests/golden/update";
}

INSTANTIATE_TEST_SUITE_P(Scenarios, Golden, testing::ValuesIn(cases()),
                         [](const testing::TestParamInfo<Case>& each) { return each.param.name; });

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
}  // namespace podsim
