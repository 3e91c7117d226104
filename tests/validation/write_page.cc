// Predicts all published runs and rewrites docs/evidence/validation.md: tests/validation/update calls it.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "prediction/error_band.h"
#include "proto/catalog/catalog.h"
#include "proto/text/csv_table.h"
#include "tests/validation/validation_page.h"

namespace podsim::testing {
namespace {

const std::string kRoot = PODSIM_SOURCE_DIR;

std::string read(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

struct Table {
  std::vector<PredictedRun> predicted;
  std::vector<RunScenario> skipped;
};

Table predict_table(const std::string& path, const Catalog& catalog) {
  const RunTable table = read_run_table(path, read(path));
  for (const Problem& problem : table.problems) std::fprintf(stderr, "%s", format_problem(problem).c_str());
  if (!table.problems.empty()) std::exit(2);
  Table result;
  std::vector<RunScenario> runs;
  for (const RunRow& row : table.rows) {
    RunScenario run = run_scenario(row, builtin_run_rules(), catalog);
    (run.skipped.empty() ? runs : result.skipped).push_back(std::move(run));
  }
  result.predicted = predict_runs(runs, catalog, 0);
  return result;
}

void add(Table table, PageInput& input) {
  for (PredictedRun& run : table.predicted) {
    PageRow& row = input.rows.emplace_back(PageRow{std::move(run), {}, {}});
    const RunScenario& of = row.predicted.run;
    if (const Residual* residual = find_residual(builtin_residuals(), of.family, of.id)) {
      row.group_left_out = {std::expm1(residual->log_error),
                            inside_with_group_left_out(*residual, builtin_residuals())};
      row.chip_left_out = {std::expm1(residual->chip_left_out_log_error),
                           inside_with_chip_left_out(*residual, builtin_residuals())};
    }
  }
  input.skipped.insert(input.skipped.end(), table.skipped.begin(), table.skipped.end());
}

std::vector<KnownCause> known_causes() {
  const std::string path = kRoot + "/scenarios/measurements/known_causes.csv";
  const CsvTable table(path, read(path));
  std::vector<KnownCause> causes;
  for (const CsvRow& row : table.rows())
    causes.push_back(
        {table.cell(row, "family").text, table.cell(row, "id").text, table.cell(row, "why").text});
  return causes;
}

// PODSIM_DATA names a folder that has the tables.
std::string own_tables(const Catalog& catalog, const std::string& old_page) {
  const char* folder = std::getenv("PODSIM_DATA");
  if (!folder) return own_tables_section(old_page);
  std::vector<NamedRuns> tables;
  for (const char* name : {"vtrain-multi", "vtrain-single"})
    tables.push_back({name, predict_table(std::string(folder) + "/" + name + ".csv", catalog).predicted});
  return own_tables_section(tables);
}

void write_page() {
  const std::string path = kRoot + "/docs/evidence/validation.md";
  const Catalog catalog;
  PageInput input;
  input.head = read(kRoot + "/tests/validation/head.md");
  input.causes = known_causes();
  for (const char* table : {"gpu_runs", "tpu_runs"})
    add(predict_table(kRoot + "/scenarios/measurements/" + table + ".csv", catalog), input);
  input.new_software = new_software_section(builtin_new_stack_residuals(), builtin_residuals());
  input.own_tables = own_tables(catalog, read(path));
  const std::string page = validation_page(input);
  std::ofstream(path + ".new", std::ios::binary) << page;
  if (std::rename((path + ".new").c_str(), path.c_str()) != 0) std::exit(1);
}

}  // namespace
}  // namespace podsim::testing

int main() { podsim::testing::write_page(); }
