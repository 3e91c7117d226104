// First come, first served; costs of a profile of chips at work.
#include "economics/portfolio.h"

#include <algorithm>
#include <set>

#include "engine/unit_factors.h"

namespace podsim {
namespace {

// The most chips at work at once between two times.
int busiest(const std::vector<FleetRun>& runs, const std::vector<FleetSlot>& slots, double from, double to) {
  const auto at = [&](double time) {
    int chips = 0;
    for (std::size_t i = 0; i < slots.size(); ++i)
      if (slots[i].begin <= time && time < slots[i].end) chips += runs[i].chips;
    return chips;
  };
  int most = at(from);
  for (const FleetSlot& slot : slots)
    if (from < slot.begin && slot.begin < to) most = std::max(most, at(slot.begin));
  return most;
}

}  // namespace

std::vector<FleetSlot> place_runs(const std::vector<FleetRun>& runs, int fleet_chips) {
  std::vector<FleetSlot> slots;
  double earliest = 0;
  for (const FleetRun& run : runs) {
    std::set<double> starts = {earliest};  // chips come free when runs end
    for (const FleetSlot& slot : slots)
      if (slot.end > earliest) starts.insert(slot.end);
    for (const double start : starts)
      if (busiest(runs, slots, start, start + run.days) + run.chips <= fleet_chips) {
        slots.push_back({start, start + run.days});
        earliest = start;
        break;
      }
  }
  return slots;
}

std::vector<FleetLevel> levels_of(const std::vector<FleetRun>& runs, const std::vector<FleetSlot>& slots,
                                  double days) {
  std::set<double> changes = {0, days};
  for (const FleetSlot& slot : slots)
    for (const double at : {slot.begin, slot.end})
      if (at < days) changes.insert(at);
  std::vector<FleetLevel> levels;
  for (auto from = changes.begin(); std::next(from) != changes.end(); ++from)
    levels.push_back({*std::next(from) - *from, busiest(runs, slots, *from, *from)});
  return levels;
}

FleetCost cost_of_fleet(const std::vector<FleetLevel>& levels, int committed_chips, double committed_usd,
                        double on_demand_usd) {
  FleetCost cost{committed_chips, 0};
  for (const FleetLevel& level : levels)
    cost.usd +=
        level.days * kHoursPerDay *
        (committed_chips * committed_usd + std::max(0, level.chips - committed_chips) * on_demand_usd);
  return cost;
}

FleetCost cheapest_commitment(const std::vector<FleetLevel>& levels, std::optional<double> committed_usd,
                              double on_demand_usd) {
  FleetCost best = cost_of_fleet(levels, 0, 0, on_demand_usd);
  if (!committed_usd) return best;
  for (const FleetLevel& level : levels) {  // the cost bends only where a level begins
    const FleetCost cost = cost_of_fleet(levels, level.chips, *committed_usd, on_demand_usd);
    if (cost.usd < best.usd || (cost.usd == best.usd && cost.committed_chips < best.committed_chips))
      best = cost;
  }
  return best;
}

double kwh_of_fleet(const std::vector<FleetRun>& runs, const std::vector<FleetSlot>& slots, double days) {
  double kwh = 0;
  for (std::size_t i = 0; i < runs.size(); ++i)
    if (runs[i].days > 0) kwh += runs[i].kwh * std::clamp((days - slots[i].begin) / runs[i].days, 0.0, 1.0);
  return kwh;
}

double chip_days(const std::vector<FleetLevel>& levels) {
  double sum = 0;
  for (const FleetLevel& level : levels) sum += level.days * level.chips;
  return sum;
}

}  // namespace podsim
