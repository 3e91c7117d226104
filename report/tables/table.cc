// The report for a terminal.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "engine/unit_factors.h"
#include "report/figures/figures.h"
#include "report/figures/step_figures.h"
#include "report/summary/slow_entries.h"
#include "report/summary/verdict.h"
#include "report/tables/anchor_text.h"
#include "report/tables/ensemble_text.h"
#include "report/tables/memory_text.h"
#include "report/tables/what_if_text.h"
#include "report/tables/write.h"
#include "report/text/align.h"
#include "report/text/text.h"

namespace podsim {
namespace {

using Rows = std::vector<std::vector<std::string>>;

constexpr int kBarLength = 40;  // characters of a whole step

std::string heading(const Report& report) {
  std::string text = report.scenario + "\n";
  if (!report.question.empty()) text += report.question + "\n";
  text += "\n" + report.model + " on " + std::to_string(report.chips) + " " + report.chip + ", fabric " +
          report.fabric + ", stack " + report.stack + "; " + significant(report.tokens_per_step, 1) +
          " tokens per step, " + seeds_text(report);
  if (report.steps > 1) text += ", " + std::to_string(report.steps) + " steps";
  return text + "\n";
}

// Rows: part, seconds, share of the step; bars beside them.
class Breakdown {
 public:
  explicit Breakdown(Time step) : step_(step) { rows_.push_back({"step of the mean chip", "s", "share"}); }

  void add(const std::string& part, Time time, bool bar = true) {
    const double of_step = time_share(time, step_);
    rows_.push_back({part, fixed(time.in_seconds(), 4), percent(of_step)});
    const auto length =
        static_cast<std::size_t>(std::clamp(std::lround(of_step * kBarLength), 0L, long{kBarLength}));
    bars_.push_back(std::string(bar ? length : 0, '#'));
  }

  // With the bars to the right of the aligned columns.
  std::string text() const {
    std::string out;
    const std::string table = align(rows_);
    std::size_t begin = 0;
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      const std::size_t end = table.find('\n', begin);
      out += table.substr(begin, end - begin);
      if (row > 0 && !bars_[row - 1].empty()) out += "  " + bars_[row - 1];
      out += "\n";
      begin = end + 1;
    }
    return out;
  }

 private:
  Time step_;
  Rows rows_;
  std::vector<std::string> bars_;
};

// The parts of exposed communication; the small ones together.
void add_exposed(Breakdown& table, const Report& report) {
  const ShownExposures shown = shown_exposures(report);
  for (const std::size_t i : shown.named) {
    const ExposedCommunication& exposed = report.exposed[i];
    table.add("  " + exposed.axes + " " + exposed.kind, exposed.time, false);
  }
  if (shown.others.ps > 0) table.add("  others", shown.others, false);
}

std::string breakdown(const Report& report) {
  Breakdown table(report.step_time);
  for (const StepBucket& bucket : step_buckets()) {
    if (bucket.time == &Report::evaluation && report.evaluation.ps <= 0) continue;
    table.add(bucket.name, report.*bucket.time);
    if (bucket.time == &Report::exposed_communication) add_exposed(table, report);
  }
  table.add("step time", report.step_time, false);
  if (report.steps > 1 && !report.ensemble) {
    table.add("step time, median", report.step_time_p50, false);
    table.add("step time, p99", report.step_time_p99, false);
  }
  return table.text();
}

void add_rows(Rows& rows, std::vector<Figure> section) {
  for (const Figure& figure : rows_of(std::move(section))) rows.push_back({figure.label, figure.text});
}

std::string throughput(const Report& report) {
  Rows rows = {{"throughput"}};
  add_rows(rows, throughput_figures(report));
  for (std::vector<std::string>& row : rows) row.resize(3);
  if (report.knows_flops()) {
    rows.push_back({"MFU, causal attention", percent(report.mfu_causal),
                    significant(report.model_flops_per_token_causal / 1e9, 4) + " GFLOP per token"});
    rows.push_back({"MFU, full attention", percent(report.mfu_full),
                    significant(report.model_flops_per_token_full / 1e9, 4) + " GFLOP per token"});
    rows.push_back({"HFU, full attention", percent(report.hfu_full), "with recompute"});
  } else {
    rows.push_back({"MFU", "not known", "without FLOPs per token"});
  }
  return align(rows);
}

std::string shapes_table(const ShapesReport& shapes) {
  Rows rows = {{"documents padded to", "share of steps", "step s"}};
  for (const ShapeReport& shape : shapes.by_shape)
    rows.push_back({std::to_string(shape.tokens) + " tokens", percent(shape.share),
                    significant(shape.step_time.in_seconds(), 4)});
  return align(rows) + "Of all shapes " + percent(shapes.padding_share) + " is padding; a step takes " +
         significant(shapes.step_time.in_seconds(), 4) + " s and " +
         significant(shapes.compile_time.in_seconds(), 4) +
         " s of compilation in the mean: " + significant(shapes.tokens_per_s, 4) +
         " tokens/s of documents.\n";
}

std::string cost_and_energy(const Report& report) {
  Rows rows = {{"cost and energy, " + report.price, ""}};
  add_rows(rows, cost_figures(report));
  return align(rows);
}

std::string link_use(const Report& report) {
  Rows rows = {{"link use over the step", "mean", "busiest"}};
  for (const LinkUse& use : report.link_use) {
    rows.push_back({use.kind, percent(use.mean_utilisation), percent(use.max_utilisation)});
  }
  return align(rows);
}

std::string slow_parties(const Report& report) {
  Rows rows = {{"stragglers, chip-seconds per step", "made others wait", "waited"}};
  for (const SlowParty& party : report.slow_parties) {
    rows.push_back({party.who, significant(party.caused_chip_s, 4), significant(party.waited_chip_s, 4)});
  }
  return align(rows);
}

std::string fault_costs(const Report& report) {
  Rows rows = {{"adversities", "step time without it, s", "it costs, s"}};
  for (const FaultCost& fault : report.fault_costs) {
    const Time without = report.step_time - fault.cost;
    rows.push_back({fault.what, fixed(without.in_seconds(), 4), fixed(fault.cost.in_seconds(), 4)});
  }
  if (report.fault_costs.size() > 1)
    rows.push_back({"all together", fixed((report.step_time - report.straggler_delay).in_seconds(), 4),
                    fixed(report.straggler_delay.in_seconds(), 4)});
  return align(rows);
}

std::string algorithms(const Report& report) {
  std::string text = "collectives\n";
  for (const std::string& algorithm : report.algorithms) text += algorithm + "\n";
  return text;
}

// What stood for all chips, groups and links (docs/theory/folding.md).
std::string simulated_classes(const Report& report) {
  return "Simulated classes: " + std::to_string(report.chip_classes) + " of " + std::to_string(report.chips) +
         " chips, " + std::to_string(report.group_classes) + " of groups, " +
         std::to_string(report.link_classes) + " of links; " + std::to_string(report.events) + " events.\n";
}

// The loss that a user would look at first, such as "pipeline bubble 8.1%".
std::string largest_loss(const Report& report) {
  const StepBucket* worst = nullptr;
  for (const StepBucket& bucket : step_buckets()) {
    if (bucket.time == &Report::compute || bucket.time == &Report::evaluation) continue;
    if (!worst || report.*bucket.time > report.*worst->time) worst = &bucket;
  }
  const std::string outside = report.evaluation.ps > 0 ? "compute and evaluation" : "compute";
  if ((report.*worst->time).ps <= 0) return "Nothing is lost outside of " + outside;
  return "The largest loss outside of " + outside + " is " + worst->name + ", " +
         percent(time_share(report.*worst->time, report.step_time)) + " of the step";
}

// How sure the step time is.
std::string band_line(const StepTimeBand& band) {
  const bool own = band.kind == kAnchoredBand;
  return "Eight runs in ten like this take " + significant(band.low.in_seconds(), 4) + " to " +
         significant(band.high.in_seconds(), 4) + " s a step (band 10-90 %, " + band.kind + ", " +
         std::to_string(band.rows) + (own ? " of your own" : " measured runs") + ").\n";
}

std::string answer(const Report& report) {
  const std::string mfu = report.knows_flops() ? " at " + percent(report.mfu_causal) + " MFU (causal)" : "";
  std::string text = "A step takes " + significant(report.step_time.in_seconds(), 4) + " s" + mfu + ": " +
                     significant(report.tokens_per_s_per_chip, 4) + " tokens/s per chip, " +
                     fixed(report.cost_usd_per_million_tokens, 3) + " USD and " +
                     significant(report.energy_j_per_token * 1e6 / kJoulesPerKwh, 3) +
                     " kWh per million tokens.\n" + largest_loss(report) + ".";
  if (report.verdict) {
    text += " " + verdict_sentence(*report.verdict);
  } else if (report.straggler_delay.ps > 0) {
    const Time clean = report.step_time - report.straggler_delay;
    text += " Stragglers make the step " + percent(time_share(report.straggler_delay, clean)) + " longer.";
  }
  text += "\n";
  if (report.ensemble) text += ensemble_verdict(report);
  return text + (report.band ? band_line(*report.band) : "");
}

}  // namespace

std::string fits_text(const Report& report) {
  if (!report.knows_memory()) return "-";
  return report.memory.fits ? "yes" : "no";
}

std::string report_answer(const Report& report) {
  return report.memory.fits ? answer(report) : memory_verdict(report);
}

std::string report_table(const Report& report) {
  std::string text = heading(report) + "\n" + breakdown(report);
  if (report.anchor) text += "\n" + anchor_table(*report.anchor);
  if (report.shapes) text += "\n" + shapes_table(*report.shapes);
  if (report.ensemble) text += "\n" + ensemble_table(report);
  text += "\n" + throughput(report) + "\n" +
          (report.knows_memory() ? memory_table(report.memory) : "memory per chip is not known\n") + "\n" +
          cost_and_energy(report);
  if (!report.link_use.empty()) text += "\n" + link_use(report);
  if (!report.slow_entries.empty()) text += "\n" + slow_entries_table(report);
  if (!report.fault_costs.empty()) text += "\n" + fault_costs(report);
  if (!report.slow_parties.empty()) text += "\n" + slow_parties(report);
  if (report.what_if) text += "\nwhat if, by a replay of simulated steps\n" + what_if_tables(*report.what_if);
  if (report.verdict) text += "\n" + verdict_table(*report.verdict);
  if (!report.algorithms.empty()) text += "\n" + algorithms(report);
  if (report.chip_classes > 0) text += "\n" + simulated_classes(report);
  return text + "\n" + report_answer(report);
}

}  // namespace podsim
