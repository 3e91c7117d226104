// Writes the sections of docs/evidence/validation.md.
#include "tests/validation/validation_page.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "report/text/text.h"

namespace podsim::testing {
namespace {

constexpr char kOwnTables[] = "## Tables that are not part of the repository\n";
constexpr double kBadFamily = 0.08;  // mean error of a family from which on the page says why
constexpr double kBadRun = 0.2;      // likewise of a run
constexpr int kManyRows = 20;        // from which on the bias of a chip is told apart

using Rows = std::vector<const PageRow*>;
using Belongs = std::function<bool(const PageRow&)>;

Rows select(const std::vector<PageRow>& rows, const Belongs& belongs) {
  Rows chosen;
  for (const PageRow& row : rows)
    if (row.predicted.error() && belongs(row)) chosen.push_back(&row);
  return chosen;
}

std::string line(const std::vector<std::string>& cells) {
  std::string text = "|";
  for (const std::string& cell : cells) text += " " + cell + " |";
  return text + "\n";
}

// The first column is text, the others are numbers unless `text` says that all are text.
std::string header(const std::vector<std::string>& cells, std::size_t text_columns = 1) {
  std::string rule = "|";
  for (std::size_t c = 0; c < cells.size(); ++c) rule += c < text_columns ? "---|" : "---:|";
  return line(cells) + rule + "\n";
}

std::string tenths(double share) { return fixed(100 * share, 1); }
std::string with_sign(double share) { return (share < 0 ? "" : "+") + tenths(share); }

RunErrors errors_of(const Rows& rows) {
  std::vector<const PredictedRun*> runs;
  for (const PageRow* row : rows) runs.push_back(&row->predicted);
  return summarize_runs(runs);
}

// Mean over families of the mean absolute error.
double family_mean(const Rows& rows, const std::function<std::optional<double>(const PageRow&)>& error) {
  std::map<std::string, std::pair<double, int>> families;
  for (const PageRow* row : rows) {
    const auto of_row = error(*row);
    if (!of_row) continue;
    auto& [sum, count] = families[row->predicted.run.family];
    sum += std::fabs(*of_row);
    ++count;
  }
  double mean = 0;
  for (const auto& [name, of] : families) mean += of.first / of.second / static_cast<double>(families.size());
  return mean;
}

const std::vector<std::string> kErrorColumns = {"rows", "mean", "median",    "p90",
                                                "max",  "bias", "in band %", "do not fit"};

std::vector<std::string> error_cells(const RunErrors& errors) {
  return {std::to_string(errors.rows),
          tenths(errors.mean),
          tenths(errors.median),
          tenths(errors.p90),
          tenths(errors.max),
          with_sign(errors.bias),
          errors.banded > 0 ? fixed(100 * errors.coverage(), 0) : "-",
          std::to_string(errors.misfits)};
}

std::vector<std::string> joined(std::vector<std::string> first, const std::vector<std::string>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

bool on_gpu(const PageRow& row) { return row.predicted.run.chip_kind == ChipKind::kGpu; }
bool on_tpu(const PageRow& row) { return row.predicted.run.chip_kind == ChipKind::kTpu; }
bool is(const PageRow& row, const char* architecture) {
  return row.predicted.run.architecture == architecture;
}

struct NamedSet {
  std::string name;
  Belongs belongs;
};

const std::vector<NamedSet>& sets() {
  static const std::vector<NamedSet> kSets = {
      {"GPU runs whose layout is stated",
       [](const PageRow& row) { return on_gpu(row) && row.predicted.run.ready; }},
      {"of these, stated in full",
       [](const PageRow& row) { return on_gpu(row) && row.predicted.stated() == "in full"; }},
      {"of these, with other assumptions",
       [](const PageRow& row) { return on_gpu(row) && row.predicted.stated() == "with assumptions"; }},
      {"GPU runs of dense models, layout assumed in part",
       [](const PageRow& row) { return on_gpu(row) && !row.predicted.run.ready && is(row, "dense"); }},
      {"GPU runs of mixtures of experts", [](const PageRow& row) { return on_gpu(row) && is(row, "moe"); }},
      {"GPU runs of hybrid models", [](const PageRow& row) { return on_gpu(row) && is(row, "hybrid"); }},
      {"TPU runs of dense models", [](const PageRow& row) { return on_tpu(row) && is(row, "dense"); }},
      {"TPU runs of mixtures of experts", [](const PageRow& row) { return on_tpu(row) && is(row, "moe"); }},
      {"more than 1,024 GPUs",
       [](const PageRow& row) { return on_gpu(row) && row.predicted.run.chips > 1024; }},
      {"korthikanti22", [](const PageRow& row) { return row.predicted.run.family == "korthikanti22"; }}};
  return kSets;
}

std::string in_short(const std::vector<PageRow>& rows) {
  std::string text = "## In short\n\n" + header(joined(joined({"runs"}, kErrorColumns), {"family mean"}));
  const auto add = [&](const std::string& name, const Rows& of) {
    const double mean = family_mean(of, [](const PageRow& row) { return row.predicted.error(); });
    text += line(joined(joined({name}, error_cells(errors_of(of))), {tenths(mean)}));
  };
  add("all", select(rows, [](const PageRow&) { return true; }));
  for (const NamedSet& set : sets()) add(set.name, select(rows, set.belongs));
  return text + "\n";
}

RunErrors errors_of(const std::vector<Unseen>& unseen, int misfits) {
  std::vector<double> errors;
  int banded = 0, inside = 0;
  for (const Unseen& one : unseen) {
    errors.push_back(one.error);
    if (one.inside) ++banded, inside += *one.inside ? 1 : 0;
  }
  return {summarize_errors(errors), banded, inside, misfits};
}

// What the fit gives for runs that it has not seen, in the same sets.
std::string unseen(const std::vector<PageRow>& rows) {
  std::string text =
      "## Runs that the fit has not seen\n\nFrom `scenarios/calibration/residuals.csv`, which the fit of "
      "parameters writes: every run predicted with\nparameters fitted without its group, and without all "
      "runs "
      "on its chip (the last four columns), each with its band.\n\n" +
      header(joined(joined({"runs"}, kErrorColumns),
                    {"family mean", "chip left out: mean", "p90", "bias", "in band %"}));
  std::vector<NamedSet> all = {{"all", [](const PageRow&) { return true; }}};
  all.insert(all.end(), sets().begin(), sets().end());
  for (const NamedSet& set : all) {
    const Rows of = select(rows, [&](const PageRow& row) { return row.group_left_out && set.belongs(row); });
    std::vector<Unseen> group, chip;
    for (const PageRow* row : of) group.push_back(*row->group_left_out), chip.push_back(*row->chip_left_out);
    if (group.empty()) continue;
    const double mean = family_mean(of, [](const PageRow& row) { return row.group_left_out->error; });
    const int misfits = errors_of(of).misfits;
    const std::vector<std::string> c = error_cells(errors_of(chip, misfits));
    text += line(joined(joined({set.name}, error_cells(errors_of(group, misfits))),
                        {tenths(mean), c[1], c[3], c[5], c[6]}));
  }
  return text + "\n";
}

std::vector<PredictedRun> in_order(const std::vector<PageRow>& rows) {
  std::vector<PredictedRun> runs;
  for (const PageRow& row : rows) runs.push_back(row.predicted);
  return runs;
}

std::vector<PredictedRun> worst_first(const std::vector<PageRow>& rows) {
  std::vector<PredictedRun> runs = in_order(rows);
  std::ranges::stable_sort(runs, [](const auto& a, const auto& b) {
    return std::fabs(a.error().value_or(0)) > std::fabs(b.error().value_or(0));
  });
  return runs;
}

std::string by_groups(const RunSummary& summary) {
  const std::map<std::string, std::string> titles = {{"chips", "By number of chips"},
                                                     {"stated", "By what the source states"},
                                                     {"band", "By the runs that the band is made of"}};
  std::string text = "## Errors by group\n\n";
  for (const GroupedErrors& grouped : summary.grouped) {
    const auto title = titles.find(grouped.by);
    auto groups = grouped.groups;
    if (grouped.by == "family")
      std::ranges::stable_sort(groups,
                               [](const auto& a, const auto& b) { return a.second.mean > b.second.mean; });
    text += "### " + (title == titles.end() ? "By " + grouped.by : title->second) + "\n\n" +
            header(joined({grouped.by}, kErrorColumns));
    for (const auto& [name, errors] : groups) text += line(joined({name}, error_cells(errors)));
    text += "\n";
  }
  return text;
}

std::string bias_by_chip(const RunSummary& summary) {
  std::string many, few;
  for (const auto& [chip, errors] : summary.grouped.at(1).groups) {
    const std::string one = chip + " " + with_sign(errors.bias) + " (" + std::to_string(errors.rows) + ")";
    std::string& text = errors.rows >= kManyRows ? many : few;
    text += (text.empty() ? "" : ", ") + one;
  }
  return "Bias of chips with at least " + std::to_string(kManyRows) +
         " runs, in percent (runs): " + (many.empty() ? "none" : many) +
         ".\nOf the others: " + (few.empty() ? "none" : few) + ".\n\n";
}

// Nothing where none is known. An empty id asks for that of the family.
std::optional<std::string> cause_of(const std::string& family, const std::string& id,
                                    const std::vector<KnownCause>& causes) {
  for (const KnownCause& cause : causes)
    if (cause.family == family && cause.id == id) return cause.why;
  return std::nullopt;
}

std::string worst_families(const RunSummary& summary, const std::vector<KnownCause>& causes) {
  std::string text = "## Worst families, and why\n\nFamilies whose mean error is above " +
                     fixed(100 * kBadFamily, 0) + " %, worst first.\n\n" +
                     header({"family", "why", "rows", "mean", "bias"}, 2);
  auto families = summary.grouped.front().groups;
  std::ranges::stable_sort(families,
                           [](const auto& a, const auto& b) { return a.second.mean > b.second.mean; });
  for (const auto& [family, errors] : families)
    if (errors.mean > kBadFamily)
      text += line({family, cause_of(family, "", causes).value_or("not known"), std::to_string(errors.rows),
                    tenths(errors.mean), with_sign(errors.bias)});
  return text + "\n";
}

std::string fits_told(const PredictedRun& row) { return row.misfits() ? "NO" : ""; }

std::string worst_runs(const std::vector<PredictedRun>& runs, const std::vector<KnownCause>& causes) {
  std::string text = "## Worst runs, and why\n\nRuns that are more than " + fixed(100 * kBadRun, 0) +
                     " % off.\n\n" + header({"row", "family", "why", "error %", "fits?"}, 3);
  for (const PredictedRun& row : runs) {
    if (std::fabs(row.error().value_or(0)) <= kBadRun) continue;
    const RunScenario& run = row.run;
    const std::string general = cause_of(run.family, "", causes) ? "as its family" : "not known";
    text += line({run.id, run.family, cause_of(run.family, run.id, causes).value_or(general),
                  with_sign(*row.error()), fits_told(row)});
  }
  return text + "\n";
}

// Assumptions by the number that rows refer to them with.
class Notes {
 public:
  std::string numbers(const std::vector<std::string>& assumptions) {
    std::string text;
    for (const std::string& one : assumptions) {
      const auto at = std::ranges::find(texts_, one);
      const auto number = at - texts_.begin() + 1;
      if (at == texts_.end()) texts_.push_back(one);
      text += (text.empty() ? "" : " ") + std::to_string(number);
    }
    return text;
  }
  std::string list() const {
    std::string text = "## Assumptions\n\n";
    for (std::size_t i = 0; i < texts_.size(); ++i) text += std::to_string(i + 1) + ". " + texts_[i] + "\n";
    return text;
  }

 private:
  std::vector<std::string> texts_;
};

std::string run_line(const PredictedRun& row, Notes& notes) {
  const RunScenario& run = row.run;
  const auto& band = row.report.band;
  const auto inside = row.inside_band();
  return line(
      {run.id, run.family, run.model, std::to_string(run.chips) + " " + run.chip, run.precision,
       run.parallelism, run.measured_s ? significant(*run.measured_s, 4) : "-",
       significant(row.report.step_time.in_seconds(), 4), row.error() ? with_sign(*row.error()) : "-",
       band ? significant(band->low.in_seconds(), 4) + " to " + significant(band->high.in_seconds(), 4) : "-",
       inside ? (*inside ? "" : "outside") : "-", fits_told(row), notes.numbers(run.assumptions)});
}

std::string every_run(const std::vector<PredictedRun>& runs, Notes& notes) {
  std::string text = "## Every run, worst first\n\n" +
                     header({"row", "family", "model", "chips", "precision", "parallelism", "measured s",
                             "predicted s", "error %", "band 10-90 % s", "in band?", "fits?", "assumed"},
                            6);
  for (const PredictedRun& row : runs)
    if (row.failure.empty()) text += run_line(row, notes);
  return text + "\n";
}

std::string not_simulated(const PageInput& input) {
  std::string text = "## Not simulated\n\n" + header({"row", "family", "why"}, 3);
  for (const RunScenario& run : input.skipped) text += line({run.id, run.family, run.skipped});
  for (const PageRow& row : input.rows)
    if (!row.predicted.failure.empty())
      text += line({row.predicted.run.id, row.predicted.run.family, row.predicted.failure});
  return text + "\n";
}

constexpr char kNewSoftware[] =
    "From `scenarios/calibration/new_stacks.csv`: every run predicted as if nothing were known of its "
    "software, with the\n"
    "generic stack of its kind ([which-stack.md](../guide/which-stack.md)). *Own stack* is the error with "
    "the stack that\n"
    "was fitted for it, the run's group left out of the fit. Bands are those of a new stack, the run's whole "
    "family left out.\n"
    "Generic stacks were set by hand with these runs in view. Of `ultrascale` there are deciles of the "
    "errors of 508 layouts\n"
    "of a framework that no stack file was fitted to, without the third of them that is far slower than its "
    "neighbours.\n\n";

struct NewSoftware {
  std::vector<Unseen> own, generic;
};

std::vector<std::string> cells(const NewSoftware& of) {
  const std::vector<std::string> own = error_cells(errors_of(of.own, 0)),
                                 generic = error_cells(errors_of(of.generic, 0));
  return {generic[0], of.own.empty() ? "-" : own[1], generic[1], generic[2], generic[3], generic[5],
          generic[6]};
}

std::string kind_of_chip(const Residual& row) { return std::string(to_string(row.chip_kind)); }
std::string kind_of_model(const Residual& row) {
  return !row.experts ? "hybrid models" : *row.experts ? "mixtures of experts" : "dense models";
}

}  // namespace

std::string validation_page(const PageInput& input) {
  const std::vector<PredictedRun> runs = worst_first(input.rows);
  const RunSummary summary = summarize(in_order(input.rows));
  Notes notes;
  const std::string listed = every_run(runs, notes);
  return input.head + "\n" + input.new_software + in_short(input.rows) + unseen(input.rows) +
         worst_families(summary, input.causes) + worst_runs(runs, input.causes) + by_groups(summary) +
         bias_by_chip(summary) + input.own_tables + listed + not_simulated(input) + notes.list();
}

std::string new_software_section(const std::vector<Residual>& generic, const std::vector<Residual>& own) {
  std::map<std::vector<std::string>, NewSoftware> sets, families;
  for (const Residual& row : generic) {
    const Residual* known = find_residual(own, row.family, row.id);
    const auto inside = inside_with_family_left_out(row, generic);
    for (NewSoftware* one :
         {&sets[{kind_of_chip(row) + ", " + kind_of_model(row)}], &families[{row.family, row.stack}]}) {
      one->generic.push_back({std::expm1(row.log_error), inside});
      if (known) one->own.push_back({std::expm1(known->log_error), {}});
    }
  }
  const std::vector<std::string> columns = {"rows", "own stack: mean", "generic: mean", "median", "p90",
                                            "bias", "in band %"};
  std::string text = "## Software that the catalogue does not know\n\n" + std::string(kNewSoftware) +
                     header(joined({"runs"}, columns));
  for (const auto& [name, of] : sets) text += line(joined(name, cells(of)));
  text += "\n" + header(joined({"family", "stack"}, columns), 2);
  for (const auto& [name, of] : families) text += line(joined(name, cells(of)));
  return text + "\n";
}

std::string own_tables_section(const std::vector<NamedRuns>& tables) {
  std::string text = kOwnTables +
                     std::string("\nMeasured by vTrain; only the summaries are given here.\n\n") +
                     header(joined({"table"}, kErrorColumns));
  for (const NamedRuns& table : tables) {
    std::vector<PageRow> all;
    for (const PredictedRun& row : table.rows) all.push_back({row, {}, {}});
    text +=
        line(joined({table.name}, error_cells(errors_of(select(all, [](const PageRow&) { return true; })))));
  }
  return text + "\n";
}

std::string own_tables_section(const std::string& page) {
  const std::size_t begin = page.find(kOwnTables);
  if (begin == std::string::npos) return "";
  return page.substr(begin, page.find("\n## ", begin) + 1 - begin);
}

}  // namespace podsim::testing
