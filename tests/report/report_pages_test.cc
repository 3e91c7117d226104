// The schema and the page of reports are made from the list of figures.
#include "tests/report/report_pages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "report/figures/every_figure.h"
#include "report/figures/figures.h"

namespace podsim::testing::report_pages_test {
namespace {

std::string read(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(PODSIM_SOURCE_DIR + path, std::ios::binary).rdbuf();
  return text.str();
}

void collect_places(const std::vector<Figure>& figures, std::multiset<int>& places) {
  for (const Figure& figure : figures) {
    if (figure.column_place > 0 && figure.column_place < kLastColumn) places.insert(figure.column_place);
    collect_places(figure.parts, places);
  }
}

TEST(ReportPages, the_page_tells_every_figure_as_the_list_defines_it) {
  const std::string page = read(kReportPage);
  EXPECT_EQ(report_page(page), page) << "tests/report/update writes the page anew";
}

TEST(ReportPages, the_schema_has_every_field_of_the_list) {
  EXPECT_EQ(report_schema(), read(kReportSchema)) << "tests/report/update writes the schema anew";
}

TEST(ReportPages, a_column_of_csv_has_a_place_of_its_own) {
  std::multiset<int> places;
  collect_places(figures(every_figure()), places);
  const std::set<int> different(places.begin(), places.end());
  EXPECT_EQ(different.size(), places.size());
  EXPECT_EQ(static_cast<std::size_t>(*different.rbegin()), places.size()) << "places follow one another";
}

}  // namespace
}  // namespace podsim::testing::report_pages_test
