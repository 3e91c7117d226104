// Reports side by side: ratios to the first, and which bucket makes the difference.
#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "report/figures/figures.h"
#include "report/figures/step_figures.h"
#include "report/tables/ensemble_text.h"
#include "report/tables/write.h"
#include "report/text/align.h"
#include "report/text/text.h"

namespace podsim {
namespace {

using Rows = std::vector<std::vector<std::string>>;

std::string ratio(double value, double reference) {
  return reference == 0 ? "-" : fixed(value / reference, 3) + "x";
}

// Adds a row of one figure: its value in each report, beside all but the first its ratio to the first.
class Columns {
 public:
  explicit Columns(std::span<const Report> reports) : reports_(reports) {
    std::vector<std::string> header = {""};
    for (std::size_t i = 0; i < reports.size(); ++i) {
      header.push_back(reports[i].scenario);
      if (i > 0) header.push_back("ratio");
    }
    rows_.push_back(header);
  }

  void text(const std::string& name, const std::function<std::string(const Report&)>& value) {
    std::vector<std::string> row = {name};
    for (std::size_t i = 0; i < reports_.size(); ++i) {
      row.push_back(value(reports_[i]));
      if (i > 0) row.push_back("");
    }
    rows_.push_back(row);
  }

  // Nothing is a figure that is not known.
  void number(const std::string& name, const std::function<std::optional<double>(const Report&)>& value,
              const std::function<std::string(double)>& format) {
    std::vector<std::string> row = {name};
    const std::optional<double> first = value(reports_[0]);
    for (std::size_t i = 0; i < reports_.size(); ++i) {
      const std::optional<double> figure = value(reports_[i]);
      row.push_back(figure ? format(*figure) : "-");
      if (i > 0) row.push_back(figure && first ? ratio(*figure, *first) : "-");
    }
    rows_.push_back(row);
  }

  // The rows of a section of the list of figures, all numbers, of which some reports may have fewer.
  void section(const std::function<std::vector<Figure>(const Report&)>& figures) {
    std::vector<std::vector<Figure>> of;
    for (const Report& report : reports_) of.push_back(rows_of(figures(report)));
    const auto most = std::ranges::max_element(of, {}, [](const auto& rows) { return rows.size(); });
    for (const Figure& each : *most) {
      const auto in = [&](std::size_t report) {
        const auto found = std::ranges::find(of[report], each.label, &Figure::label);
        return found == of[report].end() ? nullptr : &*found;
      };
      std::vector<std::string> row = {each.label};
      for (std::size_t i = 0; i < of.size(); ++i) {
        const Figure *first = in(0), *here = in(i);
        row.push_back(here ? here->text : "-");
        if (i > 0)
          row.push_back(here && first ? ratio(std::get<double>(here->value), std::get<double>(first->value))
                                      : "-");
      }
      rows_.push_back(row);
    }
  }

  std::string aligned() const { return align(rows_); }

 private:
  std::span<const Report> reports_;
  Rows rows_;
};

std::string four_digits(double value) { return significant(value, 4); }

// Where one of them has several seeds.
void add_ensembles(Columns& table, std::span<const Report> reports) {
  if (std::none_of(reports.begin(), reports.end(), [](const Report& r) { return r.ensemble.has_value(); }))
    return;
  table.text("  seeds", [](const Report& r) {
    return r.ensemble ? significant(r.ensemble->seeds, 1) : std::string("1");
  });
  table.text("  95 % confidence, s",
             [](const Report& r) { return r.ensemble ? interval_text(r.ensemble->mean) : std::string("-"); });
  table.number(
      "  median, s", [](const Report& r) { return r.step_time_p50.in_seconds(); }, four_digits);
  table.number(
      "  p99, s", [](const Report& r) { return r.step_time_p99.in_seconds(); }, four_digits);
}

std::string side_by_side(std::span<const Report> reports) {
  Columns table(reports);
  table.text("model", [](const Report& r) { return r.model; });
  table.text("chip", [](const Report& r) { return r.chip; });
  table.text("fabric", [](const Report& r) { return r.fabric; });
  table.number(
      "chips", [](const Report& r) { return r.chips; }, [](double v) { return fixed(v, 0); });
  table.number(
      "tokens per step", [](const Report& r) { return r.tokens_per_step; }, four_digits);
  table.number(
      "step time, s", [](const Report& r) { return r.step_time.in_seconds(); }, four_digits);
  add_ensembles(table, reports);
  for (const StepBucket& bucket : step_buckets()) {
    table.number(
        std::string("  ") + bucket.name + ", s",
        [&](const Report& r) { return (r.*bucket.time).in_seconds(); }, [](double v) { return fixed(v, 4); });
  }
  table.section(throughput_figures);
  const auto utilization = [&](const std::string& name, double Report::*mfu) {
    table.number(
        name, [mfu](const Report& r) { return r.knows_flops() ? std::optional(r.*mfu) : std::nullopt; },
        percent);
  };
  utilization("MFU, causal", &Report::mfu_causal);
  utilization("MFU, full", &Report::mfu_full);
  utilization("MFU of bf16 peak, full", &Report::mfu_bf16_full);
  table.number(
      "memory per chip, GiB",
      [](const Report& r) { return r.knows_memory() ? std::optional(r.memory.total) : std::nullopt; },
      [](double v) { return fixed(v, 2); });
  table.text("fits", fits_text);
  table.section(cost_figures);
  return table.aligned();
}

// Where two reports differ in time. Steps of the same tokens on the same number of chips compare directly;
// otherwise the common measure is chip-seconds per million tokens.
std::string difference(const Report& first, const Report& other) {
  const bool same_work = first.tokens_per_step == other.tokens_per_step && first.chips == other.chips;
  const auto measure = [&](const Report& report, Time time) {
    return same_work ? time.in_seconds() : time.in_seconds() * report.chips / report.tokens_per_step * 1e6;
  };
  const double before = measure(first, first.step_time), after = measure(other, other.step_time);
  const std::string unit = same_work ? "s" : "chip-seconds per million tokens";
  std::string text =
      other.scenario + (same_work ? ": a step takes " : ": a token takes ") + fixed(after / before, 3) +
      "x as long as in " + first.scenario + (same_work ? "" : " for the same number of chips") + " (" +
      (after >= before ? "+" : "-") + significant(std::abs(after - before), 3) + " " + unit + ").";
  const StepBucket* largest = nullptr;
  double largest_change = 0;
  for (const StepBucket& bucket : step_buckets()) {
    const double change = measure(other, other.*bucket.time) - measure(first, first.*bucket.time);
    if (std::abs(change) > std::abs(largest_change)) {
      largest = &bucket;
      largest_change = change;
    }
  }
  if (largest == nullptr) return text + " Every part is the same.\n";
  return text + " The difference lies most in " + largest->name + ": " + (largest_change > 0 ? "+" : "-") +
         significant(std::abs(largest_change), 3) + " " + unit + ".\n";
}

}  // namespace

std::string compare_table(std::span<const Report> reports) {
  if (reports.empty()) return "";
  std::string text = side_by_side(reports) + "\n";
  for (const Report& report : reports) {
    if (!report.question.empty()) text += report.scenario + " asks: " + report.question + "\n";
  }
  for (std::size_t i = 1; i < reports.size(); ++i) text += difference(reports[0], reports[i]);
  return text;
}

}  // namespace podsim
