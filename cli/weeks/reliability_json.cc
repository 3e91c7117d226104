// Writes the report about weeks as JSON.
#include "cli/weeks/reliability_json.h"

#include <optional>
#include <utility>
#include <vector>

#include "proto/writing/figure_json.h"

namespace podsim {
namespace {

using Figures = std::vector<Figure>;

Figure spread(const std::string& key, const Spread& spread) {
  return Figure::group(key, {{"mean", spread.mean},
                             {"standard_deviation", spread.standard_deviation},
                             {"standard_error", spread.standard_error},
                             {"p05", spread.p05},
                             {"p10", spread.p10},
                             {"p50", spread.p50},
                             {"p90", spread.p90},
                             {"p95", spread.p95}});
}

Figure closed_form(const ReliabilityClosedForms& forms) {
  const auto where = [](bool is_known, double value) {
    return known(is_known ? std::optional(value) : std::nullopt);
  };
  const bool fails = forms.failures_per_day > 0, loses = forms.rollbacks_per_day > 0;
  return Figure::group("closed_form", {{"failures_per_day", forms.failures_per_day},
                                       {"rollbacks_per_day", forms.rollbacks_per_day},
                                       {"failures_per_1000_node_days", forms.failures_per_1000_node_days},
                                       {"mttf_h", where(fails, forms.mttf_h)},
                                       {"recovery_s", forms.recovery_s},
                                       {"young_interval_s", where(loses, forms.young_s)},
                                       {"daly_interval_s", where(loses, forms.daly_s)},
                                       {"best_interval_s", where(loses, forms.best_interval_s)},
                                       {"goodput", forms.goodput},
                                       {"ettr", forms.ettr},
                                       {"nodes_in_repair", forms.nodes_in_repair},
                                       {"spares_99", forms.spares_99},
                                       {"spares_99_9", forms.spares_99_9}});
}

Figure interval_of(const IntervalReport& interval) {
  Figures parts = {{"choice", interval.choice}, {"interval_s", interval.interval_s}};
  if (interval.trials.empty()) return Figure::group("interval", std::move(parts));
  Figures trials;
  for (const IntervalTrial& trial : interval.trials)
    trials.push_back(Figure::group("", {{"interval_s", trial.interval_s}, {"ettr", trial.ettr}}));
  append(parts, {{"flat_from_s", interval.flat_from_s},
                 {"flat_to_s", interval.flat_to_s},
                 Figure::list("trials", std::move(trials))});
  return Figure::group("interval", std::move(parts));
}

Figure buckets_of(const ReliabilityReport& report) {
  Figures buckets;
  for (const BucketReport& bucket : report.buckets)
    buckets.push_back(Figure::group("", {{"bucket", bucket.bucket},
                                         {"ml_goodput", bucket.ml_goodput},
                                         {"chip_hours", bucket.chip_hours},
                                         {"share", bucket.share}}));
  return Figure::list("buckets", std::move(buckets));
}

Figure bill_of_json(const ReliabilityReport& report) {
  Figures items;
  for (const BillLine& line : report.bill)
    items.push_back(
        Figure::group("", {{"item", line.item}, {"chip_hours", line.chip_hours}, {"usd", line.usd}}));
  return Figure::group("bill", {Figure::list("items", std::move(items)),
                                {"unpaid_chip_hours", report.unpaid_chip_hours},
                                {"egress_gb", report.egress_gb},
                                {"usd_per_egress_gb", report.usd_per_egress_gb},
                                {"usd_per_chip_hour", report.usd_per_chip_hour},
                                {"low_usd_per_chip_hour", report.low_usd_per_chip_hour},
                                {"high_usd_per_chip_hour", report.high_usd_per_chip_hour},
                                {"minimum_days", report.minimum_days}});
}

Figure components_of(const ReliabilityReport& report) {
  Figures components;
  for (const ComponentFailures& component : report.components)
    components.push_back(Figure::group(
        "", {{"component", component.component}, {"failures", component.mean}, {"share", component.share}}));
  return Figure::list("components", std::move(components));
}

Figure simulation(const ReliabilityReport& report) {
  const ReliabilityFigures& of = report.figures;
  Figures parts = {{"seed", report.seed},
                   {"seeds", report.seeds},
                   spread("ettr", of.ettr),
                   spread("goodput", of.goodput),
                   spread("scheduling_goodput", of.scheduling_goodput),
                   spread("runtime_goodput", of.runtime_goodput)};
  if (of.program_goodput > 0)
    append(parts, {{"program_goodput", of.program_goodput},
                   {"ml_productivity_goodput", of.ml_productivity_goodput}});
  append(parts, {spread("failures", of.failures),
                 spread("interruptions", of.interruptions),
                 {"uninterrupted", of.uninterrupted},
                 spread("checkpoints", of.checkpoints),
                 spread("days", of.days),
                 spread("cost_usd", of.cost_usd),
                 spread("energy_mwh", of.energy_mwh),
                 {"energy_low_mwh", of.energy_mwh.p50 * (1 - of.power_range)},
                 {"energy_high_mwh", of.energy_mwh.p50 * (1 + of.power_range)}});
  if (of.carbon_t) parts.push_back(spread("carbon_t", *of.carbon_t));
  if (!report.bill.empty()) parts.push_back(bill_of_json(report));
  if (!report.buckets.empty()) parts.push_back(buckets_of(report));
  if (!report.components.empty()) parts.push_back(components_of(report));
  return Figure::group("event_simulation", std::move(parts));
}

}  // namespace

std::string reliability_json(const ReliabilityReport& report) {
  Figures parts = {{"scenario", report.scenario},   {"question", report.question},
                   {"chip", report.chip},           {"fabric", report.fabric},
                   {"job_chips", report.job_chips}, {"spare_chips", report.spare_chips},
                   {"job_nodes", report.job_nodes}, {"spare_nodes", report.spare_nodes}};
  if (!report.failures.empty()) parts.emplace_back("failures", report.failures);
  parts.emplace_back("price", report.price);
  if (report.step_time_s > 0) parts.emplace_back("step_time_s", report.step_time_s);
  if (report.step_band)
    append(parts, {{"step_time_low_s", report.step_band->low.in_seconds()},
                   {"step_time_high_s", report.step_band->high.in_seconds()}});
  if (report.target_tokens)
    append(parts, {{"target_tokens", *report.target_tokens}, {"unfinished", report.unfinished}});
  append(parts, {{"longest_days", report.longest_days},
                 interval_of(report.interval),
                 closed_form(report.closed_forms),
                 simulation(report)});
  return json_text(result_figure(report.scenario_sha256, std::move(parts)), JsonNumbers::kWithPoint);
}

}  // namespace podsim
