// What README and docs state in figures is what the file says that the figure comes from.
#include "tests/validation/stated_figures.h"

#include <gtest/gtest.h>

#include <exception>
#include <fstream>
#include <regex>
#include <sstream>

#include "report/text.h"
#include "validation/validate_collectives.h"

namespace podsim::testing {
namespace {

const std::string kRoot = PODSIM_SOURCE_DIR;

std::string without_commas(std::string text) {
  std::erase(text, ',');
  return text;
}

// A cell may say more behind the figure: "145 ms, 54 MiB".
bool says(const std::string& origin, const std::string& figure) {
  const std::string cell = without_commas(origin), wanted = without_commas(figure);
  return cell == wanted || cell.starts_with(wanted + " ");
}

TEST(StatedFigures, stand_on_their_page_and_equal_their_origin) {
  const auto list = stated_figures(kRoot);
  EXPECT_GT(list.size(), 20u);
  for (const StatedFigure& stated : list) {
    SCOPED_TRACE("docs/evidence/figures.csv:" + std::to_string(stated.line) + ": " + stated.sentence);
    EXPECT_EQ(stated.problem(), "");
    EXPECT_NE(flowing_text(kRoot + "/" + stated.page).find(stated.text()), std::string::npos)
        << stated.page << " does not say so";
    try {
      const std::string origin = origin_of(stated, kRoot);
      EXPECT_TRUE(says(origin, stated.figure())) << "its origin says " << origin;
    } catch (const std::exception& problem) {
      ADD_FAILURE() << problem.what();
    }
  }
}

TEST(StatedFigures, every_percentage_that_the_readme_states_has_an_origin) {
  EXPECT_EQ(uncovered_percentages(kRoot + "/README.md", stated_figures(kRoot)), std::vector<std::string>{});
}

TEST(StatedFigures, a_percentage_without_an_origin_is_found) {
  const std::string path = ::testing::TempDir() + "page.md";
  std::ofstream(path) << "Errors are 3 %.\n```\nnot 4 %\n```\n| 5 % |\nAnd 6.5%\nof it.\n";
  StatedFigure covered;
  covered.sentence = "Errors are {3} %";
  const auto found = uncovered_percentages(path, {covered});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].find("6.5%"), std::string::npos);
}

// docs/theory/network.md has the table of measured all-reduces as podsim predicts them now.
TEST(StatedFigures, the_page_on_networks_has_the_errors_of_measured_collectives) {
  const std::string path = kRoot + "/scenarios/measurements/nccl_allreduce.csv";
  std::ostringstream table;
  table << std::ifstream(path).rdbuf();
  const auto measured = read_collective_table(path, table.str(), false);
  ASSERT_TRUE(measured.problems.empty());
  const std::string page = flowing_text(kRoot + "/docs/theory/network.md");
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
}  // namespace podsim::testing
