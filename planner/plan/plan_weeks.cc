// Loads the scenario of the row as a question about weeks.
#include "planner/plan/plan_weeks.h"

#include "prediction/weeks.h"
#include "proto/scenario/load_reliability.h"
#include "proto/scenario/write_layout.h"
#include "report/text.h"

namespace podsim {
namespace {

constexpr int kRunsOfWeeks = 100;  // simulated over failures, of each row

}  // namespace

std::optional<ReliabilityReport> runs_of_weeks(const WeeksWish& wish, const Catalog& catalog, int threads,
                                               std::string& why) {
  const std::vector<Override> overrides = {{"reliability.step_error", wish.step_error ? "true" : "false"},
                                           {"seeds", std::to_string(kRunsOfWeeks)}};
  LoadReliabilityResult loaded = load_reliability(
      wish.file, scenario_to_tokens(wish.scenario, wish.overrides, wish.tokens), catalog, overrides);
  if (!loaded.question) {
    why = loaded.problems.front().message;
    return std::nullopt;
  }
  for (FailureSource& source : loaded.question->run.failures) source.per_s *= wish.failures;
  WeeksOptions how;
  how.threads = threads;
  ReliabilityReport report = predict_weeks(*loaded.question, how);
  if (report.unfinished == 0) return report;
  why = "with these failures a run does not end within " + fixed(report.longest_days, 0) + " days";
  return std::nullopt;
}

}  // namespace podsim
