// Predictions beside measurements as a spreadsheet, and the numbers that its columns share with JSON.
#include "cli/validation/validate_output.h"
#include "engine/words.h"
#include "report/figures/step_figures.h"
#include "report/text/text.h"

namespace podsim {
namespace {

using Cells = std::vector<std::pair<std::string, std::string>>;  // (column, text)

void add_numbers(Cells& cells, const std::string& prefix, const std::vector<NamedNumber>& numbers,
                 bool known) {
  for (const NamedNumber& number : numbers)
    cells.emplace_back(prefix + number.name, known ? shortest(number.value) : "");
}

Cells cells_of(const PredictedRun& row) {
  const RunScenario& run = row.run;
  const Report& report = row.report;
  const auto error = row.error();
  const auto inside = row.inside_band();
  const StepTimeBand band = report.band.value_or(StepTimeBand{});
  Cells cells = {{"id", quoted_csv_text(run.id)},
                 {"family", quoted_csv_text(run.family)},
                 {"chip", csv_text_cell(run.chip)},
                 {"chips", std::to_string(run.chips)},
                 {"model", quoted_csv_text(run.model)},
                 {"architecture", csv_text_cell(run.architecture)},
                 {"stack", csv_text_cell(run.stack)},
                 {"precision", csv_text_cell(run.precision)},
                 {"parallelism", csv_text_cell(run.parallelism)},
                 {"ready", run.ready ? "true" : "false"},
                 {"measured_step_time_s", run.measured_s ? shortest(*run.measured_s) : ""},
                 {"predicted_step_time_s", shortest(report.step_time.in_seconds())},
                 {"error_pct", error ? shortest(100 * *error) : ""},
                 {"predicted_step_time_low_s", report.band ? shortest(band.low.in_seconds()) : ""},
                 {"predicted_step_time_high_s", report.band ? shortest(band.high.in_seconds()) : ""},
                 {"band", band.kind},
                 {"inside_band", inside ? (*inside ? "true" : "false") : ""}};
  add_numbers(cells, "measured_", rates(report, run.measured_s.value_or(1)), run.measured_s.has_value());
  add_numbers(cells, "predicted_", rates(report, report.step_time.in_seconds()), true);
  add_numbers(cells, "", where_time_goes(report), true);
  cells.insert(cells.end(), {{"memory_gib", shortest(report.memory.total)},
                             {"fits", report.memory.fits ? "true" : "false"},
                             {"assumptions", quoted_csv_text(separated(run.assumptions, "; "))}});
  return cells;
}

}  // namespace

std::vector<NamedNumber> where_time_goes(const Report& report) {
  std::vector<NamedNumber> parts;
  for (const StepBucket& bucket : step_buckets())
    parts.push_back({bucket.key, (report.*bucket.time).in_seconds()});
  return parts;
}

std::vector<NamedNumber> rates(const Report& report, double step_time_s) {
  const double tokens = report.tokens_per_step / (step_time_s * report.chips);
  const double stretch = report.step_time.in_seconds() / step_time_s;
  return {{"tokens_per_s_per_chip", tokens},
          {"model_tflops_per_s_per_chip", tokens * report.model_flops_per_token_full * 1e-12},
          {"mfu_full", report.mfu_full * stretch},
          {"mfu_causal", report.mfu_causal * stretch}};
}

std::string collective_errors_csv(const std::vector<PredictedCollective>& rows) {
  std::string text =
      "id,fabric,gpus,bytes,measured_time_s,predicted_time_s,error_pct,algorithm,representative,collective,"
      "chip\n";
  for (const auto& row : rows) {
    const MeasuredCollective& of = row.measured;
    text += quoted_csv_text(of.id) + ',' + csv_text_cell(row.fabric) + ',' + std::to_string(of.gpus) + ',' +
            shortest(of.collective.bytes.value) + ',' + shortest(of.time_s) + ',' +
            shortest(row.predicted_s) + ',' + shortest(100 * row.error()) + ',' +
            std::string(to_string(row.algorithm)) + ',' + (of.representative ? "true" : "false") + ',' +
            std::string(to_string(of.collective.kind)) + ',' + csv_text_cell(of.chip) + '\n';
  }
  return text;
}

std::string run_errors_csv(const RunValidation& runs) {
  std::string header, lines;
  for (const PredictedRun& row : runs.rows) {
    if (!row.failure.empty()) continue;
    std::string columns, line;
    for (const auto& [column, text] : cells_of(row)) {
      columns += (columns.empty() ? "" : ",") + column;
      line += (line.empty() ? "" : ",") + text;
    }
    header = columns + '\n';
    lines += line + '\n';
  }
  return header + lines;
}

}  // namespace podsim
