// Every scenario of weeks against its whole expected table. tests/golden/update rewrites the expectations.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "prediction/weeks.h"
#include "proto/scenario/load_reliability.h"
#include "report/tables/reliability_text.h"

namespace podsim::weeks_golden_test {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = PODSIM_SOURCE_DIR;
const fs::path kExpected = kRoot / "tests" / "golden" / "weeks";

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Those that show something; the others, r17_..., hold single figures of a table.
std::vector<std::string> names() {
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator(kRoot / "scenarios" / "reliability")) {
    const std::string name = entry.path().stem().string();
    if (entry.path().extension() == ".textproto" && name[0] != 'r' &&
        read(entry.path()).find("\nreliability {") != std::string::npos)
      found.push_back(name);
  }
  std::sort(found.begin(), found.end());
  return found;
}

class WeeksGolden : public ::testing::TestWithParam<std::string> {};

TEST_P(WeeksGolden, table_is_as_expected) {
  const std::string scenario = (kRoot / "scenarios" / "reliability" / (GetParam() + ".textproto")).string();
  const LoadReliabilityResult loaded = load_reliability_file(scenario, Catalog(), {{"seeds", "20"}});
  for (const Problem& problem : loaded.problems) ADD_FAILURE() << format_problem(problem);
  ASSERT_TRUE(loaded.question.has_value());
  EXPECT_EQ(reliability_table(predict_weeks(*loaded.question, {})), read(kExpected / (GetParam() + ".txt")))
      << "if this is right, run tests/golden/update";
}

INSTANTIATE_TEST_SUITE_P(Scenarios, WeeksGolden, ::testing::ValuesIn(names()),
                         [](const ::testing::TestParamInfo<std::string>& each) { return each.param; });

}  // namespace
}  // namespace podsim::weeks_golden_test
