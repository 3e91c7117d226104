// Compares chips by their names in the catalogue.
#include "planner/plan/own_chip.h"

#include <algorithm>
#include <utility>

#include "proto/scenario/write_layout.h"

namespace podsim {
namespace {

std::string own_chip_of(const PlanScenario& scenario) {
  return scenario.own_chip.empty() ? cluster_words(scenario.text, scenario.overrides).chip
                                   : scenario.own_chip;
}

}  // namespace

ScenarioOnChip scenario_on_chip(const PlanScenario& scenario, const std::string& chip,
                                const Catalog& catalog) {
  const std::string own = own_chip_of(scenario);
  const auto name_of = [&](const std::string& name) {
    return catalog.canonical(Catalog::Section::kChips, name).value_or(name);
  };
  if (!own.empty() && name_of(own) != name_of(chip)) {
    WithoutOwnChip without = scenario_without_own_chip(scenario.text, scenario.overrides);
    if (!without.left_out.empty()) return {std::move(without.text), {}, std::move(without.left_out)};
  }
  return {scenario.text, scenario.overrides, {}};
}

std::string why_no_price(const PlanScenario& scenario, const std::vector<std::string>& terms,
                         const std::string& term) {
  const auto rented = std::ranges::count_if(terms, [](const auto& each) { return each != kOwnedTerm; });
  const std::string written = cluster_words(scenario.text, scenario.overrides).price_term;
  const std::string own = written.empty() ? kOnDemandTerm : written;
  if (rented < 2 || term == kOwnedTerm || term == own) return "";
  return "cluster.usd_per_chip_hour is the price of one contract, here of " + own +
         ": give a list that has this one (--prices), or name it alone";
}

std::vector<std::string> left_out_words(const PlanQuestion& question, const Catalog& catalog) {
  std::vector<std::string> all;
  const auto tell = [&](const std::string& words) {
    if (std::ranges::count(all, words) == 0) all.push_back(words);
  };
  for (const PlanScenario& scenario : question.scenarios)
    for (const std::string& chip : scenario.chips) {
      const ScenarioOnChip on_chip = scenario_on_chip(scenario, chip, catalog);
      for (const std::string& path : on_chip.left_out)
        tell(path + " is of " + own_chip_of(scenario) + ", and left out for " + chip);
      const bool bought = std::ranges::count(scenario.price_terms, kOwnedTerm) > 0;
      if (bought && cluster_words(on_chip.text, on_chip.overrides).own_price)
        tell("cluster.usd_per_chip_hour is of rented chips, and left out for those that are owned");
    }
  return all;
}

}  // namespace podsim
