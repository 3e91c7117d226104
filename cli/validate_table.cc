// Tables and spreadsheets of predictions beside measurements.
#include <algorithm>
#include <map>

#include "cli/validate_output.h"
#include "report/text.h"
#include "report/write.h"

namespace podsim {
namespace {

std::string signed_percent(double error) { return (error < 0 ? "" : "+") + fixed(100 * error, 1); }

std::string collective_table(const std::vector<PredictedCollective>& rows) {
  std::vector<std::vector<std::string>> table = {{"system, network", "GPUs", "bytes", "measured us",
                                                  "predicted us", "error %", "measured", "algorithm"}};
  for (const auto& row : rows) {
    const MeasuredCollective& of = row.measured;
    table.push_back({of.system.empty() ? row.fabric : of.system + ", " + of.network, std::to_string(of.gpus),
                     fixed(of.collective.bytes.value, 0), fixed(of.time_s * 1e6, 1),
                     fixed(row.predicted_s * 1e6, 1), signed_percent(row.error()), of.algo,
                     std::string(to_string(row.algorithm))});
  }
  return align(table);
}

std::string summary_table(const std::vector<NamedSummary>& summaries) {
  std::vector<std::vector<std::string>> table = {
      {"absolute error %", "rows", "mean", "median", "p90", "max", "bias"}};
  for (const auto& [of, errors] : summaries)
    table.push_back({of, std::to_string(errors.rows), fixed(100 * errors.mean, 1),
                     fixed(100 * errors.median, 1), fixed(100 * errors.p90, 1), fixed(100 * errors.max, 1),
                     signed_percent(errors.bias)});
  return align(table);
}

std::string collective_text(const std::vector<PredictedCollective>& rows) {
  std::string text = collective_table(rows) + "\n" + summary_table(summarize(rows));
  for (const auto& row : rows)
    if (!row.measured.representative)
      text += "\nLeft out of the summary, because the table calls the system faulty: " + row.measured.id +
              " (" + signed_percent(row.error()) + " %).\n";
  return text;
}

std::string in_quotes(const std::string& text) {
  std::string cell = "\"";
  for (const char c : text) cell += c == '"' ? std::string("\"\"") : std::string(1, c);
  return cell + '"';
}

std::string collective_csv(const std::vector<PredictedCollective>& rows) {
  std::string text =
      "id,fabric,gpus,bytes,measured_time_s,predicted_time_s,error_pct,algorithm,representative\n";
  for (const auto& row : rows) {
    const MeasuredCollective& of = row.measured;
    text += in_quotes(of.id) + ',' + row.fabric + ',' + std::to_string(of.gpus) + ',' +
            shortest(of.collective.bytes.value) + ',' + shortest(of.time_s) + ',' +
            shortest(row.predicted_s) + ',' + shortest(100 * row.error()) + ',' +
            std::string(to_string(row.algorithm)) + ',' + (of.representative ? "true" : "false") + '\n';
  }
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

std::string run_rows(const RunValidation& runs) {
  Notes notes;
  std::vector<std::vector<std::string>> table = {{"id", "family", "chip", "chips", "model", "measured s",
                                                  "predicted s", "error %", "GiB", "fits", "assumed"}};
  for (const PredictedRun& row : runs.rows) {
    const RunScenario& run = row.run;
    std::vector<std::string> line = {run.id,    run.family,
                                     run.chip,  std::to_string(run.chips),
                                     run.model, run.measured_s ? significant(*run.measured_s, 4) : "-"};
    if (row.failure.empty()) {
      const auto error = row.error();
      line.insert(line.end(),
                  {significant(row.report.step_time.in_seconds(), 4), error ? signed_percent(*error) : "-",
                   fixed(row.report.memory.total, 1), row.report.memory.fits ? "yes" : "NO"});
    } else {
      line.insert(line.end(), {"-", "-", "-", "-"});
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

std::string run_text(const RunValidation& runs) {
  const RunSummary summary = summarize(runs.rows);
  std::vector<NamedSummary> lines = {{"all", summary.all}};
  for (const GroupedErrors& grouped : summary.grouped)
    for (const auto& [name, errors] : grouped.groups) lines.push_back({grouped.by + " " + name, errors});
  return run_rows(runs) + left_out(runs) + "\n" + summary_table(lines) +
         "\nMean over families: " + fixed(100 * summary.family_mean, 1) + " %. " +
         std::to_string(summary.fitting) + " of " + std::to_string(summary.simulated) +
         " runs fit in memory.\n";
}

std::string run_csv(const RunValidation& runs) {
  std::string text =
      "id,family,chip,chips,model,precision,parallelism,measured_step_time_s,predicted_step_time_s,error_pct,"
      "memory_gib,fits,assumptions\n";
  for (const PredictedRun& row : runs.rows) {
    if (!row.failure.empty()) continue;
    const RunScenario& run = row.run;
    const auto error = row.error();
    std::string assumptions;
    for (const std::string& one : run.assumptions) assumptions += (assumptions.empty() ? "" : "; ") + one;
    text += in_quotes(run.id) + ',' + in_quotes(run.family) + ',' + run.chip + ',' +
            std::to_string(run.chips) + ',' + run.model + ',' + run.precision + ',' + run.parallelism + ',' +
            (run.measured_s ? shortest(*run.measured_s) : "") + ',' +
            shortest(row.report.step_time.in_seconds()) + ',' + (error ? shortest(100 * *error) : "") + ',' +
            shortest(row.report.memory.total) + ',' + (row.report.memory.fits ? "true" : "false") + ',' +
            in_quotes(assumptions) + '\n';
  }
  return text;
}

}  // namespace

std::string collective_errors(const std::vector<PredictedCollective>& rows, const std::string& format) {
  if (format == "json") return collective_errors_json(rows);
  return format == "csv" ? collective_csv(rows) : collective_text(rows);
}

std::string run_errors(const RunValidation& runs, const std::string& format) {
  if (format == "json") return run_errors_json(runs);
  return format == "csv" ? run_csv(runs) : run_text(runs);
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
            " %\n";
  return text + "\n" + report_table(row.report) + memory_verdict(row.report);
}

}  // namespace podsim
