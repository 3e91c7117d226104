// Runs scenarios of measured runs through the straight line and gathers the errors.
#include "planner/validate_runs.h"

#include <algorithm>
#include <exception>
#include <functional>

#include "planner/predict.h"

namespace podsim {

std::optional<double> PredictedRun::error() const {
  if (!failure.empty() || !run.measured_s || *run.measured_s <= 0) return std::nullopt;
  return (report.step_time.in_seconds() - *run.measured_s) / *run.measured_s;
}

PredictedRun predict_run(const RunScenario& run, const Catalog& catalog) {
  PredictedRun result;
  result.run = run;
  try {
    const LoadResult loaded = load_scenario(run.id, run.text, catalog, {});
    if (loaded.spec) {
      result.report = predict_step(*loaded.spec, {}).report;
    } else {
      const Problem& first = loaded.problems.at(0);
      result.failure = first.message + (first.hint.empty() ? "" : "; " + first.hint);
    }
  } catch (const std::exception& error) {
    result.failure = error.what();
  }
  return result;
}

std::string scale_of(int chips) {
  if (chips <= 8) return "up to 8";
  if (chips <= 64) return "9 to 64";
  if (chips <= 256) return "65 to 256";
  return chips <= 1024 ? "257 to 1,024" : "above 1,024";
}

namespace {

using Key = std::function<std::string(const RunScenario&)>;

GroupedErrors group(const std::vector<PredictedRun>& runs, const std::string& by, const Key& key) {
  std::vector<std::pair<std::string, std::vector<double>>> errors;
  for (const PredictedRun& run : runs) {
    const auto error = run.error();
    if (!error) continue;
    const std::string name = key(run.run);
    auto at = std::ranges::find(errors, name, &decltype(errors)::value_type::first);
    if (at == errors.end()) at = errors.insert(errors.end(), {name, {}});
    at->second.push_back(*error);
  }
  GroupedErrors result{by, {}};
  for (const auto& [name, of] : errors) result.groups.emplace_back(name, summarize_errors(of));
  return result;
}

}  // namespace

RunSummary summarize(const std::vector<PredictedRun>& runs) {
  RunSummary summary;
  std::vector<double> all;
  for (const PredictedRun& run : runs) {
    if (run.failure.empty()) ++summary.simulated;
    if (run.failure.empty() && run.report.memory.fits) ++summary.fitting;
    if (const auto error = run.error()) all.push_back(*error);
  }
  summary.all = summarize_errors(all);
  summary.grouped = {group(runs, "family", [](const RunScenario& run) { return run.family; }),
                     group(runs, "chip", [](const RunScenario& run) { return run.chip; }),
                     group(runs, "precision", [](const RunScenario& run) { return run.precision; }),
                     group(runs, "chips", [](const RunScenario& run) { return scale_of(run.chips); }),
                     group(runs, "parallelism", [](const RunScenario& run) { return run.parallelism; })};
  const auto& families = summary.grouped.front().groups;
  for (const auto& [name, errors] : families)
    summary.family_mean += errors.mean / static_cast<double>(families.size());
  return summary;
}

}  // namespace podsim
