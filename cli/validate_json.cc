// Predictions beside measurements as JSON.
#include <nlohmann/json.hpp>

#include "cli/validate_output.h"
#include "proto/writing/result_json.h"
#include "report/text.h"

namespace podsim {
namespace {

nlohmann::ordered_json errors_json(const ErrorSummary& errors) {
  return {{"rows", errors.rows},
          {"mean_error_pct", 100 * errors.mean},
          {"median_error_pct", 100 * errors.median},
          {"p90_error_pct", 100 * errors.p90},
          {"max_error_pct", 100 * errors.max},
          {"bias_pct", 100 * errors.bias}};
}

nlohmann::ordered_json number_or_null(const std::optional<double>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
}

nlohmann::ordered_json run_errors_object(const RunErrors& errors) {
  nlohmann::ordered_json json = errors_json(errors);
  json["with_band"] = errors.banded;
  json["inside_band"] = errors.inside;
  json["coverage_pct"] = 100 * errors.coverage();
  json["misfits"] = errors.misfits;
  return json;
}

void add_numbers(nlohmann::ordered_json& json, const std::string& prefix,
                 const std::vector<NamedNumber>& numbers) {
  for (const NamedNumber& number : numbers) json[prefix + number.name] = number.value;
}

void add_band(nlohmann::ordered_json& json, const PredictedRun& row) {
  const auto& band = row.report.band;
  const auto inside = row.inside_band();
  json["predicted_step_time_low_s"] =
      number_or_null(band ? std::optional(band->low.in_seconds()) : std::nullopt);
  json["predicted_step_time_high_s"] =
      number_or_null(band ? std::optional(band->high.in_seconds()) : std::nullopt);
  json["band"] = band ? band->kind : "";
  json["band_rows"] = band ? band->rows : 0;
  json["inside_band"] = inside ? nlohmann::ordered_json(*inside) : nlohmann::ordered_json();
}

nlohmann::ordered_json run_json(const PredictedRun& row) {
  const RunScenario& run = row.run;
  const Report& report = row.report;
  const auto error = row.error();
  nlohmann::ordered_json json = {{"id", run.id},
                                 {"measured_step_time_s", number_or_null(run.measured_s)},
                                 {"predicted_step_time_s", report.step_time.in_seconds()},
                                 {"error_pct", error ? nlohmann::ordered_json(100 * *error) : nullptr}};
  add_band(json, row);
  json.update({{"fits", report.memory.fits},
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
  if (run.measured_s) add_numbers(json, "measured_", rates(report, *run.measured_s));
  add_numbers(json, "predicted_", rates(report, report.step_time.in_seconds()));
  json["breakdown"] = nlohmann::ordered_json::object();
  add_numbers(json["breakdown"], "", where_time_goes(report));
  json["assumptions"] = run.assumptions;
  return json;
}

}  // namespace

std::string collective_errors_json(const std::vector<PredictedCollective>& rows, const std::string& sha256) {
  auto array = nlohmann::ordered_json::array();
  for (const auto& row : rows) {
    const MeasuredCollective& of = row.measured;
    array.push_back({{"id", of.id},
                     {"measured_time_s", of.time_s},
                     {"predicted_time_s", row.predicted_s},
                     {"error_pct", 100 * row.error()},
                     {"system", of.system},
                     {"network", of.network},
                     {"fabric", row.fabric},
                     {"gpus", of.gpus},
                     {"collective", std::string(to_string(of.collective.kind))},
                     {"bytes", of.collective.bytes.value},
                     {"measured_algorithm", of.algo},
                     {"algorithm", std::string(to_string(row.algorithm))},
                     {"representative", of.representative},
                     {"source", of.source}});
  }
  nlohmann::ordered_json summary = nlohmann::ordered_json::object();
  for (const auto& [of, errors] : summarize(rows)) summary[of] = errors_json(errors);
  nlohmann::ordered_json json = result_json<nlohmann::ordered_json>(sha256);
  json.update({{"rows", array}, {"summary", summary}});
  return json.dump(2) + "\n";
}

// A row is a scenario, and what was measured of it.
std::string run_errors_json(const RunValidation& runs) {
  std::vector<std::string> asked;
  auto rows = nlohmann::ordered_json::array(), skipped = nlohmann::ordered_json::array();
  for (const RunScenario& run : runs.skipped) skipped.push_back({{"id", run.id}, {"reason", run.skipped}});
  for (const PredictedRun& row : runs.rows) {
    if (row.failure.empty()) {
      rows.push_back(run_json(row));
      asked.push_back(row.report.scenario_sha256 + " " + shortest(row.run.measured_s.value_or(0)));
    } else {
      skipped.push_back({{"id", row.run.id}, {"reason", row.failure}});
    }
  }
  const RunSummary all = summarize(runs.rows);
  nlohmann::ordered_json summary = {{"all", run_errors_object(all.all)},
                                    {"family_mean_error_pct", 100 * all.family_mean},
                                    {"simulated", all.simulated},
                                    {"fitting", all.fitting}};
  for (const GroupedErrors& grouped : all.grouped) {
    nlohmann::ordered_json by = nlohmann::ordered_json::object();
    for (const auto& [name, errors] : grouped.groups) by[name] = run_errors_object(errors);
    summary["by_" + grouped.by] = by;
  }
  nlohmann::ordered_json json = result_json<nlohmann::ordered_json>(question_sha256("validate", asked));
  json.update({{"rows", rows}, {"summary", summary}, {"skipped", skipped}});
  return json.dump(2) + "\n";
}

}  // namespace podsim
