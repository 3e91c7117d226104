// What links carry when many chips send to one, found for all of them at once.
#pragma once

#include <span>
#include <vector>

#include "topology/route.h"

namespace podsim {

class Ways;

// Sums the routes of many transfers without naming them: everything that is on its way to one chip is alike,
// so all of it moves together over the shortest paths. Equal to the sum of route() over the transfers; linear
// in links per destination where the routing does not look at the source (kAdaptive, and kStatic in tori),
// otherwise in transfers.
// INVARIANT: sums do not depend on the order of transfers (up to a million units on a link), so links that
// correspond under a symmetry get equal loads to the last bit. Shares are whole multiples of 1 / 2^20 3^10.
class GatherLoads {
 public:
  explicit GatherLoads(const Fabric& fabric) : fabric_(fabric), units_(fabric.links.size(), 0.0) {}

  // Each of `from`, but `to` itself, sends a unit to `to`, times `weight`.
  void add(std::span<const ChipId> from, ChipId to, double weight = 1);

  // By link.
  double units(LinkId link) const;
  // The longest latency of a route so far.
  Time longest_latency() const { return longest_latency_; }

 private:
  void move_together(const Ways& ways, std::span<const ChipId> from, ChipId to, double weight);
  void move_alone(const std::vector<RouteHop>& hops, double weight);

  const Fabric& fabric_;
  std::vector<double> units_;
  Time longest_latency_;
};

}  // namespace podsim
