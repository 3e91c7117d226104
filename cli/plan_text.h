// The answer of podsim plan as tables and words.
#pragma once

#include <string>

#include "planner/plan/equal.h"
#include "planner/plan/plan.h"

namespace podsim {

std::string plan_table(const PlanQuestion& question, const PlanAnswer& answer);
// The assumptions that move the first row, and where another takes its place; may be empty.
std::string swings_text(const PlanQuestion& question, const PlanAnswer& answer);
std::string equal_table(const PlanQuestion& question, EqualMeasure measure, const PlanAnswer& answer);
std::string plan_csv(const PlanQuestion& question, const PlanAnswer& answer);
std::string plan_json(const PlanQuestion& question, const PlanAnswer& answer);

// A line for each choice without a row.
std::string refusals_text(const PlanAnswer& answer);

}  // namespace podsim
