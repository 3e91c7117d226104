// Sums what transfers put on links, in any unit, into the loads of a phase.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "collectives/collective.h"
#include "collectives/link_counts.h"
#include "topology/alike_slices.h"
#include "topology/route.h"

namespace podsim {

// Whether flows that meet on a link may cost each other some of its bandwidth (Transport::collided_share).
// Where they are spread over all paths they do not.
inline bool flows_collide(const Fabric& fabric) {
  return !fabric.transport.is_ideal() && fabric.routing != Routing::kAdaptive;
}

// INVARIANT: the sum on a link depends on the set of contributions and not on their order (as long as fewer
// than a million are pending), so links that correspond under a symmetry of the group get loads equal to the
// last bit.
class LoadSum {
 public:
  // With `slices` the loads of all of them are added up as loads of the first one.
  explicit LoadSum(const AlikeSlices* slices = nullptr) : slices_(slices) {}

  void add(LinkId link, double units) {
    pending_.push_back({slices_ == nullptr ? link : slices_->in_first(link), units});
  }

  // `units` over the whole route; each link takes its share. Where paths are chosen per flow and the
  // transport of the fabric is not ideal, a link on which flows of several sources and destinations meet is
  // busy for longer than their bytes alone would make it (Transport::collided_share). Returns the latency of
  // the route.
  Time add(const Fabric& fabric, const std::vector<RouteHop>& hops, double units);

  // The same over the route between two chips, which is not listed where the fabric is told by rule.
  Time add(const Fabric& fabric, ChipId from, ChipId to, double units);

  // The longest latency of the routes added since the sum was empty.
  Time longest_latency() const { return longest_latency_; }

  // Sorted by link, without zeros. Leaves the sum empty.
  std::vector<LinkLoad> loads(Bytes per_unit);

 private:
  struct FlowOnLink {
    LinkId link;
    NodeId source, destination;
    friend auto operator<=>(const FlowOnLink&, const FlowOnLink&) = default;
  };

  void begin_counting(std::size_t links);
  bool count_pending();
  void stop_counting();
  void merge();
  void slow_down_collisions();

  const AlikeSlices* slices_;
  std::vector<LinkLoad> pending_;  // `bytes` in units
  std::size_t merge_at_ = std::size_t{1} << 20;
  // Of many contributions, in place of those that are pending; the same sums to the last bit.
  std::unique_ptr<LinkCounts> counts_;
  bool countable_ = true;  // no more amounts than can be counted
  Time longest_latency_;
  Transport transport_;
  std::vector<FlowOnLink> flows_;  // on one path each; empty when the transport is ideal
};

}  // namespace podsim
