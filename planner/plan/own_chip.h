// What a scenario of a plan says of its own chip and its own contract, and of no other.
#pragma once

#include <string>
#include <vector>

#include "planner/plan/plan.h"

namespace podsim {

// The scenario for clusters of that chip. Of another than its own it keeps nothing that is of its own alone.
struct ScenarioOnChip {
  std::string text;
  std::vector<Override> overrides;
  std::vector<std::string> left_out;  // paths of fields
};
ScenarioOnChip scenario_on_chip(const PlanScenario& scenario, const std::string& chip,
                                const Catalog& catalog);

// Why a price of the scenario's own is none of chips under that contract, or empty: of several contracts of
// rented chips it is of the one that the cluster names.
std::string why_no_price(const PlanScenario& scenario, const std::vector<std::string>& terms,
                         const std::string& term);

// What is left out of rows, each once: "cluster.usd_per_chip_hour is of h100, and left out for b200".
std::vector<std::string> left_out_words(const PlanQuestion& question, const Catalog& catalog);

}  // namespace podsim
