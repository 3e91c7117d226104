// Writes the report about weeks as tables.
#include "report/tables/reliability_text.h"

#include <vector>

#include "report/text/align.h"
#include "report/text/text.h"

namespace podsim {
namespace {

using Rows = std::vector<std::vector<std::string>>;

std::string minutes(double seconds) { return fixed(seconds / 60, 2); }

std::string head(const ReliabilityReport& report) {
  std::string text = report.scenario + ": " + significant(report.job_chips, 1) + " " + report.chip + " on " +
                     report.fabric + ", " + significant(report.job_nodes, 1) + " nodes";
  if (report.spare_nodes > 0) text += " and " + significant(report.spare_nodes, 1) + " spare";
  text += report.target_tokens ? ", until " + significant(*report.target_tokens, 3) + " tokens are trained"
                               : ", " + significant(report.longest_days, 3) + " days";
  if (!report.failures.empty()) text += ", failures as " + report.failures;
  if (!report.question.empty()) text += "\n" + report.question;
  return text + "\n\n";
}

std::string closed_forms(const ReliabilityReport& report) {
  const ReliabilityClosedForms& forms = report.closed_forms;
  const auto interval = [&](double s) { return forms.rollbacks_per_day > 0 ? minutes(s) : "-"; };
  Rows rows = {
      {"by formula", ""},
      {"failures of the job per day", significant(forms.failures_per_day, 4)},
      {"  that lose training", significant(forms.rollbacks_per_day, 4)},
      {"failures per 1,000 node-days", significant(forms.failures_per_1000_node_days, 4)},
      {"mean time between failures, h", forms.failures_per_day > 0 ? significant(forms.mttf_h, 4) : "-"},
      {"recovery, min", minutes(forms.recovery_s)},
      {"interval by Young, min", interval(forms.young_s)},
      {"interval by Daly, min", interval(forms.daly_s)},
      {"best interval, min", interval(forms.best_interval_s)},
      {"goodput at the interval used", hundredths(forms.goodput)},
      {"ETTR to first order", hundredths(forms.ettr)}};
  if (forms.nodes_in_repair > 0) {
    rows.push_back({"nodes in repair", fixed(forms.nodes_in_repair, 2)});
    rows.push_back({"spares for 99 % of the time", significant(static_cast<double>(forms.spares_99), 1)});
    rows.push_back({"spares for 99.9 %", significant(static_cast<double>(forms.spares_99_9), 1)});
  }
  return align(rows);
}

std::vector<std::string> row(const std::string& name, const Spread& spread, std::string (*text)(double)) {
  return {name,
          text(spread.mean),
          text(spread.standard_deviation),
          text(spread.p10),
          text(spread.p50),
          text(spread.p90)};
}

std::string figures_table(const ReliabilityReport& report) {
  const ReliabilityFigures& f = report.figures;
  const auto count = [](double x) { return fixed(x, 1); };
  const auto four = [](double x) { return significant(x, 4); };
  Rows rows = {
      {"event simulation, " + significant(report.seeds, 1) + " runs", "mean", "sd", "p10", "p50", "p90"},
      row("effective training time (ETTR)", f.ettr, hundredths),
      row("  scheduling goodput", f.scheduling_goodput, hundredths),
      row("  runtime goodput", f.runtime_goodput, hundredths),
      row("goodput of all chips", f.goodput, hundredths),
      row("failures of the job", f.failures, count),
      row("interruptions of training", f.interruptions, count),
      row("checkpoints", f.checkpoints, count),
      row("days", f.days, four),
      row("cost, USD (" + report.price + ")", f.cost_usd, four),
      row("energy, MWh", f.energy_mwh, four)};
  if (f.carbon_t) rows.push_back(row("carbon, t CO2e", *f.carbon_t, four));
  std::string text = align(rows);
  if (f.power_range > 0)
    text += "watts may be off by " + hundredths(f.power_range) + ": a run that takes " +
            four(f.energy_mwh.p50) + " MWh takes " + four(f.energy_mwh.p50 * (1 - f.power_range)) + " to " +
            four(f.energy_mwh.p50 * (1 + f.power_range)) + "\n";
  if (f.program_goodput > 0)
    text += "program goodput (MFU) " + hundredths(f.program_goodput) + ", ML productivity goodput " +
            hundredths(f.ml_productivity_goodput) + "\n";
  if (f.uninterrupted > 0) text += hundredths(f.uninterrupted) + " of the runs are never interrupted\n";
  if (report.unfinished > 0)
    text += unfinished_runs(report) + " had not reached the target after " +
            significant(report.longest_days, 3) + " days: days, cost and energy are at least these\n";
  return text;
}

std::string interval(const IntervalReport& interval) {
  std::string text =
      "checkpoint every " + minutes(interval.interval_s) + " min of training (" + interval.choice + ")";
  if (!interval.trials.empty())
    text += "; within 0.1 points of the best from " + minutes(interval.flat_from_s) + " to " +
            minutes(interval.flat_to_s) + " min";
  return text + "\n";
}

std::string buckets(const ReliabilityReport& report) {
  Rows rows = {{"chip-time, mean of the runs", "chip-hours", "share", "ML Goodput"}};
  double hours = 0, share = 0;
  for (const BucketReport& bucket : report.buckets) {
    hours += bucket.chip_hours;
    share += bucket.share;
    if (bucket.chip_hours > 0)
      rows.push_back(
          {bucket.bucket, significant(bucket.chip_hours, 4), hundredths(bucket.share), bucket.ml_goodput});
  }
  rows.push_back({"sum", significant(hours, 4), hundredths(share), ""});
  return align(rows);
}

// "2.95 (1.99 to 6.88 elsewhere)"
std::string price_told(const ReliabilityReport& report) {
  std::string text = significant(report.usd_per_chip_hour, 4);
  if (report.low_usd_per_chip_hour < report.high_usd_per_chip_hour)
    text += " (" + significant(report.low_usd_per_chip_hour, 4) + " to " +
            significant(report.high_usd_per_chip_hour, 4) + " elsewhere)";
  return text;
}

std::string bill(const ReliabilityReport& report) {
  Rows rows = {{"bill, mean of the runs", "chip-hours", "USD"}};
  for (const BillLine& line : report.bill)
    if (line.usd > 0 || line.chip_hours > 0)
      rows.push_back(
          {line.item, line.chip_hours > 0 ? significant(line.chip_hours, 4) : "", significant(line.usd, 4)});
  if (report.egress_gb > 0 && report.usd_per_egress_gb == 0) rows.push_back({"egress, not charged", "", "0"});
  if (report.unpaid_chip_hours > 0)
    rows.push_back({"not charged", significant(report.unpaid_chip_hours, 4), "0"});
  rows.push_back({"sum", "", significant(report.figures.cost_usd.mean, 4)});
  return align(rows) + "at " + price_told(report) + " USD per chip-hour" +
         (report.minimum_days > 0
              ? ", of which " + significant(report.minimum_days, 4) + " days are paid in any case"
              : "") +
         (report.egress_gb > 0 ? "; " + significant(report.egress_gb, 4) + " GB leave at " +
                                     significant(report.usd_per_egress_gb, 3) + " USD per GB"
                               : "") +
         "\n";
}

std::string components(const ReliabilityReport& report) {
  Rows rows = {{"failures of the job by cause", "a run", "share"}};
  for (const ComponentFailures& component : report.components)
    rows.push_back({component.component, fixed(component.mean, 2), percent(component.share)});
  return align(rows);
}

std::string weeks_answer(const ReliabilityReport& report) {
  std::string text = "Of the time " + percent(report.figures.ettr.mean) + " trains and is kept";
  if (report.target_tokens) {
    const Spread& days = report.figures.days;
    if (report.unfinished > 0)
      return text + "; " + unfinished_runs(report) + " do not reach the tokens within " +
             significant(report.longest_days, 3) + " days.\n";
    text += "; the tokens take " + significant(days.p50, 3) + " days (" + significant(days.p10, 3) + " to " +
            significant(days.p90, 3) + " in eight runs of ten" +
            (report.step_band ? ", over failures and the error of the step" : "") + ") and " +
            significant(report.figures.cost_usd.p50, 3) + " USD";
  }
  return text + ".\n";
}

}  // namespace

std::string unfinished_runs(const ReliabilityReport& report) {
  return significant(report.unfinished, 1) + " of " + significant(report.seeds, 1) + " runs";
}

std::string least_of_run(const ReliabilityReport& report, double figure) {
  return (report.unfinished > 0 ? "> " : "") + significant(figure, 4);
}

std::string reliability_table(const ReliabilityReport& report) {
  return head(report) + closed_forms(report) + "\n" + interval(report.interval) + "\n" +
         figures_table(report) + "\n" + buckets(report) + "\n" + bill(report) + "\n" + components(report) +
         "\n" + weeks_answer(report);
}

}  // namespace podsim
