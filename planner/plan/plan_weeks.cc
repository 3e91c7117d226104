// Loads the scenario of the row as a question about weeks.
#include "planner/plan/plan_weeks.h"

#include "prediction/weeks.h"
#include "proto/scenario/load_reliability.h"
#include "proto/scenario/write_layout.h"
#include "report/text/text.h"

namespace podsim {
namespace {

constexpr int kRunsOfWeeks = 100;  // simulated over failures, of each row

// Where a step is drawn too, seeds say how often: then runs are as many as podsim reliability has.
bool seeds_are_of_runs(const Spec& spec) { return !spec.adversities.random(); }

}  // namespace

std::string scenario_of_weeks(const std::string& scenario, const Spec& spec, double tokens) {
  std::vector<Override> overrides = {{"reliability.step_error", "false"}};
  if (seeds_are_of_runs(spec)) overrides.push_back({"seeds", std::to_string(kRunsOfWeeks)});
  return scenario_to_tokens(scenario, overrides, tokens);
}

std::optional<ReliabilityReport> runs_of_weeks(const WeeksWish& wish, const Catalog& catalog, int threads,
                                               std::string& why) {
  LoadReliabilityResult loaded = load_reliability(
      wish.file, scenario_to_tokens(wish.scenario, wish.overrides, wish.tokens), catalog, {});
  if (!loaded.question) {
    why = loaded.problems.front().message;
    return std::nullopt;
  }
  loaded.question->step_error = false;
  if (!loaded.question->step || seeds_are_of_runs(*loaded.question->step))
    loaded.question->seeds = kRunsOfWeeks;
  for (FailureSource& source : loaded.question->run.failures) source.per_s *= wish.failures;
  WeeksOptions how;
  how.threads = threads;
  ReliabilityReport report = predict_weeks(*loaded.question, how);
  if (report.unfinished == 0) return report;
  why = "with these failures a run does not end within " + fixed(report.longest_days, 0) + " days";
  return std::nullopt;
}

}  // namespace podsim
