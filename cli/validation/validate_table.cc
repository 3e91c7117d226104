// Tables and spreadsheets of predictions beside measurements.
#include <algorithm>
#include <map>

#include "cli/validation/validate_output.h"
#include "report/tables/write.h"
#include "report/text/align.h"
#include "report/text/text.h"
#include "validation/layout_ranking.h"

namespace podsim {
namespace {

std::string collective_table(const std::vector<PredictedCollective>& rows) {
  std::vector<std::vector<std::string>> table = {{"system, network", "collective", "GPUs", "bytes",
                                                  "measured us", "predicted us", "error %", "measured",
                                                  "algorithm"}};
  for (const auto& row : rows) {
    const MeasuredCollective& of = row.measured;
    const std::string system = of.system.empty() ? row.fabric : of.system + ", " + of.network;
    table.push_back({of.chip.empty() ? system : of.chip + " on " + row.fabric,
                     std::string(to_string(of.collective.kind)), std::to_string(of.gpus),
                     fixed(of.collective.bytes.value, 0), fixed(of.time_s * 1e6, 1),
                     fixed(row.predicted_s * 1e6, 1), signed_percent(row.error()), of.algo,
                     std::string(to_string(row.algorithm))});
  }
  return align(table);
}

std::vector<std::string> summary_header() {
  return {"absolute error %", "rows", "mean", "median", "p90", "max", "bias"};
}

std::vector<std::string> summary_line(const std::string& of, const ErrorSummary& errors) {
  std::vector<std::string> line = summary_cells(errors);
  line.insert(line.begin(), of);
  return line;
}

std::string collective_text(const std::vector<PredictedCollective>& rows) {
  constexpr std::size_t kMost = 100, kWorst = 20;  // of a long table the worst alone
  const bool is_long = rows.size() > kMost;
  std::string text = is_long ? "The worst " + std::to_string(kWorst) + " of " + std::to_string(rows.size()) +
                                   " rows; --format csv has all:\n" + collective_table(worst(rows, kWorst))
                             : collective_table(rows);
  text += "\n" + summary_table(summarize(rows));
  for (const auto& row : rows)
    if (!row.measured.representative)
      text += "\nLeft out of the summary, because the table calls the system faulty: " + row.measured.id +
              " (" + signed_percent(row.error()) + " %).\n";
  return text;
}

// Assumptions that rows share are told once, by number.
class Notes {
 public:
  std::string of(const std::vector<std::string>& assumptions) {
    std::string numbers;
    for (const std::string& one : assumptions) {
      const int next = static_cast<int>(numbers_.size()) + 1;
      const auto [at, added] = numbers_.emplace(one, next);
      if (added) texts_.push_back(one);
      numbers += (numbers.empty() ? "" : " ") + std::to_string(at->second);
    }
    return numbers;
  }
  std::string text() const {
    std::string text;
    for (std::size_t i = 0; i < texts_.size(); ++i)
      text += "  " + std::to_string(i + 1) + "  " + texts_[i] + "\n";
    return text.empty() ? "" : "\nAssumptions, by the number in the last column:\n" + text;
  }

 private:
  std::map<std::string, int> numbers_;
  std::vector<std::string> texts_;
};

std::string band_text(const std::optional<StepTimeBand>& band) {
  if (!band) return "-";
  return significant(band->low.in_seconds(), 4) + " to " + significant(band->high.in_seconds(), 4);
}

std::string run_rows(const RunValidation& runs) {
  Notes notes;
  std::vector<std::vector<std::string>> table = {{"id", "family", "chip", "chips", "model", "measured s",
                                                  "predicted s", "error %", "band s", "in", "GiB", "fits",
                                                  "assumed"}};
  for (const PredictedRun& row : runs.rows) {
    const RunScenario& run = row.run;
    std::vector<std::string> line = {run.id,    run.family,
                                     run.chip,  std::to_string(run.chips),
                                     run.model, run.measured_s ? significant(*run.measured_s, 4) : "-"};
    if (row.failure.empty()) {
      const auto error = row.error();
      const auto inside = row.inside_band();
      line.insert(line.end(),
                  {significant(row.report.step_time.in_seconds(), 4), error ? signed_percent(*error) : "-",
                   band_text(row.report.band), inside ? (*inside ? "yes" : "NO") : "-",
                   fixed(row.report.memory.total, 1), row.report.memory.fits ? "yes" : "NO"});
    } else {
      line.insert(line.end(), 6, "-");
    }
    line.push_back(notes.of(run.assumptions));
    table.push_back(std::move(line));
  }
  return align(table) + notes.text();
}

std::string left_out(const RunValidation& runs) {
  std::string text;
  for (const RunScenario& run : runs.skipped) text += "  " + run.id + "  " + run.skipped + "\n";
  for (const PredictedRun& row : runs.rows)
    if (!row.failure.empty()) text += "  " + row.run.id + "  " + row.failure + "\n";
  return text.empty() ? "" : "\nNot simulated:\n" + text;
}

std::vector<std::string> run_summary_line(const std::string& of, const RunErrors& errors) {
  std::vector<std::string> line = summary_line(of, errors);
  line.push_back(errors.banded > 0 ? fixed(100 * errors.coverage(), 0) : "-");
  line.push_back(std::to_string(errors.misfits));
  return line;
}

std::string run_summary_table(const RunSummary& summary) {
  std::vector<std::vector<std::string>> table = {summary_header()};
  table.front().insert(table.front().end(), {"in band %", "do not fit"});
  table.push_back(run_summary_line("all", summary.all));
  for (const GroupedErrors& grouped : summary.grouped)
    for (const auto& [name, errors] : grouped.groups)
      table.push_back(run_summary_line(grouped.by + " " + name, errors));
  return align(table);
}

std::string ranking_table(const std::vector<LayoutRanking>& rankings) {
  if (rankings.empty()) return "";
  std::vector<std::vector<std::string>> table = {
      {"runs that differ in layout only", "chips", "rows", "Kendall's tau", "regret of the first choice"}};
  for (const LayoutRanking& ranking : rankings)
    table.push_back({ranking.family + " " + ranking.model, std::to_string(ranking.chips) + " " + ranking.chip,
                     std::to_string(ranking.rows), fixed(ranking.tau, 2), percent(ranking.regret)});
  const RankingSummary mean = summarize(rankings);
  table.push_back(
      {"mean of groups", "", std::to_string(mean.groups), fixed(mean.tau, 2), percent(mean.regret)});
  return "\n" + align(table);
}

std::string rate_table(const Report& report, double measured_s) {
  std::vector<std::vector<std::string>> table = {{"rate", "measured", "predicted"}};
  const std::vector<NamedNumber> measured = rates(report, measured_s),
                                 predicted = rates(report, report.step_time.in_seconds());
  for (std::size_t i = 0; i < measured.size(); ++i)
    table.push_back(
        {measured[i].name, significant(measured[i].value, 4), significant(predicted[i].value, 4)});
  return align(table);
}

std::string run_text(const RunValidation& runs) {
  const RunSummary summary = summarize(runs.rows);
  if (summary.simulated == 0) return left_out(runs).substr(1);
  std::string text = run_rows(runs) + left_out(runs) + "\n";
  text += summary.all.rows > 0 ? run_summary_table(summary) +
                                     "\nMean over families: " + fixed(100 * summary.family_mean, 1) + " %. "
                               : "No row says what was measured. ";
  text +=
      std::to_string(summary.fitting) + " of " + std::to_string(summary.simulated) + " runs fit in memory.";
  if (summary.all.banded > 0)
    text += " " + std::to_string(summary.all.inside) + " of " + std::to_string(summary.all.banded) +
            " measured times lie in their 10-90 % bands.";
  return text + "\n" + ranking_table(layout_rankings(runs.rows));
}

}  // namespace

std::string summary_table(const std::vector<NamedSummary>& summaries) {
  std::vector<std::vector<std::string>> table = {summary_header()};
  for (const auto& [of, errors] : summaries) table.push_back(summary_line(of, errors));
  return align(table);
}

std::string collective_errors(const std::vector<PredictedCollective>& rows, const std::string& format,
                              const std::string& sha256) {
  if (format == "json") return collective_errors_json(rows, sha256);
  return format == "csv" ? collective_errors_csv(rows) : collective_text(rows);
}

std::string run_errors(const RunValidation& runs, const std::string& format) {
  if (format == "json") return run_errors_json(runs);
  return format == "csv" ? run_errors_csv(runs) : run_text(runs);
}

std::string run_explanation(const PredictedRun& row) {
  const RunScenario& run = row.run;
  std::string text = run.id + " (" + run.family + "): " + run.model + " on " + std::to_string(run.chips) +
                     " " + run.chip + ", " + run.parallelism + ", " + run.precision + "\n";
  for (const std::string& one : run.assumptions) text += "  assumed: " + one + "\n";
  if (!row.failure.empty()) return text + "  not simulated: " + row.failure + "\n";
  if (const auto error = row.error())
    text += "  measured " + significant(*run.measured_s, 4) + " s, predicted " +
            significant(row.report.step_time.in_seconds(), 4) + " s, error " + signed_percent(*error) +
            " %\n\n" + rate_table(row.report, *run.measured_s);
  return text + "\n" + report_table(row.report) + memory_verdict(row.report);
}

}  // namespace podsim
