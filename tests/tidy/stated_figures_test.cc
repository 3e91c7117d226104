// What README and docs state in figures is what the file says that the figure comes from.
#include "tests/tidy/stated_figures.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <exception>
#include <fstream>
#include <iterator>
#include <set>

namespace podsim::testing::stated_figures_test {
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

// Pages whose tables are written by podsim or counted from the catalogue's files, and held to them elsewhere.
const std::set<std::string> kHeldTables = {"docs/evidence/claims.md", "docs/evidence/validation.md",
                                           "docs/evidence/reliability-suite.md", "docs/guide/models.md"};

TEST(StatedFigures, every_percentage_of_a_page_has_an_origin) {
  const auto list = stated_figures(kRoot);
  for (const std::string& page : all_pages(kRoot)) {
    std::vector<StatedFigure> of_page;
    std::ranges::copy_if(list, std::back_inserter(of_page),
                         [&](const StatedFigure& stated) { return stated.page == page; });
    EXPECT_EQ(uncovered_percentages(kRoot + "/" + page, !kHeldTables.contains(page), of_page),
              std::vector<std::string>{})
        << page << " states percentages of which docs/evidence/figures.csv has no row";
  }
}

TEST(StatedFigures, a_percentage_without_an_origin_is_found) {
  const std::string path = ::testing::TempDir() + "page.md";
  std::ofstream(path) << "Errors are 3 %.\n```\nnot 4 %\n```\n| 5 % |\nAnd 6.5%\nof it.\n";
  StatedFigure covered;
  covered.sentence = "Errors are {3} %";
  const auto found = uncovered_percentages(path, true, {covered});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_NE(found[0].find("5 %"), std::string::npos);
  EXPECT_NE(found[1].find("6.5%"), std::string::npos);
  EXPECT_EQ(uncovered_percentages(path, false, {covered}).size(), 1u);
}

TEST(StatedFigures, of_an_expected_report_have_the_unit_that_is_asked_for) {
  const std::string root = ::testing::TempDir();
  std::ofstream(root + "report.textproto") << "step_time_ps: 7440489961048\nevents: 17\n";
  StatedFigure stated;
  stated.origin = "report", stated.file = "report.textproto", stated.row = "step_time_ps";
  stated.sentence = "takes {7.44} s", stated.column = "s";
  EXPECT_EQ(origin_of(stated, root), "7.44");
  stated.sentence = "{16} events", stated.row = "events", stated.column = "";
  EXPECT_EQ(origin_of(stated, root), "17");
}

TEST(StatedFigures, that_a_text_is_to_hold_stand_in_it) {
  const std::string root = ::testing::TempDir();
  std::ofstream(root + "defaults.h") << "double scale =\n    0.05;\n";
  StatedFigure stated;
  stated.origin = "text", stated.file = "defaults.h", stated.section = "scale = 0.05";
  stated.sentence = "is {0.05} unless";
  EXPECT_EQ(origin_of(stated, root), "0.05");
  stated.sentence = "is {0.06} unless";
  EXPECT_THROW(origin_of(stated, root), std::runtime_error);
  stated.section = "scale = 0.06";
  EXPECT_THROW(origin_of(stated, root), std::runtime_error);
}

}  // namespace
}  // namespace podsim::testing::stated_figures_test
