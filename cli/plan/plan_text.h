// The answer of podsim plan as tables and words.
#pragma once

#include <string>
#include <vector>

#include "planner/plan/equal.h"
#include "planner/plan/plan.h"

namespace podsim {

std::string plan_table(const PlanQuestion& question, const PlanAnswer& answer);
// The assumptions that move the first row, and where another takes its place; may be empty.
std::string swings_text(const PlanQuestion& question, const PlanAnswer& answer);
std::string equal_table(const PlanQuestion& question, EqualMeasure measure, const PlanAnswer& answer);
// An answer by one measure, of the scenarios of one model.
struct EqualPart {
  std::string model, measure;  // "throughput"
  PlanQuestion question;
  PlanAnswer answer;
};
// All parts in one table: what each choice takes, who is likely cheaper, and the prices at which they tie.
std::string equal_parts_table(const std::vector<EqualPart>& parts);
std::string equal_parts_json(const std::vector<EqualPart>& parts);
std::string equal_parts_csv(const std::vector<EqualPart>& parts);

std::string plan_csv(const PlanQuestion& question, const PlanAnswer& answer);
// `asked` says what is asked of the question's clusters.
std::string plan_json(const PlanQuestion& question, const PlanAnswer& answer,
                      const std::string& asked = "plan");

// A line for each choice without a row.
std::string refusals_text(const PlanAnswer& answer);

}  // namespace podsim
