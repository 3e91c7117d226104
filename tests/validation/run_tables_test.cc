// Every published run of the shipped tables loads as a scenario, and fits in memory as it did on its machine.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "proto/catalog/catalog.h"
#include "proto/text/csv_table.h"
#include "validation/validate_runs.h"

namespace podsim::run_tables_test {
namespace {

std::string read(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// The ready rows, and on tori the others whose mesh is stated.
std::vector<RunScenario> scenarios(const std::string& table, const Catalog& catalog) {
  const RunTable runs =
      read_run_table(table, read(PODSIM_SOURCE_DIR "/scenarios/measurements/" + table + ".csv"));
  EXPECT_TRUE(runs.problems.empty());
  std::vector<RunScenario> result;
  for (const RunRow& row : runs.rows) {
    RunScenario run = run_scenario(row, builtin_run_rules(), catalog);
    const bool meshed = row.text("sharding_ici").find('=') != std::string::npos;
    if (run.ready || (meshed && run.skipped.empty())) result.push_back(std::move(run));
  }
  return result;
}

std::vector<PredictedRun> predict(const std::string& table) {
  const Catalog catalog;
  const std::vector<RunScenario> runs = scenarios(table, catalog);
  for (const RunScenario& run : runs) EXPECT_EQ(run.skipped, "") << run.id;
  return predict_runs(runs, catalog, 0);
}

// Rows that are known not to fit, with the reason.
std::map<std::string, std::string> known_not_to_fit(const std::string& table) {
  const std::string path = PODSIM_SOURCE_DIR "/tests/validation/runs_that_do_not_fit.csv";
  const CsvTable list(path, read(path));
  EXPECT_TRUE(list.problems().empty());
  std::map<std::string, std::string> rows;
  for (const CsvRow& row : list.rows())
    if (list.cell(row, "table").text == table)
      rows[list.cell(row, "id").text] = list.cell(row, "reason").text;
  return rows;
}

void expect_to_load_and_fit(const std::string& table, std::size_t count) {
  const std::map<std::string, std::string> known = known_not_to_fit(table);
  const std::vector<PredictedRun> runs = predict(table);
  EXPECT_EQ(runs.size(), count);
  std::size_t misfits = 0;
  for (const PredictedRun& row : runs) {
    EXPECT_EQ(row.failure, "") << row.run.id;
    const MemoryReport& memory = row.report.memory;
    EXPECT_EQ(memory.fits, known.count(row.run.id) == 0)
        << row.run.id << " needs " << memory.total << " of " << memory.capacity << " GiB";
    misfits += memory.fits ? 0 : 1;
  }
  EXPECT_EQ(misfits, known.size());
}

TEST(RunTables, every_ready_gpu_run_loads_and_fits) { expect_to_load_and_fit("gpu_runs", 217); }

TEST(RunTables, every_torus_run_with_a_stated_mesh_loads_and_fits) { expect_to_load_and_fit("tpu_runs", 60); }

// Tables that are not part of the repository; PODSIM_DATA names a folder that has them.
void expect_errors_below(const std::string& table, std::size_t count, double mean, double p90) {
  const char* folder = std::getenv("PODSIM_DATA");
  if (!folder) GTEST_SKIP() << "PODSIM_DATA is not set";
  const std::string text = read(std::string(folder) + "/" + table + ".csv");
  if (text.empty()) GTEST_SKIP() << folder << " has no " << table << ".csv";
  ASSERT_TRUE(is_run_table(text));
  const Catalog catalog;
  std::vector<double> errors;
  for (const RunRow& row : read_run_table(table + ".csv", text).rows) {
    const RunScenario run = run_scenario(row, builtin_run_rules(), catalog);
    ASSERT_TRUE(run.ready) << run.id << " " << run.skipped;
    const PredictedRun predicted = predict_run(run, catalog);
    ASSERT_EQ(predicted.failure, "") << run.id;
    EXPECT_TRUE(predicted.report.memory.fits) << run.id;
    errors.push_back(predicted.error().value());
  }
  EXPECT_EQ(errors.size(), count);
  const ErrorSummary summary = summarize_errors(errors);
  EXPECT_LE(summary.mean, mean);
  EXPECT_LE(summary.p90, p90);
}

TEST(RunTables, vtrain_runs_on_many_nodes_are_predicted_within_8_5_percent_where_they_are_at_hand) {
  expect_errors_below("vtrain-multi", 42, 0.085, 0.15);
}

TEST(RunTables, vtrain_runs_on_one_node_are_predicted_within_9_percent_where_they_are_at_hand) {
  expect_errors_below("vtrain-single", 724, 0.09, 0.16);
}

TEST(RunTables, every_reason_is_told) {
  for (const char* table : {"gpu_runs", "tpu_runs"})
    for (const auto& [id, reason] : known_not_to_fit(table)) EXPECT_GT(reason.size(), 20u) << id;
}

}  // namespace
}  // namespace podsim::run_tables_test
