// What podsim plan is asked, as it is typed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/options/options.h"
#include "cli/plan/chip_terms.h"
#include "planner/plan/plan.h"

namespace podsim {

// As the help of podsim plan says; what is missing is that of the scenario's block plan, or usual.
struct PlanOptionWords {
  std::vector<std::string> files;
  std::optional<double> tokens, days, budget, probability, site_kw;
  std::optional<std::string> chip, counts, precision, price_term, objective, gap, batch_tokens;
  std::vector<std::string> vary;  // "cluster.usd_per_chip_hour=1.5..4"
  std::optional<double> search_seconds;
  std::optional<int> top, draws;
  std::string at_most, at_least;  // "power_kw=4000,carbon_t=1500", or empty
  ChipTermOptions terms;
  LoadOptions load;
};

// Numbers of chips whose layouts are searched, "64..4096x2"; nothing where the text is wrong, which is told.
std::optional<std::vector<int>> chip_counts(const std::string& text);

// Nothing where the words or a block are wrong, which is then told.
std::optional<PlanQuestion> read_plan_question(const PlanOptionWords& words, const Catalog& catalog);

}  // namespace podsim
