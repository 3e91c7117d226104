// Fits physical parameters of chips, fabrics and stacks to published runs, and says how well runs that it has
// not seen are predicted. docs/evidence/calibration.md tells how to use it.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>

#include "calibration/calibration_report.h"
#include "calibration/calibration_runs.h"
#include "proto/text/read_file.h"
#include "validation/run_condition.h"

namespace podsim {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::vector<std::string> tables, private_tables, parameters, only, predict_only, leave_out, fit_only;
  std::string write, residuals;
  int folds = 6;
  int threads = 0;  // one per core
  bool all = false, rows = false;
  FitSettings fit;
  RowScales scales;
};

[[noreturn]] void fail(const std::vector<Problem>& problems) {
  for (const Problem& problem : problems) std::fprintf(stderr, "%s", format_problem(problem).c_str());
  std::exit(2);
}

std::string read(const std::string& file) {
  std::vector<Problem> problems;
  auto text = read_file(file, problems);
  if (!text) fail(problems);
  return *std::move(text);
}

void write(const std::string& file, const std::string& text) {
  std::ofstream out(file, std::ios::binary);
  out << text << std::flush;
  if (out) return;
  std::fprintf(stderr, "%s cannot be written\n", file.c_str());
  std::exit(2);
}

RunCondition condition(const std::string& text) {
  RunCondition result;
  const std::string problem = result.read(text);
  if (problem.empty()) return result;
  std::fprintf(stderr, "%s\n", problem.c_str());
  std::exit(2);
}

CalibrationTable read_parameters(const Options& options, const Catalog& catalog) {
  CalibrationTable table;
  for (const std::string& file : options.parameters) {
    const auto problems = add_calibration_lines(file, read(file), catalog, table);
    if (!problems.empty()) fail(problems);
  }
  return table;
}

std::vector<CalibrationRow> read_rows(const Options& options, const Catalog& catalog) {
  std::vector<RunCondition> only, predict_only;
  for (const std::string& text : options.only) only.push_back(condition(text));
  for (const std::string& text : options.predict_only) predict_only.push_back(condition(text));
  std::vector<std::string> files = options.tables;
  files.insert(files.end(), options.private_tables.begin(), options.private_tables.end());
  std::vector<CalibrationRow> rows;
  for (const std::string& file : files) {
    auto read_from = read_calibration_rows(file, read(file), catalog, options.all);
    if (!read_from.problems.empty()) fail(read_from.problems);
    for (CalibrationRow& row : read_from.rows) {
      const auto holds = [&](const RunCondition& each) { return each.holds(row.run); };
      row.fitted = std::ranges::none_of(predict_only, holds);
      if (std::ranges::all_of(only, holds)) rows.push_back(std::move(row));
    }
  }
  return rows;
}

// Leaves out, and names, what cannot be simulated; the errors of the others with the catalogue as it is.
std::vector<double> keep_simulated(std::vector<CalibrationRow>& rows, const Catalog& catalog, int threads) {
  const auto errors = log_errors(rows, catalog, threads);
  std::vector<CalibrationRow> kept;
  std::vector<double> result;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (!errors[row]) {
      std::fprintf(stderr, "%s cannot be simulated\n", rows[row].run.id.c_str());
      continue;
    }
    result.push_back(*errors[row]);
    kept.push_back(std::move(rows[row]));
  }
  rows = std::move(kept);
  return result;
}

// [row] which group of a field it is in, numbered in the order of their first rows.
std::vector<int> groups_by(const std::string& field, const std::vector<CalibrationRow>& rows) {
  std::map<std::string, int> known;
  std::vector<int> groups;
  for (const CalibrationRow& row : rows)
    groups.push_back(known.emplace(*run_field(row.run, field), static_cast<int>(known.size())).first->second);
  return groups;
}

class Calibration {
 public:
  explicit Calibration(const Options& options)
      : options_(options),
        table_(read_parameters(options, catalog_)),
        rows_(read_rows(options, catalog_)),
        present_(keep_simulated(rows_, catalog_, options.threads)),
        runs_(rows_, table_, options.scales, options.threads, tell),
        calibrator_(runs_, options.fit) {
    if (!rows_.empty()) return;
    std::fprintf(stderr, "no rows\n");
    std::exit(2);
  }

  void run() {
    print("with the catalogue as it is", present_, every_row());
    print("at the starts", calibrator_.error_at_start(), every_row());
    const Fitted fitted = calibrator_.fit();
    print("fitted, and seen", fitted.log_error, every_row());
    std::printf("Correlation of the fitted errors within families: %.2f (%.2f assumed)\n\n",
                family_correlation(runs_.families(), fitted.log_error), options_.fit.family_correlation);
    std::printf("%s\n", fitted_text(table_, fitted.offsets).c_str());
    for (const std::string& field : options_.leave_out)
      print("unseen, each " + field + " left out", left_out(field), every_row());
    for (const std::string& text : options_.fit_only) fit_only(text);
    if (!options_.write.empty()) write_catalogue(number_changes(table_, fitted.offsets));
    if (!options_.residuals.empty()) write_residuals();
  }

 private:
  // To a person only: a log would be full of it.
  static void tell(std::size_t done, std::size_t all) {
    if (isatty(STDERR_FILENO) == 0) return;
    std::fprintf(stderr, "\r%zu of %zu simulations%s", done, all, done == all ? "\n" : "");
  }

  std::vector<bool> every_row() const { return std::vector<bool>(rows_.size(), true); }

  void print(const std::string& what, const std::vector<double>& errors,
             const std::vector<bool>& told) const {
    std::printf("%s", experiment_text(what, rows_, errors, told, options_.rows).c_str());
    std::fflush(stdout);
  }

  // Groups are many and share folds; families, chips and stacks are left out one by one.
  const std::vector<double>& left_out(const std::string& field) {
    const auto known = left_out_.find(field);
    if (known != left_out_.end()) return known->second;
    return left_out_[field] =
               left_out_errors(calibrator_, groups_by(field, rows_), field == "group" ? options_.folds : 0);
  }

  void fit_only(const std::string& text) {
    const RunCondition wanted = condition(text);
    std::vector<bool> unseen;
    for (const CalibrationRow& row : rows_) unseen.push_back(!wanted.holds(row.run));
    print("unseen, fitted only on " + text, calibrator_.predict({unseen}).front(), unseen);
  }

  void write_catalogue(std::vector<NumberChange> changes) const {
    std::vector<std::string> files;
    for (const char* folder : {"chips", "fabrics", "stacks"})
      for (const auto& entry : fs::directory_iterator(fs::path(options_.write) / folder))
        if (entry.path().extension() == ".textproto") files.push_back(entry.path().string());
    std::ranges::sort(files);
    std::vector<bool> done(changes.size(), false);
    for (const std::string& file : files) {
      const std::string before = read(file);
      const RewrittenFile after = rewrite_numbers(file, before, changes);
      if (!after.problems.empty()) fail(after.problems);
      for (const std::size_t change : after.done) done[change] = true;
      if (after.text != before) write(file, after.text);
    }
    for (std::size_t i = 0; i < changes.size(); ++i)
      if (!done[i])
        std::fprintf(stderr, "no file under %s has %s %s\n", options_.write.c_str(), changes[i].entry.c_str(),
                     changes[i].path.c_str());
  }

  // Rows of private tables are not written.
  void write_residuals() {
    const std::vector<double>&by_group = left_out("group"), &by_chip = left_out("chip");
    const std::string before = fs::exists(options_.residuals) ? read(options_.residuals) : "";
    std::size_t own = rows_.size();
    while (own > 0 && is_private(rows_[own - 1].table)) --own;
    const auto count = static_cast<std::ptrdiff_t>(own);
    write(options_.residuals, residuals_text(before, {rows_.begin(), rows_.begin() + count},
                                             {by_group.begin(), by_group.begin() + count},
                                             {by_chip.begin(), by_chip.begin() + count}));
  }

  bool is_private(const std::string& table) const {
    return std::ranges::any_of(options_.private_tables,
                               [&](const std::string& file) { return fs::path(file).stem() == table; });
  }

  Options options_;
  Catalog catalog_;
  CalibrationTable table_;
  std::vector<CalibrationRow> rows_;
  std::vector<double> present_;
  SimulatedRuns runs_;
  Calibrator calibrator_;
  std::map<std::string, std::vector<double>> left_out_;
};

}  // namespace
}  // namespace podsim

int main(int count, char** arguments) {
  podsim::Options options;
  CLI::App app(
      "Fits parameters of the catalogue to measured runs and tells how well unseen ones are predicted.");
  app.add_option("tables", options.tables, "Tables of measured runs")->required();
  app.add_option("--private", options.private_tables,
                 "Tables that are fitted too and left out of --residuals");
  app.add_option("--parameters", options.parameters, "What may be moved, from where and how far")->required();
  app.add_flag("--all", options.all, "Also rows that are not ready");
  app.add_option("--only", options.only, "Only rows of this condition, as arch=dense or chips<=1024");
  app.add_option("--predict-only", options.predict_only, "Never fit rows of this condition");
  app.add_option("--leave-out", options.leave_out, "Predict each of these unseen")
      ->check(CLI::IsMember({"group", "family", "chip", "stack"}));
  app.add_option("--fit-only", options.fit_only, "Fit rows of this condition, predict the others unseen");
  app.add_option("--folds", options.folds, "Parts into which groups are dealt")->check(CLI::Range(2, 1000));
  app.add_option("--rounds", options.fit.rounds, "Simulations that correct the fit")
      ->check(CLI::Range(1, 20));
  app.add_option("--left-out-rounds", options.fit.left_out_rounds, "The same of fits that leave rows out")
      ->check(CLI::Range(0, 20));
  app.add_option("--scale", options.scales.stated, "An ordinary error; what exceeds it counts less")
      ->check(CLI::Range(1e-3, 1.0));
  app.add_option("--assumed-scale", options.scales.assumed,
                 "The same of mixtures of experts and of rows that are not ready")
      ->check(CLI::Range(1e-3, 1.0));
  app.add_option("--family-correlation", options.fit.family_correlation,
                 "How alike rows of one family err: 0 = every row counts alike, 1 = every family does")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--threads", options.threads, "Simulations at once; 0 = one per core")
      ->check(CLI::Range(0, 1024));
  app.add_flag("--rows", options.rows, "Print every row");
  app.add_option("--write", options.write, "Catalogue directory whose files get the fitted numbers");
  app.add_option("--residuals", options.residuals,
                 "Table of what is left when groups and chips are left out");
  CLI11_PARSE(app, count, arguments);
  podsim::Calibration(options).run();
}
