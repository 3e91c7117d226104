// Measured runs as a calibration sees them.
#include "calibration/calibration_runs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

#include "calibration/calibration_report.h"
#include "validation/validate_runs.h"

namespace podsim::calibration_runs_test {
namespace {

std::string text_of(const std::string& file) {
  std::ifstream in(std::string(PODSIM_SOURCE_DIR) + "/scenarios/" + file);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

// Three runs of 8 GPUs with 16 and 8 bits, two kernels of attention and three stacks.
std::vector<CalibrationRow> few_rows(const Catalog& catalog) {
  std::vector<CalibrationRow> rows;
  for (CalibrationRow& row :
       read_calibration_rows("data/gpu_runs.csv", text_of("measurements/gpu_runs.csv"), catalog, false)
           .rows) {
    const bool is_new =
        std::ranges::none_of(rows, [&](const auto& other) { return other.run.stack == row.run.stack; });
    if (row.run.chips == 8 && is_new && rows.size() < 3) rows.push_back(std::move(row));
  }
  return rows;
}

CalibrationTable table_of(const Catalog& catalog) {
  CalibrationTable table;
  EXPECT_TRUE(add_calibration_lines("gpu.csv", text_of("calibration/gpu.csv"), catalog, table).empty());
  return table;
}

TEST(CalibrationRuns, only_ready_runs_are_read_unless_all_are_wanted) {
  const Catalog catalog;
  const std::string text = text_of("measurements/gpu_runs.csv");
  const auto ready = read_calibration_rows("data/gpu_runs.csv", text, catalog, false).rows;
  const auto all = read_calibration_rows("data/gpu_runs.csv", text, catalog, true).rows;
  EXPECT_EQ(ready.size(), 217u);
  EXPECT_GT(all.size(), ready.size());
  EXPECT_EQ(ready.front().table, "gpu_runs");
  for (const CalibrationRow& row : ready) EXPECT_TRUE(row.run.ready && row.run.measured_s) << row.run.id;
}

TEST(CalibrationRuns, the_catalogue_gets_the_values_of_the_table) {
  const Catalog built_in;
  const CalibrationTable table = table_of(built_in);
  const std::vector<double> values = table.values(std::vector<double>(table.parameters.size(), 0.5));
  const Catalog catalog = catalog_with(table, values);
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_EQ(catalog.number(table.numbers[i].section, table.numbers[i].entry, table.numbers[i].path),
              values[i]);
}

TEST(CalibrationRuns, errors_are_those_of_ordinary_predictions) {
  const Catalog catalog;
  const CalibrationTable table = table_of(catalog);
  const auto rows = few_rows(catalog);
  ASSERT_EQ(rows.size(), 3u);
  const std::vector<double> offsets(table.parameters.size(), 0);
  const SimulatedRuns runs(rows, table, {}, 2, {});
  const auto errors = runs.log_errors({{offsets, {true, false, true}}});
  const Catalog started = catalog_with(table, table.values(offsets));
  EXPECT_EQ(errors[0][0], std::log1p(*predict_run(rows[0].run, started).error()));
  EXPECT_EQ(errors[0][1], 0) << "not wanted";
  EXPECT_EQ(errors[0][2], std::log1p(*predict_run(rows[2].run, started).error()));
}

TEST(CalibrationRuns, parameters_that_do_not_concern_a_run_do_not_change_it) {
  const Catalog catalog;
  const CalibrationTable table = table_of(catalog);
  const auto rows = few_rows(catalog);
  const SimulatedRuns runs(rows, table, {}, 2, {});
  const std::vector<double> start(table.parameters.size(), 0);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    std::vector<bool> only(rows.size(), false);
    only[row] = true;
    FitQuestion moved{start, only};
    int others = 0;
    for (std::size_t p = 0; p < table.parameters.size(); ++p) {
      const std::vector<double> effect = runs.effect(p, row);
      if (std::ranges::any_of(effect, [](double change) { return change != 0; })) continue;
      moved.offsets[p] = -1;
      ++others;
    }
    EXPECT_GT(others, 10);
    const auto errors = runs.log_errors({{start, only}, moved});
    EXPECT_EQ(errors[0][row], errors[1][row]) << rows[row].run.id;
  }
}

TEST(CalibrationRuns, mixtures_of_experts_and_runs_with_assumptions_are_held_to_less) {
  auto rows = few_rows(Catalog());
  rows[1].run.architecture = "moe";
  rows[2].run.ready = false;
  EXPECT_EQ(SimulatedRuns(rows, CalibrationTable(), {0.05, 0.15}, 1, {}).scales(),
            (std::vector<double>{0.05, 0.15, 0.15}));
}

// The whole way on a few runs: fitted, rounded, and the same again.
TEST(CalibrationRuns, a_calibration_lowers_the_cost_and_repeats_itself) {
  const Catalog catalog;
  CalibrationTable table;
  ASSERT_TRUE(
      add_calibration_lines("t.csv",
                            "section,entries,paths,kind,start,spread,low,high,source\n"
                            "chip,a100_40|a100_80|h100,matmul.bf16.sustained,scale,0.7,0.2,0.2,1,assumed\n",
                            catalog, table)
          .empty());
  auto rows = few_rows(catalog);
  for (CalibrationRow& row : rows) *row.run.measured_s *= 0.8;
  const auto fit = [&] {
    const SimulatedRuns runs(rows, table, {}, 2, {});
    return Calibrator(runs, {}).fit();
  };
  const Fitted first = fit(), second = fit();
  EXPECT_NE(first.offsets[0], 0);
  EXPECT_EQ(first.offsets, second.offsets);
  EXPECT_EQ(number_changes(table, first.offsets)[0].value, number_changes(table, second.offsets)[0].value);
}

}  // namespace
}  // namespace podsim::calibration_runs_test
