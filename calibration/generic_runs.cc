// Predicts runs with generic stacks, alone and anchored.
#include "calibration/generic_runs.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

#include "calibration/anchor.h"
#include "calibration/anchor_slopes.h"
#include "engine/check.h"
#include "engine/parallel_for.h"
#include "proto/scenario/load.h"
#include "proto/text/csv_table.h"
#include "report/text/text.h"
#include "validation/error_summary.h"
#include "validation/run_table.h"
#include "validation/validate_runs.h"

namespace podsim {
namespace {

constexpr std::size_t kFewestRuns = 3;

using Family = std::vector<const GenericRun*>;

// From short steps to long ones.
std::vector<Family> families_of(const GenericRuns& runs, int most_chips) {
  std::map<std::string, Family> named;
  for (const GenericRun& run : runs.runs)
    if (run.run.measured_s && run.run.chips <= most_chips) named[run.run.family].push_back(&run);
  std::vector<Family> families;
  for (auto& [name, of] : named) {
    if (of.size() < kFewestRuns) continue;
    std::ranges::stable_sort(of, {}, [](const GenericRun* run) { return *run->run.measured_s; });
    families.push_back(of);
  }
  return families;
}

// Absolute errors of runs that are alike in kind.
struct ToldAndNot {
  std::vector<double> untold, stated;
};

std::string kind_of(const RunScenario& run) {
  return std::string(to_string(run.chip_kind)) + ", " + run.architecture;
}

// So many of a family, evenly spread from short steps to long ones; one is that of the median step time.
std::vector<const GenericRun*> spread_over(const Family& family, int count) {
  const std::size_t all = family.size(), wanted = std::min(all, static_cast<std::size_t>(count));
  std::vector<const GenericRun*> result;
  for (std::size_t i = 0; i < wanted; ++i) result.push_back(family[(2 * i + 1) * all / (2 * wanted)]);
  return result;
}

// The others of its family before and after one measured step.
void add_anchored(const GenericRun& measured, const Family& family, const Catalog& catalog,
                  const AnchorPriors& priors, AnchoredFamily& result) {
  LoadResult loaded = load_scenario(measured.run.id, measured.run.text, catalog, {});
  if (!loaded.spec) return;
  const Anchor anchor(priors, {{measured.run.id, *loaded.spec, *measured.run.measured_s, {}, measured.text}},
                      1);
  for (const GenericRun* other : family) {
    if (other == &measured || other->run.stack != measured.run.stack) continue;
    const PredictedRun before = predict_run(other->run, catalog);
    const PredictedRun after = predict_run(
        other->run, catalog,
        [&](const Spec& spec, const PredictOptions& options) { return anchor.predict(spec, options); });
    if (!before.error() || !after.error()) continue;
    ++result.rows;
    result.inside += after.inside_band().value_or(false) ? 1 : 0;
    result.before += std::abs(*before.error());
    result.after += std::abs(*after.error());
  }
}

AnchoredFamily anchored(const Family& family, const Catalog& catalog, const AnchorPriors& priors,
                        int anchors) {
  AnchoredFamily result;
  result.family = family.front()->run.family;
  for (const GenericRun* measured : spread_over(family, anchors)) {
    result.stack = measured->run.stack;
    result.anchors += (result.anchors.empty() ? "" : " ") + measured->run.id;
    add_anchored(*measured, family, catalog, priors, result);
  }
  if (result.rows > 0) result.before /= result.rows, result.after /= result.rows;
  return result;
}

}  // namespace

GenericRuns read_generic_runs(const InputText& residuals, const std::vector<InputText>& tables,
                              const Catalog& catalog, bool stated) {
  GenericRuns result;
  CsvTable lines(residuals.name, residuals.text);
  bool complete = true;
  for (const char* column : {"id", "table", "family", "stack"}) complete = lines.require(column) && complete;
  std::map<std::string, std::vector<RunRow>> rows_of;
  for (const InputText& table : tables) {
    RunTable read = read_run_table(table.name, table.text);
    result.problems.insert(result.problems.end(), read.problems.begin(), read.problems.end());
    rows_of[table_name(table.name)] = std::move(read.rows);
  }
  for (const CsvRow& line : complete ? lines.rows() : std::vector<CsvRow>{}) {
    const auto cell = [&](const char* column) { return lines.cell(line, column).text; };
    const auto table = rows_of.find(cell("table"));
    if (table == rows_of.end()) continue;
    const auto at = std::ranges::find_if(table->second, [&](const RunRow& row) {
      return row.text("id") == cell("id") && row.text("family") == cell("family");
    });
    if (at == table->second.end()) {
      lines.report(line, "id", "the table " + cell("table") + " has no such run");
      continue;
    }
    RunRow row = *at;
    row.set("stack", cell("stack"));
    if (!stated)
      for (const char* column : {"comm_overlap", "attention_kernel", "expert_exchange"}) row.set(column, "");
    RunScenario run = run_scenario(row, builtin_run_rules(), catalog);
    if (!run.skipped.empty()) {
      lines.report(line, "id", "cannot be simulated: " + run.skipped);
      continue;
    }
    result.runs.push_back({std::move(run), line.line, line.source});
  }
  result.problems.insert(result.problems.end(), lines.problems().begin(), lines.problems().end());
  return result;
}

std::string residuals_of(const InputText& residuals, const GenericRuns& runs, const Catalog& catalog,
                         int threads) {
  std::vector<std::string> written(runs.runs.size());
  parallel_for(runs.runs.size(), threads, [&](std::size_t i) {
    const auto error = predict_run(runs.runs[i].run, catalog).error();
    const std::string& text = runs.runs[i].text;
    written[i] = text;
    if (!error) return;
    const std::size_t last = text.rfind(','), before = text.rfind(',', last - 1);
    const std::string log_error = fixed(std::log1p(*error), 5);
    written[i] = text.substr(0, before + 1) + log_error + "," + log_error;
  });
  std::map<int, std::string> changed;
  for (std::size_t i = 0; i < written.size(); ++i) changed[runs.runs[i].line] = written[i];
  std::istringstream lines(residuals.text);
  std::string result;
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    const auto at = changed.find(++number);
    result += (at == changed.end() ? line : at->second) + "\n";
  }
  return result;
}

std::string stated_text(const GenericRuns& untold, const GenericRuns& stated, const Catalog& catalog,
                        int threads) {
  PODSIM_CHECK(untold.runs.size() == stated.runs.size(), "the same runs with less told of them");
  const std::size_t count = stated.runs.size();
  std::vector<std::optional<double>> errors(2 * count);
  parallel_for(errors.size(), threads, [&](std::size_t i) {
    const GenericRuns& runs = i < count ? untold : stated;
    errors[i] = predict_run(runs.runs[i % count].run, catalog).error();
  });
  std::map<std::string, ToldAndNot> kinds;
  for (std::size_t i = 0; i < count; ++i) {
    if (!errors[i] || !errors[count + i]) continue;
    ToldAndNot& kind = kinds[kind_of(stated.runs[i].run)];
    kind.untold.push_back(*errors[i]);
    kind.stated.push_back(*errors[count + i]);
  }
  std::string text =
      "| runs | rows | kind alone: mean | bias | with what is stated: mean | bias "
      "|\n|---|---:|---:|---:|---:|---:|\n";
  for (const auto& [name, kind] : kinds) {
    text += "| " + name + " | " + std::to_string(kind.stated.size());
    for (const auto* of : {&kind.untold, &kind.stated}) {
      const ErrorSummary errors_of = summarize_errors(*of);
      text += " | " + fixed(100 * errors_of.mean, 1) + " | " + fixed(100 * errors_of.bias, 1);
    }
    text += " |\n";
  }
  return text;
}

std::string slopes_text(const GenericRuns& runs, const Catalog& catalog, const AnchorPriors& priors,
                        int most_chips, int threads) {
  std::vector<std::string> lines(runs.runs.size());
  parallel_for(lines.size(), threads, [&](std::size_t i) {
    const RunScenario& run = runs.runs[i].run;
    if (!run.measured_s || run.chips > most_chips) return;
    const LoadResult loaded = load_scenario(run.id, run.text, catalog, {});
    if (!loaded.spec) return;
    const std::optional<double> error = predict_run(run, catalog).error();
    if (!error) return;
    lines[i] = run.id + "," + run.family + "," + run.stack + "," + run.chip + "," + run.architecture + "," +
               std::to_string(run.chips) + "," + fixed(*run.measured_s, 6) + "," +
               fixed(std::log1p(*error), 5);
    const std::vector<double> none(priors.parameters.size(), 0);
    const auto slopes = step_slopes(priors, false, {&*loaded.spec}, none, kWideStencil, 1);
    for (const double slope : slopes.front()) lines[i] += "," + fixed(slope, 5);
    lines[i] += "\n";
  });
  std::string text = "id,family,stack,chip,arch,chips,measured_s,log_error";
  for (const AnchorPrior& prior : priors.parameters) text += "," + prior.name;
  text += "\n";
  for (const std::string& line : lines) text += line;
  return text;
}

std::vector<AnchoredFamily> anchored_families(const GenericRuns& runs, const Catalog& catalog,
                                              const AnchorPriors& priors, int most_chips, int anchors,
                                              int threads) {
  const std::vector<Family> families = families_of(runs, most_chips);
  std::vector<AnchoredFamily> result(families.size());
  parallel_for(families.size(), threads,
               [&](std::size_t i) { result[i] = anchored(families[i], catalog, priors, anchors); });
  std::erase_if(result, [](const AnchoredFamily& family) { return family.rows == 0; });
  return result;
}

std::string anchored_text(const std::vector<AnchoredFamily>& families) {
  std::string text =
      "| family | stack | anchors | other rows | mean before | after | in band % "
      "|\n|---|---|---|---:|---:|---:|---:|\n";
  double before = 0, after = 0, inside = 0;
  int rows = 0;
  const auto line = [&](const std::string& names, int count, double first, double second, double share) {
    text += "| " + names + " | " + std::to_string(count) + " | " + fixed(100 * first, 1) + " | " +
            fixed(100 * second, 1) + " | " + fixed(100 * share, 0) + " |\n";
  };
  const auto count = static_cast<double>(families.size());
  for (const AnchoredFamily& of : families) {
    const double share = static_cast<double>(of.inside) / of.rows;
    line(of.family + " | " + of.stack + " | " + of.anchors, of.rows, of.before, of.after, share);
    rows += of.rows;
    before += of.before / count;
    after += of.after / count;
    inside += share / count;
  }
  line("mean over families | | ", rows, before, after, inside);
  return text;
}

}  // namespace podsim
