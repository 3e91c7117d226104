// Predictions beside measurements as JSON.
#include <nlohmann/json.hpp>

#include "cli/validate_output.h"

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

nlohmann::ordered_json where_time_goes(const Report& report) {
  return {{"compute_s", report.compute.in_seconds()},
          {"exposed_communication_s", report.exposed_communication.in_seconds()},
          {"pipeline_bubble_s", report.pipeline_bubble.in_seconds()},
          {"optimizer_s", report.optimizer.in_seconds()},
          {"input_stall_s", report.input_stall.in_seconds()},
          {"offload_wait_s", report.offload_wait.in_seconds()},
          {"evaluation_s", report.evaluation.in_seconds()}};
}

nlohmann::ordered_json run_json(const PredictedRun& row) {
  const RunScenario& run = row.run;
  const Report& report = row.report;
  const auto error = row.error();
  nlohmann::ordered_json json = {{"id", run.id},
                                 {"measured_step_time_s", number_or_null(run.measured_s)},
                                 {"predicted_step_time_s", report.step_time.in_seconds()},
                                 {"error_pct", error ? nlohmann::ordered_json(100 * *error) : nullptr},
                                 {"fits", report.memory.fits},
                                 {"memory_gib", report.memory.total},
                                 {"memory_capacity_gib", report.memory.capacity},
                                 {"family", run.family},
                                 {"chip", run.chip},
                                 {"chips", run.chips},
                                 {"model", run.model},
                                 {"precision", run.precision},
                                 {"parallelism", run.parallelism},
                                 {"predicted_tokens_per_s_per_chip", report.tokens_per_s_per_chip},
                                 {"predicted_mfu_full", report.mfu_full},
                                 {"breakdown", where_time_goes(report)},
                                 {"assumptions", run.assumptions}};
  if (run.measured_s && run.chips > 0)
    json["measured_tokens_per_s_per_chip"] = run.tokens_per_step / (*run.measured_s * run.chips);
  return json;
}

}  // namespace

std::string collective_errors_json(const std::vector<PredictedCollective>& rows) {
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
  return nlohmann::ordered_json{{"rows", array}, {"summary", summary}}.dump(2) + "\n";
}

std::string run_errors_json(const RunValidation& runs) {
  auto rows = nlohmann::ordered_json::array(), skipped = nlohmann::ordered_json::array();
  for (const RunScenario& run : runs.skipped) skipped.push_back({{"id", run.id}, {"reason", run.skipped}});
  for (const PredictedRun& row : runs.rows) {
    if (row.failure.empty()) {
      rows.push_back(run_json(row));
    } else {
      skipped.push_back({{"id", row.run.id}, {"reason", row.failure}});
    }
  }
  const RunSummary all = summarize(runs.rows);
  nlohmann::ordered_json summary = {{"all", errors_json(all.all)},
                                    {"family_mean_error_pct", 100 * all.family_mean},
                                    {"simulated", all.simulated},
                                    {"fitting", all.fitting}};
  for (const GroupedErrors& grouped : all.grouped) {
    nlohmann::ordered_json by = nlohmann::ordered_json::object();
    for (const auto& [name, errors] : grouped.groups) by[name] = errors_json(errors);
    summary["by_" + grouped.by] = by;
  }
  return nlohmann::ordered_json{{"rows", rows}, {"summary", summary}, {"skipped", skipped}}.dump(2) + "\n";
}

}  // namespace podsim
