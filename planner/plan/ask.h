// The question of a plan: the blocks of its scenarios, and what is said in their place.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "planner/plan/plan.h"
#include "scheduler/question/plan_limits.h"
#include "scheduler/question/training_plan.h"

namespace podsim {

// A scenario, and its block plan.
struct AskedScenario {
  std::string file, text;
  std::vector<Override> overrides;
  TrainingPlan block;
};

// What is missing is the block's, and where that does not say it, usual: no limits, USD are least, the
// contract of the scenario's cluster or on_demand, 256 to 2,048 of the scenario's chips in doublings.
struct PlanWords {
  std::optional<double> tokens, most_days, most_usd, probability;
  PlanObjectives objectives;  // in place of the block's
  std::optional<double> gap, search_seconds;
  std::optional<int> most_rows, draws;
  std::vector<double> batch_tokens;
  std::vector<VariedNumber> vary;                 // in place of the block's on the same field and chip
  std::vector<FigureLimit> limits;                // each bound in place of the block's on the same figure
  std::optional<std::vector<std::string>> chips;  // in place of all choices
  std::optional<std::vector<int>> counts;         // of each choice, here and below
  std::optional<std::vector<std::string>> price_terms, precisions;
};

// The first word that says what cannot be (plan_limits.h), by the name of its member, and what was expected.
struct WrongWord {
  std::string member, message;
};
std::optional<WrongWord> wrong_word(const PlanWords& words, const Catalog& catalog);

// Clusters of all scenarios' blocks; the rest by the first one's. Tokens are 0 where nobody says them.
// REQUIRES: there is a scenario.
PlanQuestion plan_question(const std::vector<AskedScenario>& scenarios, const PlanWords& words);

}  // namespace podsim
