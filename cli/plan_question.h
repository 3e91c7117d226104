// What podsim plan is asked: the scenario's block plan, and what the command line says in its place.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/chip_terms.h"
#include "cli/options.h"
#include "planner/plan/plan.h"

namespace podsim {

// As the help of podsim plan says; what is missing is the block's, or usual.
struct PlanWords {
  static constexpr const char *kCounts = "256..2048x2", *kPriceTerm = "on_demand", *kObjective = "usd",
                              *kGap = "1%";

  std::vector<std::string> files;
  std::optional<double> tokens, days, budget, probability, site_kw;
  std::optional<std::string> chip, counts, precision, price_term, objective, gap;
  std::string at_most, at_least;  // "power_kw=4000,carbon_t=1500", or empty
  ChipTermOptions terms;
  LoadOptions load;
};

// Nothing where the words or a block are wrong, which is then told.
std::optional<PlanQuestion> plan_question(const PlanWords& words, const Catalog& catalog);

}  // namespace podsim
