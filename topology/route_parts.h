// The parts from which routes are assembled; used only inside this folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "engine/check.h"
#include "topology/route.h"

namespace podsim {

// A node, or a node on the way down (see Ways).
using Place = std::int32_t;

// A link that leads closer to the target, and where it leads.
struct NextHop {
  LinkId link;
  Place place;
};

// Takes one transfer through the fabric by the fabric's routing rule.
class Steering {
 public:
  Steering(const Fabric& fabric, ChipId from, ChipId to);

  // Leaves the hops, all equally short, that the transfer takes from `at`. kDimensionOrder takes the first.
  void choose(NodeId at, std::vector<NextHop>& hops);

 private:
  const Fabric& fabric_;
  ChipId from_, to_;
  std::int64_t place_ = 0;          // of the target among the ports of all leaves, under kStatic
  std::int64_t choices_below_ = 1;  // of the switches passed, under kStatic
};

struct Arrival {
  Place place;
  double share;
  friend auto operator<=>(const Arrival&, const Arrival&) = default;
};

// Sums the shares of each place. Sorting by share too makes the sum independent of the order of discovery, so
// that links that correspond under a symmetry of the fabric get the same share to the last bit.
void merge(std::vector<Arrival>& arrivals);

// Follows a transfer step by step until all of it has arrived. next_hops(place, step, hops) appends what
// leads closer to the target, nothing only there; all places of one step are equally far from it.
template <class NextHops>
std::vector<RouteHop> spread(const Fabric& fabric, ChipId from, ChipId to, NextHops&& next_hops) {
  Steering steering(fabric, from, to);
  std::vector<RouteHop> route;
  std::vector<Arrival> here = {{from, 1.0}}, next;
  std::vector<NextHop> hops;
  for (int step = 0; !here.empty(); ++step) {
    next.clear();
    for (const Arrival& arrival : here) {
      hops.clear();
      next_hops(arrival.place, step, hops);
      PODSIM_CHECK(!hops.empty() || arrival.place == to, "a transfer ends on its way");
      if (hops.size() > 1) steering.choose(fabric.links[hops[0].link].from, hops);
      const double share = arrival.share / static_cast<double>(hops.size());
      for (const NextHop& hop : hops) {
        route.push_back({hop.link, share});
        next.push_back({hop.place, share});
      }
    }
    merge(next);
    here.swap(next);
  }
  return route;
}

// The next hops from everywhere to one chip, round whatever is missing.
// - in_slice: over the ICI of one slice, on shortest paths.
// - anywhere: up-down over switches, where chips forward only when nothing else leads there: least forwarding
//   chips first, then least links, then NVLink before NICs. A switch on the way down is a place of its own,
//   node + nodes of the fabric.
// Both are found from the target backwards; with `until` the search ends once that chip is reached.
class Ways {
 public:
  static Ways in_slice(const Fabric& fabric, ChipId to, ChipId until = -1);
  static Ways anywhere(const Fabric& fabric, ChipId to, ChipId until = -1);

  bool lead_from(ChipId chip) const { return cost_[chip] < kUnreached; }
  int hops_from(ChipId chip) const;                        // REQUIRES: lead_from(chip)
  std::span<const Place> order() const { return order_; }  // all places reached, nearest first
  NodeId node(Place place) const { return place < nodes_ ? place : place - nodes_; }

  // Appends the hops from a place; none from the target.
  void next(Place place, std::vector<NextHop>& hops) const;

 private:
  struct Backwards;

  static constexpr std::int64_t kUnreached = INT64_MAX;
  static constexpr std::int64_t kNic = 1, kHop = 1 << 8, kRelay = std::int64_t{1} << 40;

  Ways(const Fabric& fabric, ChipId to, bool within_slice);
  Place landing(NodeId from, NodeId to) const;
  std::int64_t cost(const Link& link) const;
  bool may_take(Place place, const Link& link) const;
  void search_slice(ChipId until);
  void search_all(ChipId until);

  const Fabric* fabric_;
  ChipId to_;
  NodeId nodes_;
  bool within_slice_;
  std::vector<std::int64_t> cost_;  // by place
  std::vector<Place> order_;
};

// The route inside one slice; the fabric's rule, detours on a damaged fabric. `known` = the ways to the chip
// in the slice, where the caller has them. REQUIRES: some way leads there.
std::vector<RouteHop> route_in_slice(const Fabric& fabric, const TorusSlice& slice, ChipId from, ChipId to,
                                     const Ways* known = nullptr);

// x, y, z walked in turn along one shortest image of the target; nothing where a link on it is missing.
std::vector<RouteHop> walk_in_order(const Fabric& fabric, const TorusSlice& slice, ChipId from, ChipId to);

// The route over switches, of chips that share no slice or NVLink switch; also where links are missing.
std::vector<RouteHop> route_over_switches(const Fabric& fabric, ChipId from, ChipId to);

}  // namespace podsim
