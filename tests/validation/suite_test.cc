// Every row of the suite of reliability holds or says why not, and the page about it is what podsim answers.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "cli/app.h"
#include "cli/validation/claims_text.h"
#include "cli/validation/validate_suite.h"

namespace podsim::suite_test {
namespace {

const std::string kFolder = PODSIM_SOURCE_DIR "/scenarios/reliability";

std::string read(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// Rows whose traces are not at hand cannot be compared.
void expect_on_page(const SuiteResult& result, const std::string& page) {
  if (result.verdict == Verdict::kSkipped) return;
  std::istringstream lines(suite_text({result}, "markdown", ""));
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("| " + result.row.id + " |", 0) != 0) continue;
    EXPECT_NE(page.find(line), std::string::npos)
        << line
        << "\npodsim validate --suite reliability --format markdown --out docs/evidence/reliability-suite.md";
  }
}

// One test, so that the suite runs once.
TEST(ReliabilitySuite, every_row_holds_or_says_why_not_and_stands_on_the_page) {
  const Suite suite = read_suite("suite.csv", read(kFolder + "/suite.csv"));
  ASSERT_TRUE(suite.problems.empty());
  EXPECT_GT(suite.rows.size(), 50u);
  const std::string page = read(PODSIM_SOURCE_DIR "/docs/evidence/reliability-suite.md");
  for (const SuiteResult& result : run_suite(suite.rows, kFolder, run_command)) {
    EXPECT_NE(result.verdict, Verdict::kFail)
        << result.row.id << ", " << result.row.what << ": " << result.reason;
    expect_on_page(result, page);
  }
}

// Likewise, of suites whose rows are all measurements.
TEST(MeasuredSuites, of_power_and_inference_hold_and_stand_on_their_pages) {
  for (const std::string name : {"power", "inference"}) {
    const std::string folder = PODSIM_SOURCE_DIR "/scenarios/" + name;
    const Suite suite = read_suite("suite.csv", read(folder + "/suite.csv"));
    ASSERT_TRUE(suite.problems.empty()) << name;
    const std::vector<SuiteResult> results = run_suite(suite.rows, folder, run_command);
    for (const SuiteResult& result : results)
      EXPECT_NE(result.verdict, Verdict::kFail) << result.row.what << ": " << result.reason;
    EXPECT_EQ(suite_text(results, "markdown", ""),
              read(PODSIM_SOURCE_DIR "/docs/evidence/" + name + "-suite.md"))
        << "podsim validate --suite " << name << " --format markdown --out docs/evidence/" << name
        << "-suite.md";
  }
}

// Likewise: no verdict without figures that hold it.
TEST(ClaimsSuite, every_verdict_is_held_and_stands_on_the_page) {
  const std::string folder = PODSIM_SOURCE_DIR "/scenarios/claims";
  const Suite suite = read_suite("suite.csv", read(folder + "/suite.csv"));
  ASSERT_TRUE(suite.problems.empty());
  const ClaimTable claims = read_claims("claims.csv", read(folder + "/claims.csv"), suite.rows);
  for (const Problem& problem : claims.problems) ADD_FAILURE() << format_problem(problem);
  ASSERT_EQ(claims.claims.size(), 26u);
  const std::vector<SuiteResult> results = run_suite(suite.rows, folder, run_command);
  for (const SuiteResult& result : results)
    EXPECT_TRUE(result.verdict == Verdict::kPass || result.verdict == Verdict::kNone)
        << result.row.id << ", " << result.row.what << ": " << result.reason;
  for (const Claim& claim : claims.claims) EXPECT_TRUE(is_held(claim, results)) << claim.id;
  EXPECT_EQ(claims_markdown(claims.claims, results), read(PODSIM_SOURCE_DIR "/docs/evidence/claims.md"))
      << "podsim validate --suite claims --format markdown --out docs/evidence/claims.md";
  for (const Claim& claim : claims.claims) {
    const std::string own = folder_of_claim(claim.id, folder);
    ASSERT_NE(own, "") << claim.id;
    EXPECT_EQ(claim_page(claim, results), read(own + "/README.md"))
        << "podsim validate --suite claims --format markdown --out scenarios/claims/";
  }
}

}  // namespace
}  // namespace podsim::suite_test
