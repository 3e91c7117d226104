// The block plan of a scenario: limits of a training run, and the clusters to choose from.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "proto/catalog/catalog.h"
#include "proto/text/override.h"
#include "proto/text/problem.h"
#include "scheduler/question/training_plan.h"

namespace podsim {

struct LoadPlanResult {
  std::optional<TrainingPlan> plan;  // present when there are no problems; without a block nothing is set
  std::vector<Problem> problems;
};

// As load_scenario, but of the rest of the scenario only that it can be read: what a job lacks may be what is
// chosen. Names of chips, fabrics and stacks are those of the catalogue, keys of limits are known.
LoadPlanResult load_plan(const std::string& file_name, const std::string& text, const Catalog& catalog,
                         const std::vector<Override>& overrides);

// Tokens of a step, as plan.global_batch_tokens has them; nothing where the text says none.
std::optional<std::vector<double>> batch_tokens_of(const std::string& text);

// "usd", "days", ..., "regret".
std::vector<std::string> objective_names();
// Adds the objective of the name to those that were named before it; false where there is none.
bool add_objective(const std::string& name, PlanObjectives& objectives);

// Of a job, as job.precision has them: "bf16", "fp8", ...
std::vector<std::string> precision_names();

// That a limit can have no such key, with the nearest that it can have; empty where it can.
std::string wrong_limit_key(const std::string& key);

}  // namespace podsim
