// Writes the report about weeks as JSON.
#include "cli/reliability_json.h"

#include <nlohmann/json.hpp>

#include "proto/writing/result_json.h"

namespace podsim {
namespace {

using Json = nlohmann::ordered_json;

Json spread(const Spread& spread) {
  return {{"mean", spread.mean},
          {"standard_deviation", spread.standard_deviation},
          {"standard_error", spread.standard_error},
          {"p05", spread.p05},
          {"p10", spread.p10},
          {"p50", spread.p50},
          {"p90", spread.p90},
          {"p95", spread.p95}};
}

Json closed_form(const ReliabilityClosedForms& forms) {
  return {{"failures_per_day", forms.failures_per_day},
          {"failures_per_1000_node_days", forms.failures_per_1000_node_days},
          {"mttf_h", forms.mttf_h},
          {"recovery_s", forms.recovery_s},
          {"young_interval_s", forms.young_s},
          {"daly_interval_s", forms.daly_s},
          {"best_interval_s", forms.best_interval_s},
          {"goodput", forms.goodput},
          {"ettr", forms.ettr},
          {"nodes_in_repair", forms.nodes_in_repair},
          {"spares_99", forms.spares_99},
          {"spares_99_9", forms.spares_99_9}};
}

Json interval_of(const IntervalReport& interval) {
  Json json = {{"choice", interval.choice}, {"interval_s", interval.interval_s}};
  if (interval.trials.empty()) return json;
  json["flat_from_s"] = interval.flat_from_s;
  json["flat_to_s"] = interval.flat_to_s;
  for (const IntervalTrial& trial : interval.trials)
    json["trials"].push_back({{"interval_s", trial.interval_s}, {"ettr", trial.ettr}});
  return json;
}

Json simulation(const ReliabilityReport& report) {
  const ReliabilityFigures& figures = report.figures;
  Json json = {{"seed", report.seed}, {"seeds", report.seeds}};
  json["ettr"] = spread(figures.ettr);
  json["goodput"] = spread(figures.goodput);
  json["scheduling_goodput"] = spread(figures.scheduling_goodput);
  json["runtime_goodput"] = spread(figures.runtime_goodput);
  if (figures.program_goodput > 0) {
    json["program_goodput"] = figures.program_goodput;
    json["ml_productivity_goodput"] = figures.ml_productivity_goodput;
  }
  json["failures"] = spread(figures.failures);
  json["interruptions"] = spread(figures.interruptions);
  json["uninterrupted"] = figures.uninterrupted;
  json["checkpoints"] = spread(figures.checkpoints);
  json["days"] = spread(figures.days);
  json["cost_usd"] = spread(figures.cost_usd);
  json["energy_mwh"] = spread(figures.energy_mwh);
  for (const BucketReport& bucket : report.buckets)
    json["buckets"].push_back({{"bucket", bucket.bucket},
                               {"ml_goodput", bucket.ml_goodput},
                               {"chip_hours", bucket.chip_hours},
                               {"share", bucket.share}});
  for (const ComponentFailures& component : report.components)
    json["components"].push_back(
        {{"component", component.component}, {"failures", component.mean}, {"share", component.share}});
  return json;
}

}  // namespace

std::string reliability_json(const ReliabilityReport& report) {
  Json json = result_json<nlohmann::ordered_json>(report.scenario_sha256);
  json.update({{"scenario", report.scenario},
               {"question", report.question},
               {"chip", report.chip},
               {"fabric", report.fabric},
               {"job_chips", report.job_chips},
               {"spare_chips", report.spare_chips},
               {"job_nodes", report.job_nodes},
               {"spare_nodes", report.spare_nodes}});
  if (!report.failures.empty()) json["failures"] = report.failures;
  json["price"] = report.price;
  if (report.step_time_s > 0) json["step_time_s"] = report.step_time_s;
  if (report.target_tokens) {
    json["target_tokens"] = *report.target_tokens;
    json["unfinished"] = report.unfinished;
  }
  json["longest_days"] = report.longest_days;
  json["interval"] = interval_of(report.interval);
  json["closed_form"] = closed_form(report.closed_forms);
  json["event_simulation"] = simulation(report);
  return json.dump(2) + "\n";
}

}  // namespace podsim
