// Every row of the suite of reliability holds or says why not, and the page about it is what podsim answers.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "cli/validate_suite.h"

namespace podsim {
namespace {

const std::string kFolder = PODSIM_SOURCE_DIR "/scenarios/reliability";

std::string read(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

const std::vector<SuiteResult>& results() {
  static const std::vector<SuiteResult> all = [] {
    const Suite suite = read_suite("suite.csv", read(kFolder + "/suite.csv"));
    EXPECT_TRUE(suite.problems.empty());
    return run_suite(suite.rows, kFolder);
  }();
  return all;
}

TEST(ReliabilitySuite, every_row_holds_or_says_why_not) {
  EXPECT_GT(results().size(), 50u);
  for (const SuiteResult& result : results())
    EXPECT_NE(result.verdict, Verdict::kFail)
        << result.row.id << ", " << result.row.what << ": " << result.reason;
}

// Rows whose traces are not at hand cannot be compared.
TEST(ReliabilitySuite, the_page_is_what_podsim_answers) {
  const std::string page = read(PODSIM_SOURCE_DIR "/docs/reliability-suite.md");
  for (const SuiteResult& result : results()) {
    if (result.verdict == Verdict::kSkipped) continue;
    std::istringstream lines(suite_text({result}, "markdown"));
    for (std::string line; std::getline(lines, line);) {
      if (line.rfind("| " + result.row.id + " |", 0) != 0) continue;
      EXPECT_NE(page.find(line), std::string::npos)
          << line
          << "\npodsim validate --suite reliability --format markdown --out docs/reliability-suite.md";
    }
  }
}

}  // namespace
}  // namespace podsim
