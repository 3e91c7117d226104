// Training runs of weeks beside each other: one column each, with ratios of medians to the first.
#include <algorithm>
#include <functional>

#include "report/tables/reliability_text.h"
#include "report/text/align.h"
#include "report/text/text.h"

namespace podsim {
namespace {

class WeeksColumns {
 public:
  enum class Span { kAny, kWholeRun };  // of what a figure is told

  explicit WeeksColumns(std::span<const ReliabilityReport> reports) : reports_(reports) {
    text("", [](const ReliabilityReport& report) { return report.scenario; });
    for (std::size_t i = 1; i < reports.size(); ++i) rows_.front()[2 * i + 1] = "ratio";
  }

  void text(const std::string& name, const std::function<std::string(const ReliabilityReport&)>& of) {
    std::vector<std::string>& row = rows_.emplace_back();
    row.push_back(name);
    for (const ReliabilityReport& report : reports_) {
      row.push_back(of(report));
      if (row.size() > 2) row.emplace_back();
    }
  }

  // The median, and what eight runs in ten lie between. Of a whole run no more is known than
  // the least of it where some were cut off.
  void spread(const std::string& name, const std::function<const Spread*(const ReliabilityReport&)>& of,
              const std::function<std::string(double)>& told, Span span = Span::kAny) {
    const auto cut_off = [&](const ReliabilityReport& report) {
      return span == Span::kWholeRun && report.unfinished > 0;
    };
    text(name, [&](const ReliabilityReport& report) -> std::string {
      const Spread* spread = of(report);
      if (!spread) return "-";
      if (cut_off(report)) return least_of_run(report, spread->p50);
      return told(spread->p50) + " (" + told(spread->p10) + "-" + told(spread->p90) + ")";
    });
    const Spread* first = cut_off(reports_.front()) ? nullptr : of(reports_.front());
    for (std::size_t i = 1; i < reports_.size(); ++i) {
      const Spread* here = cut_off(reports_[i]) ? nullptr : of(reports_[i]);
      rows_.back()[2 * i + 1] =
          here && first && first->p50 > 0 ? fixed(here->p50 / first->p50, 3) + "x" : "-";
    }
  }

  std::string aligned() const { return align(rows_); }

 private:
  std::span<const ReliabilityReport> reports_;
  std::vector<std::vector<std::string>> rows_;
};

std::string step_told(const ReliabilityReport& report) {
  if (report.step_time_s <= 0) return "-";
  const std::string step = significant(report.step_time_s, 4);
  return report.step_band ? step + " (" + significant(report.step_band->low.in_seconds(), 4) + "-" +
                                significant(report.step_band->high.in_seconds(), 4) + ")"
                          : step;
}

}  // namespace

std::string reliability_beside(std::span<const ReliabilityReport> reports) {
  WeeksColumns table(reports);
  table.text("chips and spares", [](const ReliabilityReport& report) {
    return significant(report.job_chips, 1) + " + " + significant(report.spare_chips, 1) + " " + report.chip;
  });
  table.text("step, s", step_told);
  table.text("price", [](const ReliabilityReport& report) {
    return significant(report.usd_per_chip_hour, 4) + " " + report.price;
  });
  const auto four = [](double value) { return significant(value, 4); };
  const auto share = [](double value) { return percent(value); };
  table.spread(
      "ETTR", [](const ReliabilityReport& report) { return &report.figures.ettr; }, share);
  table.spread(
      "failures", [](const ReliabilityReport& report) { return &report.figures.failures; }, four);
  table.spread(
      "days", [](const ReliabilityReport& report) { return &report.figures.days; }, four,
      WeeksColumns::Span::kWholeRun);
  table.spread(
      "USD", [](const ReliabilityReport& report) { return &report.figures.cost_usd; }, four,
      WeeksColumns::Span::kWholeRun);
  table.spread(
      "MWh", [](const ReliabilityReport& report) { return &report.figures.energy_mwh; }, four,
      WeeksColumns::Span::kWholeRun);
  if (std::ranges::any_of(reports, [](const auto& report) { return report.figures.carbon_t.has_value(); }))
    table.spread(
        "t CO2e",
        [](const ReliabilityReport& report) {
          return report.figures.carbon_t ? &*report.figures.carbon_t : nullptr;
        },
        four, WeeksColumns::Span::kWholeRun);
  if (std::ranges::any_of(reports, [](const auto& report) { return report.unfinished > 0; }))
    table.text("not finished", [](const ReliabilityReport& report) {
      return report.unfinished > 0 ? unfinished_runs(report) : std::string("-");
    });
  const auto all_vary = [](const ReliabilityReport& report) { return report.step_band.has_value(); };
  return table.aligned() + "Medians, and what eight runs in ten lie between" +
         (std::ranges::all_of(reports, all_vary) ? ", over failures and the error of the step" : "") + ".\n";
}

}  // namespace podsim
