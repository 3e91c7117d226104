// Predictions beside measurements as JSON.
#include <utility>

#include "cli/validation/validate_output.h"
#include "proto/writing/figure_json.h"
#include "proto/writing/result_json.h"
#include "report/text/text.h"
#include "validation/layout_ranking.h"

namespace podsim {
namespace {

using Figures = std::vector<Figure>;

Figures error_figures(const ErrorSummary& errors) {
  return {{"rows", errors.rows},
          {"mean_error_pct", 100 * errors.mean},
          {"median_error_pct", 100 * errors.median},
          {"p90_error_pct", 100 * errors.p90},
          {"max_error_pct", 100 * errors.max},
          {"bias_pct", 100 * errors.bias}};
}

Figure run_error_figures(const std::string& key, const RunErrors& errors) {
  Figures parts = error_figures(errors);
  append(parts, {{"with_band", errors.banded},
                 {"inside_band", errors.inside},
                 {"coverage_pct", 100 * errors.coverage()},
                 {"misfits", errors.misfits}});
  return Figure::group(key, std::move(parts));
}

Figures named_numbers(const std::string& prefix, const std::vector<NamedNumber>& numbers) {
  Figures parts;
  for (const NamedNumber& number : numbers) parts.emplace_back(prefix + number.name, number.value);
  return parts;
}

Figures band_figures(const PredictedRun& row) {
  const auto& band = row.report.band;
  const auto inside = row.inside_band();
  return {{"predicted_step_time_low_s", band ? FigureValue(band->low.in_seconds()) : FigureValue()},
          {"predicted_step_time_high_s", band ? FigureValue(band->high.in_seconds()) : FigureValue()},
          {"band", band ? band->kind : ""},
          {"band_rows", band ? band->rows : 0},
          {"inside_band", inside ? FigureValue(*inside) : FigureValue()}};
}

Figure run_figures(const PredictedRun& row) {
  const RunScenario& run = row.run;
  const Report& report = row.report;
  const auto error = row.error();
  Figures parts = {{"id", run.id},
                   {"measured_step_time_s", known(run.measured_s)},
                   {"predicted_step_time_s", report.step_time.in_seconds()},
                   {"error_pct", error ? FigureValue(100 * *error) : FigureValue()}};
  append(parts, band_figures(row));
  append(parts, {{"fits", report.memory.fits},
                 {"memory_gib", report.memory.total},
                 {"memory_capacity_gib", report.memory.capacity},
                 {"family", run.family},
                 {"chip", run.chip},
                 {"chips", run.chips},
                 {"model", run.model},
                 {"architecture", run.architecture},
                 {"stack", run.stack},
                 {"precision", run.precision},
                 {"parallelism", run.parallelism},
                 {"ready", run.ready}});
  if (run.measured_s) append(parts, named_numbers("measured_", rates(report, *run.measured_s)));
  append(parts, named_numbers("predicted_", rates(report, report.step_time.in_seconds())));
  parts.push_back(Figure::group("breakdown", named_numbers("", where_time_goes(report))));
  parts.push_back(Figure::list("assumptions", values_of(run.assumptions)));
  return Figure::group("", std::move(parts));
}

Figure rankings_of(const std::vector<LayoutRanking>& rankings) {
  Figures groups;
  for (const LayoutRanking& of : rankings)
    groups.push_back(Figure::group("", {{"family", of.family},
                                        {"model", of.model},
                                        {"chip", of.chip},
                                        {"chips", of.chips},
                                        {"rows", of.rows},
                                        {"kendall_tau", of.tau},
                                        {"regret_pct", 100 * of.regret}}));
  const RankingSummary mean = summarize(rankings);
  const auto known = [&](double value) { return mean.groups > 0 ? FigureValue(value) : FigureValue(); };
  return Figure::group("layout_rankings", {Figure::list("groups", std::move(groups)),
                                           {"mean_kendall_tau", known(mean.tau)},
                                           {"mean_regret_pct", known(100 * mean.regret)}});
}

Figure summary_of(const RunSummary& all) {
  Figures parts = {run_error_figures("all", all.all),
                   {"family_mean_error_pct", 100 * all.family_mean},
                   {"simulated", all.simulated},
                   {"fitting", all.fitting}};
  for (const GroupedErrors& grouped : all.grouped) {
    Figures by;
    for (const auto& [name, errors] : grouped.groups) by.push_back(run_error_figures(name, errors));
    parts.push_back(Figure::group("by_" + grouped.by, std::move(by)));
  }
  return Figure::group("summary", std::move(parts));
}

}  // namespace

std::string collective_errors_json(const std::vector<PredictedCollective>& rows, const std::string& sha256) {
  Figures list, summary;
  for (const auto& row : rows) {
    const MeasuredCollective& of = row.measured;
    list.push_back(Figure::group("", {{"id", of.id},
                                      {"measured_time_s", of.time_s},
                                      {"predicted_time_s", row.predicted_s},
                                      {"error_pct", 100 * row.error()},
                                      {"chip", of.chip},
                                      {"system", of.system},
                                      {"network", of.network},
                                      {"fabric", row.fabric},
                                      {"gpus", of.gpus},
                                      {"collective", std::string(to_string(of.collective.kind))},
                                      {"bytes", of.collective.bytes.value},
                                      {"measured_algorithm", of.algo},
                                      {"algorithm", std::string(to_string(row.algorithm))},
                                      {"representative", of.representative},
                                      {"source", of.source}}));
  }
  for (const auto& [of, errors] : summarize(rows))
    summary.push_back(Figure::group(of, error_figures(errors)));
  return json_text(result_figure(sha256, {Figure::list("rows", std::move(list)),
                                          Figure::group("summary", std::move(summary))}),
                   JsonNumbers::kWithPoint);
}

// A row is a scenario, and what was measured of it.
std::string run_errors_json(const RunValidation& runs) {
  std::vector<std::string> asked;
  Figures rows, skipped;
  const auto skip = [&](const RunScenario& run, const std::string& reason) {
    skipped.push_back(Figure::group("", {{"id", run.id}, {"reason", reason}}));
  };
  for (const RunScenario& run : runs.skipped) skip(run, run.skipped);
  for (const PredictedRun& row : runs.rows) {
    if (row.failure.empty()) {
      rows.push_back(run_figures(row));
      asked.push_back(row.report.scenario_sha256 + " " + shortest(row.run.measured_s.value_or(0)));
    } else {
      skip(row.run, row.failure);
    }
  }
  return json_text(
      result_figure(question_sha256("validate", asked),
                    {Figure::list("rows", std::move(rows)), summary_of(summarize(runs.rows)),
                     rankings_of(layout_rankings(runs.rows)), Figure::list("skipped", std::move(skipped))}),
      JsonNumbers::kWithPoint);
}

}  // namespace podsim
