// Moves all that is sent to one chip from the farthest places towards it.
#include "topology/gather_loads.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "topology/route_parts.h"

namespace podsim {
namespace {

// A unit that halves and thirds exactly for many steps; sums of it are whole numbers far below 2^53.
constexpr double kUnit = (1 << 20) * 59049.0;

// All hops from everywhere to the target, place by place in the order of their distance.
class HopTable {
 public:
  HopTable(const Fabric& fabric, const Ways& ways, ChipId to) : first_{0} {
    for (const Place place : ways.order()) {
      const std::size_t before = hops_.size();
      ways.next(place, hops_);
      if (hops_.size() - before > 1 && fabric.routing == Routing::kStatic) {
        std::vector<NextHop> choice(hops_.begin() + static_cast<std::ptrdiff_t>(before), hops_.end());
        Steering(fabric, place, to).choose(ways.node(place), choice);
        hops_.resize(before);
        hops_.push_back(choice[0]);
      }
      first_.push_back(hops_.size());
    }
  }

  std::span<const NextHop> from(std::size_t i) const {
    return {hops_.data() + first_[i], hops_.data() + first_[i + 1]};
  }

 private:
  std::vector<std::size_t> first_;  // places + 1 entries
  std::vector<NextHop> hops_;
};

}  // namespace

// Everything at one place goes on together: its way depends only on where it goes.
void GatherLoads::move_together(const Ways& ways, std::span<const ChipId> from, ChipId to, double weight) {
  const HopTable table(fabric_, ways, to);
  const std::span<const Place> order = ways.order();
  const std::size_t places = 1 + static_cast<std::size_t>(*std::ranges::max_element(order));
  std::vector<double> waiting(places, 0.0);     // units that go on from here
  std::vector<double> latency_ps(places, 0.0);  // mean, from here to the target
  for (std::size_t i = 1; i < order.size(); ++i) {
    double sum = 0;
    for (const NextHop& hop : table.from(i))
      sum += static_cast<double>(fabric_.links[hop.link].latency.ps) + latency_ps[hop.place];
    latency_ps[order[i]] = sum / static_cast<double>(table.from(i).size());
  }
  for (const ChipId chip : from) {
    waiting[chip] = kUnit;
    longest_latency_ = std::max(longest_latency_, Time{std::llround(latency_ps[chip])});
  }
  for (std::size_t i = order.size(); i-- > 1;) {
    if (waiting[order[i]] == 0) continue;
    const double share = std::round(waiting[order[i]] / static_cast<double>(table.from(i).size()));
    for (const NextHop& hop : table.from(i)) {
      waiting[hop.place] += share;
      units_[hop.link] += weight * share;
    }
  }
}

void GatherLoads::move_alone(const std::vector<RouteHop>& hops, double weight) {
  for (const RouteHop& hop : hops) units_[hop.link] += weight * std::round(hop.share * kUnit);
  longest_latency_ = std::max(longest_latency_, route_latency(fabric_, hops));
}

void GatherLoads::add(std::span<const ChipId> from, ChipId to, double weight) {
  const TorusSlice* slice = fabric_.slice_of(to);
  std::vector<ChipId> near, far;  // in the slice of the target, and not
  for (const ChipId chip : from)
    if (chip != to) (slice != nullptr && slice == fabric_.slice_of(chip) ? near : far).push_back(chip);
  const bool splits = fabric_.routing == Routing::kAdaptive;
  if (!near.empty() && (splits || fabric_.routing == Routing::kStatic))
    move_together(Ways::in_slice(fabric_, to), near, to, weight);
  else if (!near.empty() && fabric_.damaged) {
    const Ways ways = Ways::in_slice(fabric_, to);
    for (const ChipId chip : near) move_alone(route_in_slice(fabric_, *slice, chip, to, &ways), weight);
  } else {
    for (const ChipId chip : near) move_alone(route(fabric_, chip, to), weight);
  }
  const bool many_ways = fabric_.damaged || fabric_.individual_switches;
  if (!far.empty() && splits && many_ways)
    move_together(Ways::anywhere(fabric_, to), far, to, weight);
  else
    for (const ChipId chip : far) move_alone(route(fabric_, chip, to), weight);
}

double GatherLoads::units(LinkId link) const { return units_[link] / kUnit; }

}  // namespace podsim
