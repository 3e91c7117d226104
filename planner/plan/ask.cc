// Puts what is said in the place of what blocks say.
#include "planner/plan/ask.h"

#include <algorithm>
#include <utility>

#include "proto/scenario/write_layout.h"

namespace podsim {
namespace {

constexpr int kUsualCounts[] = {256, 512, 1024, 2048};

template <class Value>
std::optional<Value> first_of(const std::optional<Value>& said, const std::optional<Value>& block) {
  return said ? said : block;
}

// The scenario on the clusters of one choice.
PlanScenario on_choice(PlanScenario scenario, const ClusterOption& choice) {
  const auto set = [&](const char* path, const std::string& value) {
    if (!value.empty()) scenario.overrides.push_back({path, value});
  };
  // A fabric is told for the chip that it is of.
  if (!choice.fabric.empty()) set("cluster.chip", choice.chip);
  set("cluster.fabric", choice.fabric);
  set("job.stack", choice.stack);
  if (choice.slices) set("cluster.slices", std::to_string(*choice.slices));
  scenario.name = choice.name;
  scenario.chips = {choice.chip};
  scenario.counts = choice.counts;
  if (!choice.price_terms.empty()) scenario.price_terms = choice.price_terms;
  scenario.precisions = choice.precisions;
  scenario.terms = choice.terms;
  scenario.only_its_stack = !choice.stack.empty();
  return scenario;
}

// One for each choice of the block, or one on the chips that are said, or on its own.
void add_scenarios(const AskedScenario& asked, const PlanWords& words, std::vector<PlanScenario>& all) {
  PlanScenario plain;
  plain.file = asked.file;
  plain.text = asked.text;
  plain.overrides = asked.overrides;
  plain.counts.assign(std::begin(kUsualCounts), std::end(kUsualCounts));
  std::vector<PlanScenario> scenarios;
  if (!words.chips)
    for (const ClusterOption& choice : asked.block.clusters) scenarios.push_back(on_choice(plain, choice));
  if (scenarios.empty()) {
    plain.chips = words.chips ? *words.chips : std::vector{cluster_words(plain.text, plain.overrides).chip};
    scenarios.push_back(std::move(plain));
  }
  for (PlanScenario& each : scenarios) {
    if (words.counts) each.counts = *words.counts;
    if (words.price_terms) each.price_terms = *words.price_terms;
    if (words.precisions) each.precisions = *words.precisions;
    all.push_back(std::move(each));
  }
}

void add_limit(const FigureLimit& said, std::vector<FigureLimit>& limits) {
  const auto limit = std::ranges::find(limits, said.key, &FigureLimit::key);
  if (limit == limits.end()) {
    limits.push_back(said);
    return;
  }
  if (said.at_most) limit->at_most = said.at_most;
  if (said.at_least) limit->at_least = said.at_least;
}

}  // namespace

PlanQuestion plan_question(const std::vector<AskedScenario>& scenarios, const PlanWords& words) {
  PlanQuestion question;
  for (const AskedScenario& asked : scenarios) add_scenarios(asked, words, question.scenarios);
  const TrainingPlan& block = scenarios.front().block;
  question.tokens = first_of(words.tokens, block.tokens).value_or(0);
  question.most_days = first_of(words.most_days, block.most_days);
  question.most_usd = first_of(words.most_usd, block.most_usd);
  if (question.most_days) question.days_probability = first_of(words.probability, block.days_probability);
  if (question.most_usd) question.usd_probability = first_of(words.probability, block.usd_probability);
  question.limits = block.limits;
  for (const FigureLimit& said : words.limits) add_limit(said, question.limits);
  question.objective = first_of(words.objective, block.objective).value_or(PlanObjective::kUsd);
  question.gap = first_of(words.gap, block.gap).value_or(kUsualPlanGap);
  return question;
}

}  // namespace podsim
