// Fits physical parameters of chips and stacks to published runs, and says how well runs that it has not seen
// are predicted. docs/validation.md tells how its output becomes data.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <map>
#include <thread>

#include "planner/csv_table.h"
#include "planner/error_summary.h"
#include "planner/robust_fit.h"
#include "planner/validate_runs.h"
#include "proto/read_file.h"

namespace podsim {
namespace {

using Section = Catalog::Section;

struct Options {
  std::vector<std::string> tables;
  std::string parameters;
  int folds = 6;
  int rounds = 3;
  double scale = 0.05;
  bool rows = false;
};

// A number of the catalogue, or several that move together.
struct Parameter {
  struct Number {
    std::string entry, path;
    double start;
  };
  Section section;
  std::vector<Number> numbers;
  bool additive = false;  // else it is scaled: offsets are logarithms
  double spread = 0;      // how far it may plausibly be off, one standard deviation
  double low = 0, high = 0;

  double value(const Number& number, double offset) const {
    const double moved = additive ? number.start + spread * offset : number.start * std::exp(spread * offset);
    return std::clamp(moved, low, high);
  }
};

struct Row {
  RunScenario run;
  int group = 0;
  double weight = 1;
};

[[noreturn]] void fail(const std::vector<Problem>& problems) {
  for (const Problem& problem : problems)
    std::fprintf(stderr, "%s:%d:%d: %s\n", problem.file.c_str(), problem.line, problem.column,
                 problem.message.c_str());
  std::exit(2);
}

std::string read(const std::string& file) {
  std::vector<Problem> problems;
  auto text = read_file(file, problems);
  if (!text) fail(problems);
  return *std::move(text);
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (char c : text) c == separator ? (void)parts.emplace_back() : (void)(parts.back() += c);
  return parts;
}

std::vector<Parameter> read_parameters(const std::string& file, const Catalog& catalog) {
  CsvTable table(file, read(file));
  std::vector<Parameter> parameters;
  for (const CsvRow& row : table.rows()) {
    Parameter parameter;
    parameter.section = table.cell(row, "section").text == "chip" ? Section::kChips : Section::kStacks;
    parameter.additive = table.cell(row, "kind").text == "add";
    parameter.spread = table.number(row, "spread", 0).value_or(0);
    parameter.low = table.number(row, "low", -1e300).value_or(0);
    parameter.high = table.number(row, "high", -1e300).value_or(0);
    for (const std::string& entry : split(table.cell(row, "entries").text, '|')) {
      for (const std::string& path : split(table.cell(row, "paths").text, '|')) {
        const auto value = catalog.number(parameter.section, entry, path);
        if (value) parameter.numbers.push_back({entry, path, *value});
      }
    }
    if (parameter.numbers.empty()) table.report(row, "paths", "none of the entries has such a number");
    parameters.push_back(std::move(parameter));
  }
  if (!table.problems().empty()) fail(table.problems());
  return parameters;
}

// Every family counts with the square root of its rows or so, that a large one does not pull all.
std::vector<Row> read_rows(const Options& options, const Catalog& catalog) {
  constexpr double kFamilyExponent = -0.35;
  std::vector<Row> rows;
  std::map<std::string, int> group_of, rows_in_family;
  for (const std::string& file : options.tables) {
    const RunTable table = read_run_table(file, read(file));
    if (!table.problems.empty()) fail(table.problems);
    for (const RunRow& row : table.rows) {
      RunScenario run = run_scenario(row, builtin_run_rules(), catalog);
      if (!run.skipped.empty() || !run.ready || !run.measured_s) continue;
      const std::string group = row.has("group") ? row.text("group") : run.chip + run.model;
      const int number = group_of.emplace(group, static_cast<int>(group_of.size())).first->second;
      ++rows_in_family[run.family];
      rows.push_back({std::move(run), number, 1});
    }
  }
  for (Row& row : rows) row.weight = std::pow(rows_in_family[row.run.family], kFamilyExponent);
  return rows;
}

// [row] log(predicted / measured); rows that are not `wanted` keep what is in `known`.
std::vector<double> log_errors(const std::vector<Row>& rows, const Catalog& catalog,
                               const std::vector<bool>& wanted, std::vector<double> known) {
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i; (i = next++) < rows.size();) {
      if (!wanted[i]) continue;
      const PredictedRun run = predict_run(rows[i].run, catalog);
      known[i] = std::log1p(run.error().value_or(0));
    }
  };
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < std::thread::hardware_concurrency(); ++t) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  return known;
}

bool names(const std::string& scenario, Section section, const std::string& entry) {
  const std::string line = std::string(section == Section::kChips ? "chip" : "stack") + ": \"" + entry + "\"";
  return scenario.find(line) != std::string::npos;
}

Catalog catalog_at(const std::vector<Parameter>& parameters, const std::vector<double>& offsets) {
  Catalog catalog;
  for (std::size_t p = 0; p < parameters.size(); ++p)
    for (const Parameter::Number& number : parameters[p].numbers)
      catalog.set_number(parameters[p].section, number.entry, number.path,
                         parameters[p].value(number, offsets[p]));
  return catalog;
}

// Slopes by one prediction of every row that a parameter concerns, half a spread away.
FitProblem linearise(const std::vector<Row>& rows, const std::vector<Parameter>& parameters,
                     const std::vector<double>& offsets) {
  constexpr double kStep = 0.5;
  FitProblem problem;
  const std::vector<bool> all(rows.size(), true);
  problem.error = log_errors(rows, catalog_at(parameters, offsets), all, std::vector<double>(rows.size(), 0));
  problem.slope.assign(rows.size(), std::vector<double>(parameters.size(), 0));
  for (const Row& row : rows) problem.weight.push_back(row.weight);
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    std::vector<bool> concerned;
    for (const Row& row : rows)
      concerned.push_back(std::any_of(
          parameters[p].numbers.begin(), parameters[p].numbers.end(),
          [&](const auto& number) { return names(row.run.text, parameters[p].section, number.entry); }));
    std::vector<double> moved = offsets;
    moved[p] += kStep;
    const std::vector<double> errors =
        log_errors(rows, catalog_at(parameters, moved), concerned, problem.error);
    for (std::size_t row = 0; row < rows.size(); ++row)
      problem.slope[row][p] = (errors[row] - problem.error[row]) / kStep;
    std::fprintf(stderr, "\r%zu of %zu parameters", p + 1, parameters.size());
  }
  std::fprintf(stderr, "\n");
  // The fit knows errors at the start, where offsets are zero.
  for (std::size_t row = 0; row < rows.size(); ++row)
    for (std::size_t p = 0; p < parameters.size(); ++p)
      problem.error[row] -= problem.slope[row][p] * offsets[p];
  return problem;
}

void print_summary(const char* what, const std::vector<Row>& rows, const std::vector<double>& log_error) {
  std::vector<double> errors;
  std::vector<std::pair<std::string, std::vector<double>>> families;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    errors.push_back(std::expm1(log_error[i]));
    auto at = std::find_if(families.begin(), families.end(),
                           [&](const auto& each) { return each.first == rows[i].run.family; });
    if (at == families.end()) at = families.insert(families.end(), {rows[i].run.family, {}});
    at->second.push_back(errors.back());
  }
  const ErrorSummary all = summarize_errors(errors);
  double family_mean = 0;
  for (const auto& [name, of] : families)
    family_mean += summarize_errors(of).mean / static_cast<double>(families.size());
  std::printf(
      "%-28s %4d rows  mean %5.2f  family mean %5.2f  median %5.2f  p90 %5.2f  max %5.1f  bias %+5.2f\n",
      what, all.rows, 100 * all.mean, 100 * family_mean, 100 * all.median, 100 * all.p90, 100 * all.max,
      100 * all.bias);
  for (const auto& [name, of] : families) {
    const ErrorSummary errors_of = summarize_errors(of);
    std::printf("  %-26s %4d       mean %5.2f  median %5.2f  max %5.1f  bias %+5.2f\n", name.c_str(),
                errors_of.rows, 100 * errors_of.mean, 100 * errors_of.median, 100 * errors_of.max,
                100 * errors_of.bias);
  }
}

void calibrate(const Options& options) {
  const Catalog catalog;
  const std::vector<Parameter> parameters = read_parameters(options.parameters, catalog);
  const std::vector<Row> rows = read_rows(options, catalog);
  std::vector<int> groups;
  for (const Row& row : rows) groups.push_back(row.group);
  std::vector<double> offsets(parameters.size(), 0);
  FitProblem problem;
  for (int round = 0; round < options.rounds; ++round) {
    problem = linearise(rows, parameters, offsets);
    problem.scale = options.scale;
    if (round == 0) print_summary("before", rows, problem.error);
    offsets = fit_offsets(problem);
  }
  const std::vector<double> all_rows =
      log_errors(rows, catalog_at(parameters, offsets), std::vector<bool>(rows.size(), true),
                 std::vector<double>(rows.size(), 0));
  print_summary("fitted, seen", rows, all_rows);
  const std::vector<double> unseen = left_out_errors(problem, groups, options.folds);
  print_summary("fitted, groups left out", rows, unseen);
  if (options.rows)
    for (std::size_t i = 0; i < rows.size(); ++i)
      std::printf("%-28s %-26s seen %+6.1f unseen %+6.1f\n", rows[i].run.id.c_str(),
                  rows[i].run.family.c_str(), 100 * std::expm1(all_rows[i]), 100 * std::expm1(unseen[i]));
  std::printf("\nparameter, start, fitted, offset in spreads\n");
  for (std::size_t p = 0; p < parameters.size(); ++p)
    for (const Parameter::Number& number : parameters[p].numbers)
      std::printf("%-24s %-32s %9.4g %9.4g %+6.2f\n", number.entry.c_str(), number.path.c_str(), number.start,
                  parameters[p].value(number, offsets[p]), offsets[p]);
}

}  // namespace
}  // namespace podsim

int main(int count, char** arguments) {
  podsim::Options options;
  CLI::App app("Fits parameters of the catalogue to published runs, with cross-validation by group.");
  app.add_option("tables", options.tables, "Tables of measured runs")->required();
  app.add_option("--parameters", options.parameters, "Which numbers, and how far each may be off")
      ->required();
  app.add_option("--folds", options.folds, "Parts into which groups are dealt")->check(CLI::Range(2, 1000));
  app.add_option("--rounds", options.rounds, "Linearisations")->check(CLI::Range(1, 20));
  app.add_option("--scale", options.scale, "Error above which a row counts less")
      ->check(CLI::Range(1e-3, 1.0));
  app.add_flag("--rows", options.rows, "Print every row");
  CLI11_PARSE(app, count, arguments);
  podsim::calibrate(options);
}
