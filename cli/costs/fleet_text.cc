// Lays out when runs have their chips, and what these cost.
#include "cli/costs/fleet_text.h"

#include <utility>

#include "proto/writing/figure_json.h"
#include "proto/writing/result_json.h"
#include "report/text/align.h"
#include "report/text/text.h"

namespace podsim {
namespace {

double use_of(const Fleet& fleet, double days) { return chip_days(fleet.levels) / (fleet.chips * days); }
double usd_on_demand(const Fleet& fleet) {
  return cost_of_fleet(fleet.levels, 0, 0, fleet.on_demand_usd).usd + fleet.energy_usd;
}
// With all chips committed.
std::optional<double> usd_committed(const Fleet& fleet) {
  if (!fleet.committed_usd) return std::nullopt;
  return cost_of_fleet(fleet.levels, fleet.chips, *fleet.committed_usd, fleet.on_demand_usd).usd +
         fleet.energy_usd;
}

std::string chips_of(const FleetRun& run, const std::string& chip) {
  return std::to_string(run.chips) + " " + chip +
         (run.spare_chips > 0 ? ", " + std::to_string(run.spare_chips) + " of them spare" : "");
}

}  // namespace

std::string fleet_text(const std::map<std::string, Fleet>& fleets, double days) {
  std::vector<std::vector<std::string>> runs = {{"run", "chips", "from day", "to day", ""}};
  std::vector<std::vector<std::string>> costs = {{"fleet", "used", "on demand, M USD", "all committed, M USD",
                                                  "worth committing", "then, M USD", "committed pays from"}};
  const auto millions = [](double usd) { return significant(usd / 1e6, 4); };
  for (const auto& [chip, fleet] : fleets) {
    for (std::size_t i = 0; i < fleet.runs.size(); ++i)
      runs.push_back({fleet.runs[i].name, chips_of(fleet.runs[i], chip), fixed(fleet.slots[i].begin, 1),
                      fixed(fleet.slots[i].end, 1), fleet.slots[i].end > days ? "ends after the term" : ""});
    const std::optional<double> committed = usd_committed(fleet);
    costs.push_back({std::to_string(fleet.chips) + " " + chip, percent(use_of(fleet, days)),
                     millions(usd_on_demand(fleet)), committed ? millions(*committed) : "-",
                     std::to_string(fleet.commitment.committed_chips) + " chips",
                     millions(fleet.commitment.usd + fleet.energy_usd),
                     committed ? percent(*fleet.committed_usd / fleet.on_demand_usd) + " use" : "-"});
  }
  std::string energy;
  for (const auto& [chip, fleet] : fleets)
    if (fleet.energy_usd > 0)
      energy += "Of each of these sums of " + chip + " " + millions(fleet.energy_usd) + " are energy.\n";
  for (const auto& [chip, fleet] : fleets)
    if (fleet.carbon_t)
      energy += "What " + chip + " do comes with " + significant(*fleet.carbon_t, 4) + " t CO2e.\n";
  return significant(days, 4) + " days\n\n" + align(runs) + "\n" + align(costs) + energy;
}

std::string fleet_json(const std::map<std::string, Fleet>& fleets, double days, const std::string& sha256) {
  std::vector<Figure> list;
  for (const auto& [chip, fleet] : fleets) {
    std::vector<Figure> runs;
    for (std::size_t i = 0; i < fleet.runs.size(); ++i)
      runs.push_back(Figure::group("", {{"name", fleet.runs[i].name},
                                        {"chips", fleet.runs[i].chips},
                                        {"spare_chips", fleet.runs[i].spare_chips},
                                        {"begin_day", fleet.slots[i].begin},
                                        {"end_day", fleet.slots[i].end}}));
    std::vector<Figure> parts = {{"chip", chip},
                                 {"chips", fleet.chips},
                                 {"used", use_of(fleet, days)},
                                 {"on_demand_usd_per_chip_hour", fleet.on_demand_usd},
                                 {"committed_usd_per_chip_hour", known(fleet.committed_usd)},
                                 {"on_demand_usd", usd_on_demand(fleet)},
                                 {"committed_usd", known(usd_committed(fleet))},
                                 {"best_committed_chips", fleet.commitment.committed_chips},
                                 {"best_usd", fleet.commitment.usd + fleet.energy_usd},
                                 {"energy_usd", fleet.energy_usd}};
    if (fleet.carbon_t) parts.emplace_back("carbon_t", *fleet.carbon_t);
    parts.push_back(Figure::list("runs", std::move(runs)));
    list.push_back(Figure::group("", std::move(parts)));
  }
  return json_text(result_figure(sha256, {{"days", days}, Figure::list("fleets", std::move(list))}),
                   JsonNumbers::kWithPoint);
}

}  // namespace podsim
