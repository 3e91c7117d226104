// Reports as one spreadsheet: a line per report, the union of their columns.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/text.h"
#include "report/write.h"

namespace podsim {
namespace {

using Cells = std::vector<std::pair<std::string, std::string>>;  // (column, value) in column order

// Cells stay empty where the seeds are too few.
void add_interval(Cells& cells, const std::string& of, const std::optional<ConfidenceInterval>& interval) {
  cells.emplace_back("ensemble." + of + "_low_s", interval ? exact_seconds(interval->low) : "");
  cells.emplace_back("ensemble." + of + "_high_s", interval ? exact_seconds(interval->high) : "");
}

void add_ensemble(Cells& cells, const EnsembleReport& ensemble) {
  cells.emplace_back("ensemble.seeds", std::to_string(ensemble.seeds));
  cells.emplace_back("ensemble.step_time_min_s", exact_seconds(ensemble.shortest));
  cells.emplace_back("ensemble.step_time_max_s", exact_seconds(ensemble.longest));
  cells.emplace_back("ensemble.step_time_standard_deviation_s", exact_seconds(ensemble.standard_deviation));
  cells.emplace_back("ensemble.step_time_coefficient_of_variation",
                     shortest(ensemble.coefficient_of_variation));
  add_interval(cells, "mean", ensemble.mean);
  add_interval(cells, "p50", ensemble.p50);
  add_interval(cells, "p99", ensemble.p99);
}

void add_times(Cells& cells, const Report& report) {
  const std::pair<const char*, Time> times[] = {
      {"step_time_s", report.step_time},
      {"step_time_p50_s", report.step_time_p50},
      {"step_time_p99_s", report.step_time_p99},
      {"compute_s", report.compute},
      {"exposed_communication_s.total", report.exposed_communication},
      {"pipeline_bubble_s", report.pipeline_bubble},
      {"straggler_delay_s", report.straggler_delay},
      {"optimizer_s", report.optimizer},
      {"input_stall_s", report.input_stall},
      {"offload_wait_s", report.offload_wait},
      {"skew_wait_s", report.skew_wait},
      {"evaluation_s", report.evaluation}};
  for (const auto& [key, time] : times) cells.emplace_back(key, exact_seconds(time));
  const StepTimeBand band = report.band.value_or(StepTimeBand{});
  cells.emplace_back("step_time_low_s", report.band ? exact_seconds(band.low) : "");
  cells.emplace_back("step_time_high_s", report.band ? exact_seconds(band.high) : "");
  cells.emplace_back("step_time_band", band.kind);
  cells.emplace_back("step_time_band_rows", std::to_string(band.rows));
  if (report.ensemble) add_ensemble(cells, *report.ensemble);
}

void add_numbers(Cells& cells, const Report& report) {
  const std::pair<const char*, double> numbers[] = {
      {"model_flops_per_token_causal", report.model_flops_per_token_causal},
      {"model_flops_per_token_full", report.model_flops_per_token_full},
      {"mfu_causal", report.mfu_causal},
      {"mfu_full", report.mfu_full},
      {"hfu_full", report.hfu_full},
      {"mfu_bf16_full", report.mfu_bf16_full},
      {"tokens_per_step", report.tokens_per_step},
      {"tokens_per_s", report.tokens_per_s},
      {"tokens_per_s_per_chip", report.tokens_per_s_per_chip},
      {"parameters", report.parameters},
      {"cost_usd_per_hour", report.cost_usd_per_hour},
      {"cost_usd_per_million_tokens", report.cost_usd_per_million_tokens},
      {"power_kw", report.power_kw},
      {"energy_j_per_token", report.energy_j_per_token},
      {"memory_per_chip_gib.total", report.memory.total},
      {"memory_per_chip_gib.capacity", report.memory.capacity},
      {"memory_per_chip_gib.weights", report.memory.weights},
      {"memory_per_chip_gib.gradients", report.memory.gradients},
      {"memory_per_chip_gib.optimizer", report.memory.optimizer},
      {"memory_per_chip_gib.activations", report.memory.activations},
      {"memory_per_chip_gib.logits", report.memory.logits},
      {"memory_per_chip_gib.buffers", report.memory.buffers},
      {"memory_per_chip_gib.fragmentation", report.memory.fragmentation}};
  for (const auto& [key, number] : numbers) cells.emplace_back(key, shortest(number));
}

// The columns that every report has, then those that depend on its mesh and fabric.
Cells cells_of(const Report& report) {
  Cells cells = {{"scenario", cell_text(report.scenario)}, {"question", cell_text(report.question)},
                 {"model", cell_text(report.model)},       {"chip", cell_text(report.chip)},
                 {"chips", std::to_string(report.chips)},  {"fabric", cell_text(report.fabric)},
                 {"stack", cell_text(report.stack)},       {"seed", std::to_string(report.seed)},
                 {"steps", std::to_string(report.steps)}};
  add_times(cells, report);
  add_numbers(cells, report);
  cells.emplace_back("price", cell_text(report.price));
  cells.emplace_back("fits", report.memory.fits ? "true" : "false");
  for (const ExposedCommunication& exposed : report.exposed) {
    cells.emplace_back("exposed_communication_s." + exposed.axes + "." + exposed.kind,
                       exact_seconds(exposed.time));
  }
  for (const LinkUse& use : report.link_use) {
    cells.emplace_back("link_utilisation." + use.kind + ".mean", shortest(use.mean_utilisation));
    cells.emplace_back("link_utilisation." + use.kind + ".max", shortest(use.max_utilisation));
  }
  if (!report.verdict) return cells;
  cells.emplace_back("verdict.S", shortest(report.verdict->slowdown));
  cells.emplace_back("verdict.cause", report.verdict->cause);
  cells.emplace_back("verdict.share", shortest(report.verdict->share));
  cells.emplace_back("verdict.replay", report.verdict->replay);
  return cells;
}

// What the job has beside its report while the others run.
Cells cells_of(const JobReport& job) {
  Cells cells = cells_of(job.together);
  cells.emplace_back("job", cell_text(job.name));
  cells.emplace_back("first_chip", std::to_string(job.first_chip));
  cells.emplace_back("step_time_alone_s", exact_seconds(job.alone.step_time));
  cells.emplace_back("exposed_communication_alone_s", exact_seconds(job.alone.exposed_communication));
  cells.emplace_back("slowdown", shortest(job.slowdown()));
  return cells;
}

std::string csv_line(const std::vector<std::string>& cells) {
  std::string line;
  for (std::size_t c = 0; c < cells.size(); ++c) line += (c == 0 ? "" : ",") + csv_cell(cells[c]);
  return line + "\n";
}

}  // namespace

std::string report_csv(std::span<const Report> reports) {
  std::vector<SpreadsheetLine> lines;
  for (const Report& report : reports) lines.emplace_back(&report);
  return report_csv(lines);
}

std::string report_csv(std::span<const SpreadsheetLine> lines) {
  std::vector<std::string> columns;
  std::vector<std::map<std::string, std::string>> values;
  for (const SpreadsheetLine& line : lines) {
    values.emplace_back();
    for (auto& [column, value] : std::visit([](const auto* shown) { return cells_of(*shown); }, line)) {
      if (std::find(columns.begin(), columns.end(), column) == columns.end()) columns.push_back(column);
      values.back()[column] = std::move(value);
    }
  }
  std::string text = csv_line(columns);
  for (auto& row : values) {
    std::vector<std::string> cells;
    for (const std::string& column : columns) cells.push_back(row[column]);
    text += csv_line(cells);
  }
  return text;
}

}  // namespace podsim
