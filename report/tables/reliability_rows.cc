// Training runs of weeks, one row each.
#include <algorithm>
#include <utility>

#include "report/tables/reliability_text.h"
#include "report/text/text.h"

namespace podsim {
namespace {

using Cells = std::vector<std::pair<std::string, std::string>>;  // (column, value) in column order

// Of what grows with the length of a run: unknown where some were cut off.
std::string eight_of_ten(const ReliabilityReport& report, const Spread& spread) {
  if (report.unfinished > 0) return "-";
  return significant(spread.p10, 4) + "-" + significant(spread.p90, 4);
}

// `with_unfinished`: some report of the table has runs that were cut off.
Cells table_cells(const ReliabilityReport& report, bool with_unfinished) {
  const ReliabilityFigures& figures = report.figures;
  Cells cells = {{"scenario", report.scenario},
                 {"nodes", std::to_string(report.job_nodes)},
                 {"spare", std::to_string(report.spare_nodes)},
                 {"checkpoint, min", fixed(report.interval.interval_s / 60, 2)},
                 {"ETTR", hundredths(figures.ettr.mean)},
                 {"goodput", hundredths(figures.goodput.mean)},
                 {"failures", fixed(figures.failures.mean, 1)},
                 {"interruptions", fixed(figures.interruptions.mean, 1)},
                 {"days", least_of_run(report, figures.days.mean)},
                 {"8 of 10", eight_of_ten(report, figures.days)},
                 {"cost, USD", least_of_run(report, figures.cost_usd.mean)},
                 {"8 of 10", eight_of_ten(report, figures.cost_usd)},
                 {"MWh", least_of_run(report, figures.energy_mwh.mean)}};
  if (with_unfinished)
    cells.emplace_back("not finished", report.unfinished > 0 ? unfinished_runs(report) : "-");
  return cells;
}

void add_spread(Cells& cells, const std::string& name, const Spread& spread) {
  cells.emplace_back(name + ".mean", shortest(spread.mean));
  cells.emplace_back(name + ".standard_deviation", shortest(spread.standard_deviation));
  cells.emplace_back(name + ".p10", shortest(spread.p10));
  cells.emplace_back(name + ".p50", shortest(spread.p50));
  cells.emplace_back(name + ".p90", shortest(spread.p90));
}

// `with_carbon`: of any report of the table.
Cells csv_cells(const ReliabilityReport& report, bool with_carbon) {
  const ReliabilityFigures& figures = report.figures;
  Cells cells = {{"scenario", cell_text(report.scenario)},
                 {"chip", cell_text(report.chip)},
                 {"fabric", cell_text(report.fabric)},
                 {"job_chips", std::to_string(report.job_chips)},
                 {"job_nodes", std::to_string(report.job_nodes)},
                 {"spare_nodes", std::to_string(report.spare_nodes)},
                 {"seed", std::to_string(report.seed)},
                 {"seeds", std::to_string(report.seeds)},
                 {"unfinished", report.target_tokens ? std::to_string(report.unfinished) : ""},
                 {"step_time_s", report.step_time_s > 0 ? shortest(report.step_time_s) : ""},
                 {"interval_s", shortest(report.interval.interval_s)}};
  const std::pair<const char*, const Spread*> spreads[] = {
      {"ettr", &figures.ettr},
      {"goodput", &figures.goodput},
      {"scheduling_goodput", &figures.scheduling_goodput},
      {"runtime_goodput", &figures.runtime_goodput},
      {"failures", &figures.failures},
      {"interruptions", &figures.interruptions},
      {"checkpoints", &figures.checkpoints},
      {"days", &figures.days},
      {"cost_usd", &figures.cost_usd},
      {"energy_mwh", &figures.energy_mwh}};
  for (const auto& [name, spread] : spreads) add_spread(cells, name, *spread);
  if (with_carbon) {
    const std::size_t first = cells.size();
    add_spread(cells, "carbon_t", figures.carbon_t.value_or(Spread{}));
    for (std::size_t i = first; i < cells.size() && !figures.carbon_t; ++i) cells[i].second.clear();
  }
  for (const BillLine& line : report.bill) cells.emplace_back("usd." + line.item, shortest(line.usd));
  cells.emplace_back("unpaid_chip_hours", shortest(report.unpaid_chip_hours));
  for (const BucketReport& bucket : report.buckets)
    cells.emplace_back("share." + bucket.bucket, shortest(bucket.share));
  return cells;
}

}  // namespace

std::vector<std::vector<std::string>> reliability_rows(std::span<const ReliabilityReport> reports) {
  std::vector<std::vector<std::string>> rows(1);
  const bool with_unfinished =
      std::ranges::any_of(reports, [](const ReliabilityReport& report) { return report.unfinished > 0; });
  for (const ReliabilityReport& report : reports) {
    std::vector<std::string>& row = rows.emplace_back();
    for (const auto& [column, value] : table_cells(report, with_unfinished)) {
      if (rows.size() == 2) rows.front().push_back(column);
      row.push_back(value);
    }
  }
  return rows;
}

std::string reliability_csv(std::span<const ReliabilityReport> reports) {
  std::vector<std::string> columns;
  std::string lines;
  const bool with_carbon = std::ranges::any_of(
      reports, [](const ReliabilityReport& report) { return report.figures.carbon_t.has_value(); });
  for (const ReliabilityReport& report : reports) {
    std::vector<std::string> line;
    for (const auto& [column, value] : csv_cells(report, with_carbon)) {
      if (&report == &reports.front()) columns.push_back(column);
      line.push_back(value);
    }
    lines += csv_line(line);
  }
  return csv_line(columns) + lines;
}

}  // namespace podsim
