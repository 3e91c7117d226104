// Routes of flows on a graph.
#include "topology/flow_case.h"

#include <algorithm>
#include <numeric>

namespace podsim {
namespace {

// The edges of a graph by one of their ends: those of node v are of[first[v]] .. of[first[v + 1] - 1], in the
// order of their numbers.
struct Incidence {
  std::vector<std::int32_t> first, of;

  Incidence(const FlowCase& flows, std::int32_t FlowEdge::*end) : first(flows.nodes + 1, 0) {
    for (const FlowEdge& edge : flows.edges)
      if (edge.bytes_per_s > 0) ++first[edge.*end + 1];
    std::partial_sum(first.begin(), first.end(), first.begin());
    of.resize(first.back());
    std::vector<std::int32_t> next(first.begin(), first.end() - 1);
    for (std::size_t e = 0; e < flows.edges.size(); ++e)
      if (flows.edges[e].bytes_per_s > 0) of[next[flows.edges[e].*end]++] = static_cast<std::int32_t>(e);
  }
  std::span<const std::int32_t> at(std::int32_t node) const {
    return {of.data() + first[node], of.data() + first[node + 1]};
  }
};

// Routes towards one destination at a time.
class EcmpRouter {
 public:
  explicit EcmpRouter(FlowCase& flows)
      : flows_(flows),
        out_(flows, &FlowEdge::from),
        in_(flows, &FlowEdge::to),
        hops_(flows.nodes),
        share_(flows.nodes, 0),
        route_(flows.nodes) {}

  void aim_at(std::int32_t destination) {
    std::fill(hops_.begin(), hops_.end(), kFar);
    std::fill(route_.begin(), route_.end(), ListPart{0, kNone});
    destination_ = destination;
    hops_[destination] = 0;
    frontier_ = {destination};
    for (std::size_t i = 0; i < frontier_.size(); ++i) {
      const std::int32_t node = frontier_[i];
      for (const std::int32_t e : in_.at(node)) {
        const std::int32_t from = flows_.edges[e].from;
        if (hops_[from] != kFar) continue;
        hops_[from] = hops_[node] + 1;
        frontier_.push_back(from);
      }
    }
  }

  bool reaches(std::int32_t source) const { return hops_[source] != kFar; }

  // REQUIRES: reaches(source).
  ListPart from(std::int32_t source) {
    ListPart& route = route_[source];
    if (route.count == kNone) route = spread(source);
    return route;
  }

 private:
  static constexpr std::int32_t kFar = INT32_MAX, kNone = -1;

  // A node comes into the frontier after all that send to it, for these are one hop farther.
  ListPart spread(std::int32_t source) {
    const auto first = static_cast<std::int32_t>(flows_.uses.size());
    frontier_ = {source};
    share_[source] = 1;
    for (std::size_t i = 0; i < frontier_.size(); ++i) {
      const std::int32_t node = frontier_[i];
      const auto closer = [&](std::int32_t e) { return hops_[flows_.edges[e].to] == hops_[node] - 1; };
      const auto out = out_.at(node);
      const auto ways = std::count_if(out.begin(), out.end(), closer);
      const double share = share_[node] / static_cast<double>(ways);
      share_[node] = 0;
      for (const std::int32_t e : out) {
        if (!closer(e)) continue;
        flows_.uses.push_back({e, fixed_usage(share)});
        const std::int32_t to = flows_.edges[e].to;
        if (share_[to] == 0 && to != destination_) frontier_.push_back(to);
        share_[to] += share;
      }
    }
    share_[destination_] = 0;
    return {first, static_cast<std::int32_t>(flows_.uses.size()) - first};
  }

  FlowCase& flows_;
  Incidence out_, in_;
  std::int32_t destination_ = kNone;
  std::vector<std::int32_t> hops_;      // [node] to the destination
  std::vector<double> share_;           // [node] of the flow's bytes that reach it
  std::vector<ListPart> route_;         // [source]
  std::vector<std::int32_t> frontier_;  // nodes in the order in which they are reached
};

// Numbers of the flows without a route, by destination and source.
std::vector<std::int32_t> flows_to_route(const FlowCase& flows) {
  std::vector<std::int32_t> wanted;
  for (std::size_t f = 0; f < flows.flows.size(); ++f) {
    const Flow& flow = flows.flows[f];
    if (flow.uses.count == 0 && flow.source != flow.destination)
      wanted.push_back(static_cast<std::int32_t>(f));
  }
  std::sort(wanted.begin(), wanted.end(), [&](std::int32_t a, std::int32_t b) {
    const Flow &x = flows.flows[a], &y = flows.flows[b];
    if (x.destination != y.destination) return x.destination < y.destination;
    return x.source != y.source ? x.source < y.source : a < b;
  });
  return wanted;
}

}  // namespace

ListPart add_route(FlowCase& flows, std::span<const std::vector<std::int32_t>> paths) {
  std::vector<std::int32_t> edges;
  for (const auto& path : paths) edges.insert(edges.end(), path.begin(), path.end());
  std::sort(edges.begin(), edges.end());
  const auto first = static_cast<std::int32_t>(flows.uses.size());
  for (std::size_t i = 0; i < edges.size();) {
    const auto end = std::upper_bound(edges.begin() + static_cast<std::ptrdiff_t>(i), edges.end(), edges[i]);
    const auto times = end - edges.begin() - static_cast<std::ptrdiff_t>(i);
    flows.uses.push_back(
        {edges[i], fixed_usage(static_cast<double>(times) / static_cast<double>(paths.size()))});
    i += static_cast<std::size_t>(times);
  }
  return {first, static_cast<std::int32_t>(flows.uses.size()) - first};
}

void add_all_to_all(FlowCase& flows, double bytes) {
  for (std::int32_t source = 0; source < flows.nodes; ++source) {
    for (std::int32_t destination = 0; destination < flows.nodes; ++destination) {
      if (source != destination) flows.flows.push_back({source, destination, bytes, 0, 1, {}, {}});
    }
  }
}

Routed route_minimal_ecmp(FlowCase& flows, std::int32_t most_uses) {
  Routed routed;
  EcmpRouter router(flows);
  std::int32_t aim = -1;
  const std::vector<std::int32_t> wanted = flows_to_route(flows);
  const std::size_t before = flows.uses.size();
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const std::int32_t f = wanted[i];
    Flow& flow = flows.flows[f];
    if (flow.destination != aim) {
      // About as many uses for each flow as so far: growing step by step would copy them all several times.
      if (i > 0 && flows.uses.capacity() < wanted.size())
        flows.uses.reserve(before +
                           std::min<std::size_t>(static_cast<std::size_t>(most_uses),
                                                 ((flows.uses.size() - before) / i + 1) * wanted.size()));
      aim = flow.destination;
      router.aim_at(aim);
    }
    if (!router.reaches(flow.source)) {
      routed.unreachable.push_back(f);
      continue;
    }
    flow.uses = router.from(flow.source);
    if (flows.uses.size() > static_cast<std::size_t>(most_uses)) {
      routed.too_long = true;
      break;
    }
  }
  std::sort(routed.unreachable.begin(), routed.unreachable.end());
  return routed;
}

}  // namespace podsim
