// A row of a plan: a layout found on a cluster, with a price on it.
#pragma once

#include <optional>
#include <string>

#include "planner/plan/plan.h"

namespace podsim {

// What a row is made of.
struct RowParts {
  const PlanQuestion& question;
  std::size_t of_scenario = 0;  // of the question
  std::string name;             // of its cluster
  std::string torus;            // as a row has it
  std::string text;             // the scenario on that cluster, with any layout
  const Spec& spec;             // of it
  bool weeks = false;           // it has a block reliability
  int failures = 0;             // rates that the block lists
  bool step_error = true;       // the step of its runs may be off
};

// What is known of getting a chip of this kind.
ChipTerms terms_of(const PlanQuestion& question, const PlanScenario& scenario, const std::string& chip,
                   const Catalog& catalog);

// Under that contract. Nothing, and why, where there is no such row.
std::optional<PlanRow> make_row(const RowParts& parts, const FoundLayout& layout, const std::string& term,
                                const Catalog& catalog, const PlanOptions& options, std::string& why);

// At both ends and in the middle of each number that varies: for PlanRow::facts. False, and why, where the
// scenario cannot have one of them.
bool set_varied(const RowParts& parts, const Catalog& catalog, const PlanOptions& options, PlanRow& row,
                std::string& why);

}  // namespace podsim
