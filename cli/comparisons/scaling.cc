// Rows, objects and sentences of a scaling.
#include "cli/comparisons/scaling.h"

#include <nlohmann/json.hpp>

#include "cli/answers/figure_columns.h"
#include "cli/answers/render.h"
#include "proto/writing/write.h"
#include "report/summary/document_rate.h"
#include "report/tables/write.h"
#include "report/text/align.h"
#include "report/text/text.h"

namespace podsim {

std::string Scaling::of(std::size_t i) const {
  std::string text = several_files    ? reports[i].scenario
                     : settings.any() ? settings_text(settings.paths, settings.values[i])
                                      : "";
  if (both_ways) text = way_of(i) + std::string(text.empty() ? "" : ", ") + text;
  return text;
}

Settings Scaling::columns() const {
  Settings all = settings;
  if (!both_ways) return all;
  all.paths.insert(all.paths.begin(), "scaling");
  for (std::size_t i = 0; i < reports.size(); ++i) all.values[i].insert(all.values[i].begin(), way_of(i));
  return all;
}

std::optional<WholeRun> Scaling::run_of(std::size_t i) const {
  if (tokens.empty()) return std::nullopt;
  const Cluster& cluster = clusters[i];
  return WholeRun{steady_run(steady_step(reports[i]), tokens[i], cluster.price, cluster.carbon), tokens[i]};
}

ScaledSize Scaling::size_of(std::size_t i) const {
  return {way_of(i),      efficiency_of(i),           cuts[i].microbatches,
          cuts[i].stages, cuts[i].sequences_per_chip, run_of(i)};
}

namespace {

// "From 64 to 512 chips the throughput per chip becomes 93.1% of what it was.", for each setting.
std::string scaling_verdict(const Scaling& scaling) {
  std::string text;
  for (std::size_t i = 0; i < scaling.reports.size(); ++i) {
    if (i + 1 < scaling.reports.size() && scaling.first[i + 1] == scaling.first[i]) continue;
    const std::string of = scaling.of(i);
    if (!of.empty()) text += of + ": ";
    text += "From " + std::to_string(scaling.reports[scaling.first[i]].chips) + " to " +
            std::to_string(scaling.reports[i].chips) + " chips the throughput per chip becomes " +
            percent(scaling.efficiency_of(i)) + " of what it was.\n";
  }
  return text;
}

// What a size draws and costs: the error band of the step, power and energy; with a number of tokens days,
// energy and dollars of the whole run, without failures.
std::vector<std::string> cost_headings(bool whole_run, bool with_carbon) {
  std::vector<std::string> headings = {"step s, 8 of 10", "kW", "J/token", "tokens/J"};
  if (whole_run) headings.insert(headings.end(), {"Gtokens", "days", "MWh", "USD"});
  if (whole_run && with_carbon) headings.emplace_back("t CO2e");
  return headings;
}

std::vector<std::string> cost_cells(const Report& report, const std::optional<WholeRun>& run) {
  std::vector<std::string> cells = {
      report.band ? fixed(report.band->low.in_seconds(), 3) + "-" + fixed(report.band->high.in_seconds(), 3)
                  : "-",
      significant(report.power_kw, 4), significant(report.energy_j_per_token, 4),
      significant(1 / report.energy_j_per_token, 3)};
  if (!run) return cells;
  for (const double value : {run->tokens / 1e9, run->days, run->mwh, run->usd})
    cells.push_back(significant(value, 4));
  if (run->carbon_t) cells.push_back(significant(*run->carbon_t, 4));
  return cells;
}

// What stays the same while chips are added.
std::string what_is_kept(const Scaling& scaling) {
  constexpr const char* kWeak = "weak scaling, the same batch per chip";
  constexpr const char* kStrong = "strong scaling, the same global batch";
  if (scaling.both_ways) return kWeak + std::string("; ") + kStrong;
  return scaling.strong.front() ? kStrong : kWeak;
}

}  // namespace

std::string scaling_table(const Scaling& scaling) {
  const bool to_tokens = !scaling.tokens.empty();
  std::vector<std::vector<std::string>> rows = figure_rows(scaling.reports);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    constexpr int kAfterThroughput = 3;
    rows[row].insert(rows[row].begin() + kAfterThroughput,
                     row == 0 ? "efficiency" : percent(scaling.efficiency_of(row - 1)));
    const std::vector<std::string> more =
        row == 0 ? cost_headings(to_tokens, scaling.reports[0].carbon.has_value())
                 : cost_cells(scaling.reports[row - 1], scaling.run_of(row - 1));
    rows[row].insert(rows[row].end(), more.begin(), more.end());
    rows[row].insert(rows[row].begin(), row == 0 ? "chips" : std::to_string(scaling.reports[row - 1].chips));
  }
  scaling.columns().add_to_table(rows);
  for (std::size_t row = 0; scaling.several_files && row < rows.size(); ++row)
    rows[row].insert(
        rows[row].begin(),
        row == 0 ? "scenario" : scaling.settings.unset(scaling.reports[row - 1].scenario, row - 1));
  const std::string title =
      scaling.several_files ? "several scenarios" : scaling.settings.unset(scaling.reports[0].scenario, 0);
  return title + ": " + what_is_kept(scaling) + "\n\n" + align(rows) + "\n" + scaling_verdict(scaling);
}

std::string scaling_json(const Scaling& scaling) {
  std::vector<std::string> values;
  for (std::size_t i = 0; i < scaling.reports.size(); ++i) {
    auto json = nlohmann::ordered_json::parse(report_json(scaling.reports[i]));
    json["scaling"] = scaling.way_of(i);
    json["scaling_efficiency"] = scaling.efficiency_of(i);
    json["microbatches"] = scaling.cuts[i].microbatches;
    json["pipeline_stages"] = scaling.cuts[i].stages;
    json["sequences_per_chip"] = scaling.cuts[i].sequences_per_chip;
    if (const auto run = scaling.run_of(i)) {
      json["whole_run"] = {
          {"tokens", run->tokens}, {"days", run->days}, {"energy_mwh", run->mwh}, {"cost_usd", run->usd}};
      if (run->carbon_t) json["whole_run"]["carbon_t"] = *run->carbon_t;
    }
    values.push_back(scaling.settings.added_to_json(json.dump(2), i));
  }
  return json_array(values);
}

std::string scaling_textproto(const Scaling& scaling) {
  std::string text;
  for (std::size_t i = 0; i < scaling.reports.size(); ++i)
    text += (i > 0 ? "\n" : "") + report_textproto(scaling.reports[i], scaling_figures(scaling.size_of(i)));
  return text;
}

std::string scaling_csv(const Scaling& scaling) {
  std::vector<DetailedReport> sizes;
  for (std::size_t i = 0; i < scaling.reports.size(); ++i) {
    std::vector<Figure> figures = scaling_figures(scaling.size_of(i));
    if (scaling.both_ways) figures.erase(figures.begin());  // how it scales stands in front
    sizes.push_back({&scaling.reports[i], std::move(figures)});
  }
  std::vector<SpreadsheetLine> lines;
  for (const DetailedReport& size : sizes) lines.emplace_back(&size);
  return scaling.columns().added_to_csv(report_csv(lines));
}

Page scaling_page(const Scaling& scaling) {
  std::vector<ScalePoint> points;
  for (std::size_t i = 0; i < scaling.reports.size(); ++i)
    points.push_back({&scaling.reports[i], scaling.efficiency_of(i), scaling.cuts[i], scaling.of(i)});
  return scale_page(points, scaling_json(scaling), scaling_verdict(scaling));
}

}  // namespace podsim
