// What a calibration writes: rounded numbers and tables of residuals; and that the tables of the project are
// read.
#include "calibration/calibration_report.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

namespace podsim::calibration_report_test {
namespace {

CalibrationRow row(const std::string& table, const std::string& id, const std::string& family) {
  CalibrationRow result;
  result.table = table;
  result.run.id = id;
  result.run.family = family;
  result.run.group = "7B, 2K";
  result.run.chip = "h100";
  result.run.stack = "torchtitan";
  result.run.architecture = "dense";
  result.run.chips = 64;
  return result;
}

// The table without its comments.
std::string lines_of(const std::string& table) {
  const std::size_t header =
      table.find("id,table,family,group,chip,chip_kind,stack,arch,chips,log_error,chip_left_out_log_error\n");
  return header == std::string::npos ? "no header" : table.substr(table.find('\n', header) + 1);
}

TEST(CalibrationReport, residuals_are_one_line_per_run) {
  EXPECT_EQ(lines_of(residuals_text("", {row("gpu_runs", "g1", "f")}, {0.01234}, {-0.2})),
            "g1,gpu_runs,f,\"7B, 2K\",h100,GPU,torchtitan,dense,64,0.01234,-0.20000\n");
}

TEST(CalibrationReport, residuals_of_other_tables_stay_and_those_of_the_same_table_are_replaced) {
  const std::string first =
      residuals_text("", {row("tpu_runs", "t1", "f"), row("gpu_runs", "g1", "f")}, {0.1, 0.2}, {0.3, 0.4});
  const std::string second = residuals_text(first, {row("gpu_runs", "g2", "f")}, {0.5}, {0.6});
  EXPECT_EQ(lines_of(second),
            "g2,gpu_runs,f,\"7B, 2K\",h100,GPU,torchtitan,dense,64,0.50000,0.60000\n"
            "t1,tpu_runs,f,\"7B, 2K\",h100,GPU,torchtitan,dense,64,0.10000,0.30000\n");
  EXPECT_EQ(residuals_text(second, {row("gpu_runs", "g2", "f")}, {0.5}, {0.6}), second) << "again, the same";
}

TEST(CalibrationReport, an_experiment_tells_only_of_its_rows_table_by_table) {
  const std::vector<CalibrationRow> rows = {row("gpu_runs", "g1", "near"), row("gpu_runs", "g2", "far"),
                                            row("tpu_runs", "t1", "seen")};
  const std::string text =
      experiment_text("unseen", rows, {0, std::log(1.5), 0.7}, {true, true, false}, true);
  EXPECT_NE(text.find("unseen: gpu_runs, dense with assumptions"), std::string::npos);
  EXPECT_NE(text.find("mean over families 25.0"), std::string::npos) << text;
  EXPECT_NE(text.find("g2"), std::string::npos);
  EXPECT_EQ(text.find("tpu_runs"), std::string::npos);
}

TEST(CalibrationReport, fitted_numbers_are_written_to_three_digits) {
  CalibrationTable table;
  table.numbers = {{Catalog::Section::kChips, "h100", "matmul.bf16.sustained", 0.72345, 0.2, 1},
                   {Catalog::Section::kStacks, "torchtitan", "host_launch_us", 12.3456, 1, 99}};
  const auto changes = number_changes(table, {});
  EXPECT_EQ(changes[0].value, 0.723);
  EXPECT_EQ(changes[1].value, 12.3);
  EXPECT_EQ(changes[1].entry, "torchtitan");
}

TEST(CalibrationReport, a_number_at_its_bound_and_an_offset_beyond_two_spreads_are_marked) {
  const Catalog catalog;
  CalibrationTable table;
  ASSERT_TRUE(add_calibration_lines("t.csv",
                                    "section,entries,paths,kind,start,spread,low,high,source\n"
                                    "chip,h100,matmul.bf16.sustained,scale,0.9,0.1,0.5,1,paper\n",
                                    catalog, table)
                  .empty());
  EXPECT_NE(fitted_text(table, {2.5}).find("beyond two spreads"), std::string::npos);
  EXPECT_NE(fitted_text(table, {2.5}).find("at its bound"), std::string::npos);
  EXPECT_EQ(fitted_text(table, {0.5}).find("at its bound"), std::string::npos);
}

TEST(CalibrationTables, those_of_the_project_agree_with_its_catalogue) {
  const Catalog catalog;
  CalibrationTable table;
  for (const char* name : {"gpu.csv", "tpu.csv"}) {
    std::ifstream file(std::string(PODSIM_SOURCE_DIR) + "/scenarios/calibration/" + name);
    std::stringstream text;
    text << file.rdbuf();
    for (const Problem& problem : add_calibration_lines(name, text.str(), catalog, table))
      ADD_FAILURE() << format_problem(problem);
  }
  EXPECT_GT(table.parameters.size(), 50u);
}

}  // namespace
}  // namespace podsim::calibration_report_test
