// Runs scenarios of measured runs through the straight line and gathers the errors.
#include "validation/validate_runs.h"

#include <algorithm>
#include <climits>
#include <cmath>
#include <exception>
#include <functional>

#include "engine/parallel_for.h"
#include "prediction/error_band.h"
#include "proto/scenario/load.h"
#include "report/text/text.h"

namespace podsim {

std::optional<double> PredictedRun::error() const {
  if (!failure.empty() || !run.measured_s || *run.measured_s <= 0) return std::nullopt;
  return (report.step_time.in_seconds() - *run.measured_s) / *run.measured_s;
}

bool PredictedRun::misfits() const { return failure.empty() && !report.memory.fits; }

std::vector<Problem> PredictedRun::contradictions() const {
  constexpr double kNear = 0.1;  // tables round, and count embeddings or not
  std::vector<Problem> told = run.contradictions;
  if (!run.weights || !failure.empty() || report.parameters <= 0) return told;
  if (std::abs(run.weights->count / report.parameters - 1) <= kNear) return told;
  Problem weights = run.weights->place;
  weights.message = run.id + ": params_total_b is " + significant(run.weights->count / 1e9, 3) +
                    " billion, and " + report.model + " as it is simulated has " +
                    significant(report.parameters / 1e9, 3);
  weights.hint = "a column of its shape is wrong, or that of its weights";
  told.push_back(std::move(weights));
  return told;
}

std::string PredictedRun::stated() const {
  if (!run.ready) return "in part";
  return run.assumptions.empty() ? "in full" : "with assumptions";
}

PredictedRun predict_run(const RunScenario& run, const Catalog& catalog) {
  return predict_run(run, catalog, [](const Spec& spec, const PredictOptions& options) {
    return predict_step(spec, options).report;
  });
}

PredictedRun predict_run(const RunScenario& run, const Catalog& catalog, const StepPredictor& predict) {
  PredictedRun result;
  result.run = run;
  try {
    const LoadResult loaded = load_scenario(run.id, run.text, catalog, {});
    if (loaded.spec) {
      PredictOptions options;
      options.memory_advice = false;  // a table has no room for it
      if (const Residual* row = find_residual(builtin_residuals(), run.family, run.id))
        options.left_out_group = row->group;
      result.report = predict(*loaded.spec, options);
    } else {
      const Problem& first = loaded.problems.at(0);
      result.failure = first.message + (first.hint.empty() ? "" : "; " + first.hint);
    }
  } catch (const std::exception& error) {
    result.failure = error.what();
  }
  return result;
}

std::optional<bool> PredictedRun::inside_band() const {
  if (!error() || !report.band) return std::nullopt;
  return *run.measured_s >= report.band->low.in_seconds() &&
         *run.measured_s <= report.band->high.in_seconds();
}

std::vector<PredictedRun> predict_runs(const std::vector<RunScenario>& runs, const Catalog& catalog,
                                       int threads) {
  std::vector<PredictedRun> predicted(runs.size());
  parallel_for(runs.size(), threads, [&](std::size_t i) { predicted[i] = predict_run(runs[i], catalog); });
  return predicted;
}

namespace {

// Up to so many chips; in ascending order.
constexpr std::pair<int, const char*> kScales[] = {
    {8, "up to 8"}, {64, "9 to 64"}, {256, "65 to 256"}, {1024, "257 to 1,024"}, {INT_MAX, "above 1,024"}};

}  // namespace

std::string scale_of(int chips) {
  return std::ranges::find_if(kScales, [&](const auto& scale) { return chips <= scale.first; })->second;
}

namespace {

using Key = std::function<std::string(const PredictedRun&)>;

GroupedErrors group(const std::vector<PredictedRun>& runs, const std::string& by, const Key& key) {
  std::vector<std::pair<std::string, std::vector<const PredictedRun*>>> members;
  for (const PredictedRun& run : runs) {
    if (!run.error()) continue;
    const std::string name = key(run);
    auto at = std::ranges::find(members, name, &decltype(members)::value_type::first);
    if (at == members.end()) at = members.insert(members.end(), {name, {}});
    at->second.push_back(&run);
  }
  GroupedErrors result{by, {}};
  for (const auto& [name, of] : members) result.groups.emplace_back(name, summarize_runs(of));
  return result;
}

// From few chips to many.
GroupedErrors by_scale(const std::vector<PredictedRun>& runs) {
  GroupedErrors errors = group(runs, "chips", [](const auto& row) { return scale_of(row.run.chips); });
  const auto rank = [](const auto& named) {
    return std::ranges::find(kScales, named.first, &std::pair<int, const char*>::second) - kScales;
  };
  std::ranges::sort(errors.groups, {}, rank);
  return errors;
}

}  // namespace

RunErrors summarize_runs(const std::vector<const PredictedRun*>& runs) {
  std::vector<double> errors;
  int banded = 0, inside = 0, misfits = 0;
  for (const PredictedRun* run : runs) {
    if (const auto error = run->error()) errors.push_back(*error), misfits += run->misfits() ? 1 : 0;
    if (const auto is_inside = run->inside_band()) ++banded, inside += *is_inside ? 1 : 0;
  }
  return {summarize_errors(errors), banded, inside, misfits};
}

RunSummary summarize(const std::vector<PredictedRun>& runs) {
  RunSummary summary;
  std::vector<const PredictedRun*> all;
  for (const PredictedRun& run : runs) {
    if (run.failure.empty()) ++summary.simulated;
    if (run.failure.empty() && run.report.memory.fits) ++summary.fitting;
    all.push_back(&run);
  }
  summary.all = summarize_runs(all);
  summary.grouped = {
      group(runs, "family", [](const auto& row) { return row.run.family; }),
      group(runs, "chip", [](const auto& row) { return row.run.chip; }),
      group(runs, "precision", [](const auto& row) { return row.run.precision; }),
      by_scale(runs),
      group(runs, "parallelism", [](const auto& row) { return row.run.parallelism; }),
      group(runs, "architecture", [](const auto& row) { return row.run.architecture; }),
      group(runs, "stated", [](const auto& row) { return row.stated(); }),
      group(runs, "band", [](const auto& row) { return row.report.band ? row.report.band->kind : "none"; })};
  const auto& families = summary.grouped.front().groups;
  for (const auto& [name, errors] : families)
    summary.family_mean += errors.mean / static_cast<double>(families.size());
  return summary;
}

}  // namespace podsim
