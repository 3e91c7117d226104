// docs/theory/network.md has the table of measured all-reduces as podsim predicts them now.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "report/text/text.h"
#include "validation/validate_collectives.h"

namespace podsim::testing::network_page_test {
namespace {

const std::string kRoot = PODSIM_SOURCE_DIR;

std::string read(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(NetworkPage, has_the_errors_of_measured_collectives) {
  const std::string path = kRoot + "/scenarios/measurements/nccl_allreduce.csv";
  const auto measured = read_collective_table(path, read(path), false);
  ASSERT_TRUE(measured.problems.empty());
  const std::string page = read(kRoot + "/docs/theory/network.md");
  for (const auto& [of, errors] : summarize(validate_collectives(measured.rows, Catalog(), "").rows)) {
    const auto percent = [](double share) { return fixed(100 * share, 1); };
    const std::string row = "| " + of + " | " + std::to_string(errors.rows) + " | " + percent(errors.mean) +
                            " | " + percent(errors.median) + " | " + percent(errors.p90) + " | " +
                            percent(errors.max) + " | " + (errors.bias < 0 ? "" : "+") +
                            percent(errors.bias) + " |";
    EXPECT_NE(page.find(row), std::string::npos) << row;
  }
}

}  // namespace
}  // namespace podsim::testing::network_page_test
