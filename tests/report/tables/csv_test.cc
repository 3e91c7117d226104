// Spreadsheet output.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "report/tables/write.h"
#include "tests/report/example.h"
#include "tests/text_lines.h"

namespace podsim::csv_test {
namespace {

using testing::lines_of;

TEST(Csv, one_header_and_one_line_per_report) {
  const std::vector<Report> reports = {example_report(), example_report()};
  const std::vector<std::string> lines = lines_of(report_csv(reports));
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0].rfind("scenario,question,model,chip,chips,", 0), 0u);
  EXPECT_EQ(lines[1], lines[2]);
  EXPECT_NE(lines[1].find(",10.000000000000,"), std::string::npos);
}

TEST(Csv, the_error_band_has_columns_that_stay_empty_without_one) {
  std::vector<Report> reports = {example_report(), example_report()};
  reports[0].band = StepTimeBand{Time::seconds(9), Time::seconds(12), "same chip", 40};
  const std::vector<std::string> lines = lines_of(report_csv(reports));
  EXPECT_NE(lines[0].find(",step_time_low_s,step_time_high_s,step_time_band,step_time_band_rows,"),
            std::string::npos);
  EXPECT_NE(lines[1].find(",9.000000000000,12.000000000000,same chip,40,"), std::string::npos) << lines[1];
  EXPECT_NE(lines[2].find(",,,,0,"), std::string::npos) << lines[2];
}

TEST(Csv, columns_are_the_union_and_cells_without_value_are_empty) {
  std::vector<Report> reports = {example_report(), example_report()};
  reports[0].exposed.clear();
  const std::vector<std::string> lines = lines_of(report_csv(reports));
  EXPECT_NE(lines[0].find("exposed_communication_s.data.reduce-scatter"), std::string::npos);
  const auto commas = [](const std::string& line) { return std::count(line.begin(), line.end(), ','); };
  EXPECT_EQ(commas(lines[0]), commas(lines[1]));
  EXPECT_EQ(commas(lines[1]), commas(lines[2]));
}

TEST(Csv, text_that_a_spreadsheet_would_run_is_text_and_numbers_stay_numbers) {
  std::vector<Report> reports = {example_report()};
  for (const std::string formula : {"=1+2", "+1", "-1", "@SUM(A1)", "\tx", "\rx"}) {
    reports[0].scenario = formula;
    reports[0].question = "a =b";
    const std::string line = lines_of(report_csv(reports)).at(1);
    EXPECT_NE(report_csv(reports).find("'" + formula), std::string::npos) << formula;
    EXPECT_EQ(line.find("'a"), std::string::npos) << line;
  }
  reports[0].straggler_delay = Time::seconds(-1);
  EXPECT_NE(report_csv(reports).find(",-1.000000000000,"), std::string::npos);
}

TEST(Csv, commas_and_quotes_in_a_question_stay_in_one_cell) {
  std::vector<Report> reports = {example_report()};
  reports[0].question = "One, or \"two\"?";
  EXPECT_NE(report_csv(reports).find("example,\"One, or \"\"two\"\"?\",model_a"), std::string::npos);
}

}  // namespace
}  // namespace podsim::csv_test
