// Clusters compared, as values.
#include "planner/plan/plan.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "api/asked.h"
#include "api/errors.h"
#include "api/evaluators.h"
#include "api/podsim/podsim.h"
#include "cli/plan/plan_text.h"
#include "engine/binary_units.h"
#include "engine/parallel_for.h"
#include "planner/plan/ask.h"
#include "proto/scenario/load_plan.h"

namespace podsim {
namespace {

PlanWords words_of(const PlanWish& wish) {
  PlanWords words;
  words.tokens = wish.tokens;
  words.most_days = wish.most_days;
  words.most_usd = wish.most_usd;
  words.gap = wish.gap;
  if (wish.minimise) add_objective(*wish.minimise, words.objectives);
  if (!wish.chips.empty()) words.chips = wish.chips;
  if (!wish.counts.empty()) words.counts = wish.counts;
  if (!wish.price_terms.empty()) words.price_terms = wish.price_terms;
  if (!wish.precisions.empty()) words.precisions = wish.precisions;
  return words;
}

Expected<PlanResult> planned(const Scenario& scenario, const PlanWish& wish, const Effort& effort) {
  const std::vector<std::string> objectives = objective_names();
  if (wish.minimise && std::ranges::find(objectives, *wish.minimise) == objectives.end())
    return input_error(
        "plan", "minimise",
        "minimise: expected usd, days, energy, carbon, chips or regret, not \"" + *wish.minimise + "\"");
  const PlanWords words = words_of(wish);
  if (const auto wrong = wrong_word(words, shared_catalog()))
    return input_error("plan", wrong->member, wrong->member + ": " + wrong->message);
  LoadPlanResult loaded =
      load_plan(scenario.name(), scenario.text(), shared_catalog(), overrides_of(scenario));
  if (!loaded.plan) return input_error(loaded.problems);
  const PlanQuestion question = plan_question(
      {{scenario.name(), scenario.text(), overrides_of(scenario), *std::move(loaded.plan)}}, words);
  if (question.tokens == 0)
    return input_error(
        "plan", "tokens",
        "tokens: expected how many are to be trained, such as 1e12, here or as plan.target_tokens");
  std::atomic<bool> own_stop = false;
  std::atomic<bool>& stop = effort.stop != nullptr ? *effort.stop : own_stop;
  PlanOptions options;
  options.threads = threads_or_cores(effort.threads);
  options.stop = &stop;
  if (effort.watch)
    options.searching = [&](const std::string& choice) {
      if (!goes_on(effort, {0, 0, 0, choice})) stop = true;
    };
  const PlanAnswer answer = plan_training(question, shared_catalog(), options);
  if (answer.rows.empty()) {
    if (stop) throw CancelledByWatch();
    return Error{Error::Kind::kInfeasible, "no cluster can train this:\n" + refusals_text(answer), {}};
  }
  PlanResult result;
  for (const PlanRow& row : answer.rows) {
    const RankedLayout fastest{to_string(row.found.layout), row.found.figures.step_time.in_seconds(),
                               row.found.memory.value / kBytesPerGib, row.scenario};
    result.clusters.push_back({row.chip, row.fabric, row.stack, row.precision, row.price_term, row.chips,
                               fastest, row.days, row.usd, row.mwh, row.meets(question)});
  }
  result.json = plan_json(question, answer);
  return result;
}

}  // namespace

inline namespace v0 {

Expected<PlanResult> plan(const Scenario& scenario, const PlanWish& wish, const Effort& effort) {
  return guarded<PlanResult>([&] { return planned(scenario, wish, effort); });
}

}  // namespace v0
}  // namespace podsim
