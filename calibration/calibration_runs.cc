// Simulates measured runs on all cores at many settings of the catalogue at once.
#include "calibration/calibration_runs.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>

#include "engine/check.h"
#include "engine/parallel_for.h"
#include "proto/scenario/load.h"
#include "validation/validate_runs.h"

namespace podsim {
namespace {

struct Task {
  const CalibrationRow* row;
  const Catalog* catalog;
};

// [task] log(predicted / measured).
std::vector<std::optional<double>> simulate(const std::vector<Task>& tasks, int threads,
                                            const SimulatedRuns::Progress& progress) {
  std::vector<std::optional<double>> errors(tasks.size());
  std::mutex telling;
  std::size_t done = 0;
  parallel_for(tasks.size(), threads, [&](std::size_t i) {
    const auto error = predict_run(tasks[i].row->run, *tasks[i].catalog).error();
    if (error) errors[i] = std::log1p(*error);
    const std::lock_guard lock(telling);
    ++done;
    if (progress) progress(done, tasks.size());
  });
  return errors;
}

bool starts_with_any(const std::string& path, const std::vector<std::string>& starts) {
  return std::ranges::any_of(starts, [&](const std::string& start) { return path.starts_with(start); });
}

// Which rates of its chip a run may use: of its attention kernel, of 16 bits and of the formats of its
// recipes.
std::vector<std::string> rates_used(const RunScenario& run, const Catalog& catalog) {
  const LoadResult loaded = load_scenario(run.id, run.text, catalog, {});
  if (!loaded.spec) return {""};
  const Job& job = loaded.spec->job;
  std::vector<std::string> rates = {"attention." + job.stack.attention_kernel + ".", "matmul.bf16.",
                                    "matmul.fp16.",
                                    "matmul." + std::string(to_string(job.precision.dtype)) + "."};
  for (const GemmPrecision& gemm : job.gemm_precision)
    rates.push_back("matmul." + std::string(to_string(gemm.recipe.dtype)) + ".");
  return rates;
}

// Whether the run can read this number: its chip, fabric or stack has it, and no other kernel or format is
// meant.
bool reads(const RunScenario& run, const std::vector<std::string>& rates, const CalibratedNumber& number) {
  if (number.section == Catalog::Section::kFabrics) return run.fabric == number.entry;
  if (number.section == Catalog::Section::kStacks) return run.stack == number.entry;
  const bool is_rate = starts_with_any(number.path, {"attention.", "matmul."});
  return run.chip == number.entry && (!is_rate || starts_with_any(number.path, rates));
}

}  // namespace

CalibrationRows read_calibration_rows(const std::string& file, const std::string& text,
                                      const Catalog& catalog, bool all) {
  const RunTable table = read_run_table(file, text);
  CalibrationRows result{{}, table.problems};
  for (const RunRow& row : table.rows) {
    RunScenario run = run_scenario(row, builtin_run_rules(), catalog);
    if (!run.skipped.empty() || !run.measured_s || *run.measured_s <= 0 || !(run.ready || all)) continue;
    result.rows.push_back({std::move(run), table_name(file), true});
  }
  return result;
}

Catalog catalog_with(const CalibrationTable& table, const std::vector<double>& values) {
  Catalog catalog;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const CalibratedNumber& number = table.numbers[i];
    const bool known = catalog.set_number(number.section, number.entry, number.path, values[i]);
    PODSIM_CHECK(known, "the table was read with this catalogue");
  }
  return catalog;
}

std::vector<std::optional<double>> log_errors(const std::vector<CalibrationRow>& rows, const Catalog& catalog,
                                              int threads) {
  std::vector<Task> tasks;
  for (const CalibrationRow& row : rows) tasks.push_back({&row, &catalog});
  return simulate(tasks, threads, {});
}

SimulatedRuns::SimulatedRuns(const std::vector<CalibrationRow>& rows, const CalibrationTable& table,
                             const RowScales& scales, int threads, Progress progress)
    : rows_(rows), table_(table), threads_(threads), progress_(std::move(progress)) {
  std::map<std::string, int> known;
  const Catalog catalog;
  for (const CalibrationRow& row : rows) {
    families_.push_back(known.emplace(row.run.family, static_cast<int>(known.size())).first->second);
    const bool stated = row.run.ready && row.run.architecture == "dense";
    fitted_.push_back(row.fitted);
    scales_.push_back(stated ? scales.stated : scales.assumed);
    const std::vector<std::string> rates = rates_used(row.run, catalog);
    reads_.emplace_back();
    for (std::size_t number = 0; number < table.numbers.size(); ++number)
      if (reads(row.run, rates, table.numbers[number])) reads_.back().push_back(number);
  }
}

std::vector<double> SimulatedRuns::effect(std::size_t parameter, std::size_t row) const {
  const std::vector<double> all = table_.effect(parameter);
  std::vector<double> effect;
  for (const std::size_t number : reads_[row]) effect.push_back(all[number]);
  return effect;
}

std::vector<std::vector<double>> SimulatedRuns::log_errors(const std::vector<FitQuestion>& questions) const {
  std::vector<Catalog> catalogs;
  for (const FitQuestion& question : questions)
    catalogs.push_back(catalog_with(table_, table_.values(question.offsets)));
  std::vector<Task> tasks;
  for (std::size_t q = 0; q < questions.size(); ++q)
    for (std::size_t row = 0; row < rows_.size(); ++row)
      if (questions[q].wanted[row]) tasks.push_back({&rows_[row], &catalogs[q]});
  const auto errors = simulate(tasks, threads_, progress_);
  std::vector<std::vector<double>> result(questions.size(), std::vector<double>(rows_.size(), 0));
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    PODSIM_CHECK(errors[i].has_value(), "run " + tasks[i].row->run.id + " can be simulated");
    result[static_cast<std::size_t>(tasks[i].catalog - catalogs.data())]
          [static_cast<std::size_t>(tasks[i].row - rows_.data())] = *errors[i];
  }
  return result;
}

}  // namespace podsim
