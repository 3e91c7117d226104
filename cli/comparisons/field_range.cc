// Loads and simulates a scenario for each value.
#include "cli/comparisons/field_range.h"

#include <spdlog/spdlog.h>

#include <cmath>
#include <limits>
#include <utility>

#include "cli/answers/report_figures.h"
#include "cli/options/numbers.h"
#include "cli/scenarios/batch.h"
#include "prediction/evaluator.h"
#include "proto/scenario/load.h"
#include "proto/scenario/sweep.h"
#include "proto/writing/write.h"
#include "report/text/text.h"

namespace podsim {
namespace {

InputText read(const std::string& file) {
  std::vector<Problem> problems;
  std::optional<InputText> input = read_input(file, problems);
  if (!input) throw NoFigure(file, std::move(problems));
  return *std::move(input);
}

}  // namespace

std::string FieldRange::text() const { return path + "=" + shortest(from) + ".." + shortest(to); }

Override FieldRange::at(double value) const {
  return {path, whole_numbers ? std::to_string(static_cast<std::int64_t>(value)) : shortest(value)};
}

std::optional<FieldRange> field_range(const std::string& option, const std::string& text) {
  constexpr double kLeast = std::numeric_limits<double>::denorm_min(), kMost = 1e18;
  const std::size_t equals = text.find('='), dots = text.find("..");
  if (equals != std::string::npos && equals > 0 && dots != std::string::npos && dots > equals) {
    const auto from = number_between(text.substr(equals + 1, dots - equals - 1), kLeast, kMost),
               to = number_between(text.substr(dots + 2), kLeast, kMost);
    const std::string path = text.substr(0, equals);
    const bool whole_numbers = takes_whole_numbers(path);
    if (whole_numbers && from && to && (*from != std::floor(*from) || *to != std::floor(*to))) {
      spdlog::error("{} \"{}\": {} takes whole numbers", option, text, path);
      return std::nullopt;
    }
    if (from && to && *from < *to) return FieldRange{path, *from, *to, whole_numbers};
  }
  spdlog::error(
      "{} \"{}\": expected a field and two positive numbers, such as cluster.usd_per_chip_hour=0.5..10",
      option, text);
  return std::nullopt;
}

void tell_no_figure(const NoFigure& problem) {
  print_problems(problem.problems);
  if (problem.problems.empty()) spdlog::error("{}", problem.what());
}

FieldFigures::FieldFigures(const std::string& file, const Catalog& catalog, std::string figure)
    : input_(read(file)),
      figure_(std::move(figure)),
      catalog_(catalog),
      evaluator_(std::make_unique<Evaluator>()) {}
FieldFigures::FieldFigures(FieldFigures&&) noexcept = default;
FieldFigures::~FieldFigures() = default;

double FieldFigures::at(const std::vector<Override>& changes) {
  const LoadResult loaded = load_scenario(input_.name, input_.text, catalog_, changes);
  if (!loaded.spec) throw NoFigure(input_.name, loaded.problems);
  for (const Problem& warning : loaded.warnings)
    if (warned_.insert(format_problem(warning)).second) spdlog::warn("{}", format_problem(warning));
  if (!loaded.spec->jobs.empty())
    throw NoFigure(input_.name + " has jobs that share a cluster: give one with one job", {});
  const Report predicted = evaluator_->predict(*loaded.spec, {}).report;
  ++(predicted.memory.fits ? fits_ : misses_);
  if (predicted.shapes && warned_.insert("shapes").second) tell_of_longest_shapes({&predicted, 1});
  const ReportFigures report(report_json(predicted));
  const auto figure = report.at(figure_);
  using Kind = ReportFigure::Kind;
  if (!figure) throw NoFigure("--figure: " + report.there_is_no(figure_), {});
  if (figure->kind != Kind::kReal && figure->kind != Kind::kWhole)
    throw NoFigure("--figure: \"" + figure_ + "\" is no number in the report of " + input_.name, {});
  return figure->number;
}

int judge_fields(const std::vector<const FieldFigures*>& files) {
  std::vector<MemoryFit> jobs;
  for (const FieldFigures* each : files) {
    jobs.push_back({each->input().name, each->ever_fits()});
    if (each->ever_fits() && !each->always_fits())
      spdlog::warn("{} does not fit in the memory of its chips at every value", each->input().name);
  }
  return judge_fits(jobs);
}

}  // namespace podsim
