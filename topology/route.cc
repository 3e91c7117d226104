// Minimal routes: equal splitting inside a torus slice, up-down elsewhere.
#include "topology/route.h"

#include <algorithm>
#include <array>
#include <climits>
#include <cmath>
#include <cstdlib>

#include "engine/check.h"

namespace podsim {
namespace {

using Vector = std::array<int, 3>;  // coordinates, or a displacement in chips

int line_hops(int displacement, int length, bool wrap) {
  int straight = std::abs(displacement);
  if (straight >= length) straight %= length;  // a division only where a twist has shifted it so far
  return wrap ? std::min(straight, length - straight) : straight;
}

// Hops from any chip of a slice to one target.
class HopsTo {
 public:
  HopsTo(const TorusSlice& slice, const Vector& target) : slice_(slice), target_(target) {
    for (int d = 0; d < 3; ++d)
      twisted_[d] = std::ranges::any_of(slice.twist[d], [](int shift) { return shift != 0; });
  }

  // Going round a twisted dimension of length n twice shifts nothing, so only the parity of the rounds
  // matters. The straight displacement is less than n, so -1, 0 and 1 rounds contain the shortest image of
  // either parity.
  int from(const Vector& at) const {
    const Vector displacement = {target_[0] - at[0], target_[1] - at[1], target_[2] - at[2]};
    int hops = INT_MAX;
    for (int x = -twisted_[0]; x <= twisted_[0]; ++x)
      for (int y = -twisted_[1]; y <= twisted_[1]; ++y)
        for (int z = -twisted_[2]; z <= twisted_[2]; ++z)
          hops = std::min(hops, image_hops(displacement, {x, y, z}));
    return hops;
  }

 private:
  // With rounds[d] passages of the wrap of each twisted dimension, and the better way round in the others.
  int image_hops(Vector image, const Vector& rounds) const {
    for (int d = 0; d < 3; ++d) {
      if (rounds[d] == 0) continue;
      image[d] += rounds[d] * slice_.shape[d];
      for (int e = 0; e < 3; ++e) image[e] -= rounds[d] * slice_.twist[d][e];
    }
    int hops = 0;
    for (int d = 0; d < 3; ++d)
      hops += twisted_[d] ? std::abs(image[d]) : line_hops(image[d], slice_.shape[d], slice_.wrap[d]);
    return hops;
  }

  const TorusSlice& slice_;
  Vector target_;
  Vector twisted_ = {};  // 1 where the wrap of the dimension shifts others, else 0
};

struct Arrival {
  ChipId chip;
  double share;
  friend auto operator<=>(const Arrival&, const Arrival&) = default;
};

// Sums the shares of each chip. Sorting by share too makes the sum independent of the order of discovery, so
// that links that correspond under a symmetry of the torus get the same share to the last bit.
void merge(std::vector<Arrival>& arrivals) {
  std::ranges::sort(arrivals);
  std::size_t kept = 0;
  for (const Arrival& arrival : arrivals) {
    if (kept > 0 && arrivals[kept - 1].chip == arrival.chip)
      arrivals[kept - 1].share += arrival.share;
    else
      arrivals[kept++] = arrival;
  }
  arrivals.resize(kept);
}

std::vector<RouteHop> route_in_slice(const Fabric& fabric, const TorusSlice& slice, ChipId from, ChipId to) {
  const HopsTo hops_to_target(slice, slice.coordinate(to));
  std::vector<RouteHop> hops;
  std::vector<Arrival> here = {{from, 1.0}}, next;
  std::vector<LinkId> closer;
  for (int left = hops_to_target.from(slice.coordinate(from)); left > 0; --left) {
    next.clear();
    for (const Arrival& arrival : here) {
      closer.clear();
      for (LinkId link = fabric.out_first[arrival.chip]; link < fabric.out_first[arrival.chip + 1]; ++link) {
        const NodeId end = fabric.links[link].to;
        if (end < fabric.chips && hops_to_target.from(slice.coordinate(end)) == left - 1)
          closer.push_back(link);
      }
      const double share = arrival.share / static_cast<double>(closer.size());
      for (const LinkId link : closer) {
        hops.push_back({link, share});
        next.push_back({fabric.links[link].to, share});
      }
    }
    merge(next);
    here.swap(next);
  }
  return hops;
}

LinkId link_up(const Fabric& fabric, NodeId node) {
  const LinkId last = fabric.out_first[node + 1] - 1;
  const bool climbs =
      last >= fabric.out_first[node] && fabric.nodes[fabric.links[last].to].tier > fabric.nodes[node].tier;
  PODSIM_CHECK(climbs, "no way up from " + node_name(fabric, node));
  return last;
}

std::vector<RouteHop> route_over(const Fabric& fabric, ChipId from, ChipId to, NodeId nvswitch) {
  return {{fabric.link_between(from, nvswitch), 1.0}, {fabric.link_between(nvswitch, to), 1.0}};
}

std::vector<RouteHop> route_up_down(const Fabric& fabric, ChipId from, ChipId to) {
  std::vector<RouteHop> up, down;
  for (NodeId a = from, b = to; a != b;) {
    up.push_back({link_up(fabric, a), 1.0});
    const NodeId above_b = fabric.links[link_up(fabric, b)].to;
    down.push_back({fabric.link_between(above_b, b), 1.0});
    a = fabric.links[up.back().link].to;
    b = above_b;
  }
  up.insert(up.end(), down.rbegin(), down.rend());
  return up;
}

}  // namespace

std::vector<RouteHop> route(const Fabric& fabric, ChipId from, ChipId to) {
  if (from == to) return {};
  const TorusSlice* slice = fabric.slice_of(from);
  if (slice != nullptr && slice == fabric.slice_of(to)) return route_in_slice(fabric, *slice, from, to);
  const int domain = fabric.gpus_per_domain;
  if (domain > 1 && from / domain == to / domain)
    return route_over(fabric, from, to, fabric.chips + from / domain);
  return route_up_down(fabric, from, to);
}

Time route_latency(const Fabric& fabric, const std::vector<RouteHop>& hops) {
  double ps = 0;
  for (const RouteHop& hop : hops) ps += hop.share * static_cast<double>(fabric.links[hop.link].latency.ps);
  return {std::llround(ps)};
}

}  // namespace podsim
