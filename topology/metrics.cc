// Distances by breadth-first search and the bisection by maximum flow, on Boost.Graph views of a fabric.
#include "topology/metrics.h"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/filtered_graph.hpp>
#include <boost/graph/push_relabel_max_flow.hpp>
#include <cmath>
#include <numeric>

#include "topology/route_parts.h"

namespace podsim {
namespace {

// Links in LinkId order, so that an edge index is a LinkId.
using LinkGraph = boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, boost::no_property,
                                                     boost::no_property, NodeId, LinkId>;

LinkGraph as_graph(const Fabric& fabric) {
  std::vector<std::pair<NodeId, NodeId>> ends;
  for (const Link& link : fabric.links) ends.emplace_back(link.from, link.to);
  return {boost::edges_are_sorted, ends.begin(), ends.end(), static_cast<NodeId>(fabric.nodes.size())};
}

// The links that routes of one source may take: ICI inside its slice (within), switches otherwise, where no
// chip relays.
struct UsableLink {
  const Fabric* fabric = nullptr;
  const LinkGraph* graph = nullptr;
  ChipId source = 0;
  bool within_slice = false;

  bool operator()(const LinkGraph::edge_descriptor& edge) const {
    const Link& link = fabric->links[get(boost::edge_index, *graph, edge)];
    const bool is_ici = link.kind == LinkKind::kIci || link.kind == LinkKind::kIciOptical;
    if (within_slice) return is_ici;
    return !is_ici && (link.from == source || link.from >= fabric->chips);
  }
};

// hops[v] from the source, 0 where not reached.
std::vector<int> search(const LinkGraph& graph, const UsableLink& usable) {
  std::vector<int> hops(num_vertices(graph), 0);
  const boost::filtered_graph<LinkGraph, UsableLink> view(graph, usable);
  auto record = boost::make_bfs_visitor(boost::record_distances(hops.data(), boost::on_tree_edge()));
  boost::breadth_first_search(view, usable.source, boost::visitor(record));
  return hops;
}

// hops[chip] from the source by the ways that are left, 0 where there are none.
std::vector<int> hops_round_damage(const Fabric& fabric, ChipId source) {
  std::vector<int> hops(fabric.chips, 0);
  const auto record = [&](const Ways& ways) {
    for (ChipId chip = 0; chip < fabric.chips; ++chip)
      if (hops[chip] == 0 && ways.lead_from(chip)) hops[chip] = ways.hops_from(chip);
  };
  if (!fabric.slices.empty()) record(Ways::in_slice(fabric, source));
  if (fabric.nodes.size() > static_cast<std::size_t>(fabric.chips)) record(Ways::anywhere(fabric, source));
  return hops;
}

// The same without failures.
std::vector<int> hops_from(const Fabric& fabric, const LinkGraph& graph, ChipId source) {
  std::vector<int> hops(num_vertices(graph), 0);
  if (!fabric.slices.empty()) hops = search(graph, {&fabric, &graph, source, true});
  if (fabric.nodes.size() == static_cast<std::size_t>(fabric.chips)) return hops;
  const std::vector<int> over_switches = search(graph, {&fabric, &graph, source, false});
  for (ChipId chip = 0; chip < fabric.chips; ++chip)
    if (hops[chip] == 0) hops[chip] = over_switches[chip];
  return hops;
}

void measure_distances(const Fabric& fabric, FabricMetrics& metrics) {
  const LinkGraph graph = as_graph(fabric);
  std::int64_t total = 0;
  metrics.connected = true;
  for (ChipId source = 0; source < fabric.chips; ++source) {
    const std::vector<int> hops =
        fabric.damaged ? hops_round_damage(fabric, source) : hops_from(fabric, graph, source);
    for (ChipId chip = 0; chip < fabric.chips; ++chip) {
      if (chip != source && hops[chip] == 0) metrics.connected = false;
      total += hops[chip];
      metrics.diameter_hops = std::max(metrics.diameter_hops, hops[chip]);
    }
  }
  if (fabric.chips > 1) metrics.mean_hops = static_cast<double>(total) / fabric.chips / (fabric.chips - 1);
}

using FlowTraits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
using FlowGraph = boost::adjacency_list<
    boost::vecS, boost::vecS, boost::directedS, boost::no_property,
    boost::property<boost::edge_capacity_t, std::int64_t,
                    boost::property<boost::edge_residual_capacity_t, std::int64_t,
                                    boost::property<boost::edge_reverse_t, FlowTraits::edge_descriptor>>>>;

void add_flow_edge(FlowGraph& graph, NodeId from, NodeId to, std::int64_t capacity) {
  const auto forward = add_edge(from, to, graph).first;
  const auto backward = add_edge(to, from, graph).first;
  put(boost::edge_capacity, graph, forward, capacity);
  put(boost::edge_capacity, graph, backward, 0);
  put(boost::edge_reverse, graph, forward, backward);
  put(boost::edge_reverse, graph, backward, forward);
}

// Most bytes per second from one half to the other, capacities in whole bytes per second.
Bandwidth flow_between_halves(const Fabric& fabric, const std::vector<bool>& in_first_half) {
  const NodeId source = static_cast<NodeId>(fabric.nodes.size()), sink = source + 1;
  FlowGraph graph(fabric.nodes.size() + 2);
  std::vector<std::int64_t> out_of_chip(fabric.chips, 0), into_chip(fabric.chips, 0);
  for (const Link& link : fabric.links) {
    const std::int64_t capacity = std::llround(link.bandwidth.value);
    add_flow_edge(graph, link.from, link.to, capacity);
    if (link.from < fabric.chips) out_of_chip[link.from] += capacity;
    if (link.to < fabric.chips) into_chip[link.to] += capacity;
  }
  for (ChipId chip = 0; chip < fabric.chips; ++chip) {
    if (in_first_half[chip])
      add_flow_edge(graph, source, chip, out_of_chip[chip]);
    else
      add_flow_edge(graph, chip, sink, into_chip[chip]);
  }
  return {static_cast<double>(boost::push_relabel_max_flow(graph, source, sink))};
}

// The halves of chips by number and, in a single slice, by coordinate in each dimension of even length.
std::vector<std::vector<bool>> ways_to_halve(const Fabric& fabric) {
  std::vector<std::vector<bool>> ways(1, std::vector<bool>(fabric.chips));
  for (ChipId chip = 0; chip < fabric.chips / 2; ++chip) ways[0][chip] = true;
  if (fabric.slices.size() != 1) return ways;
  const TorusSlice& slice = fabric.slices[0];
  for (int d = 0; d < 3; ++d) {
    if (slice.shape[d] % 2 != 0) continue;
    std::vector<bool> half(fabric.chips);
    for (ChipId chip = 0; chip < fabric.chips; ++chip)
      half[chip] = slice.coordinate(chip)[d] < slice.shape[d] / 2;
    if (half != ways[0]) ways.push_back(std::move(half));
  }
  return ways;
}

}  // namespace

FabricMetrics measure(const Fabric& fabric) {
  FabricMetrics metrics;
  measure_distances(fabric, metrics);
  if (fabric.chips < 2) return metrics;
  for (const std::vector<bool>& half : ways_to_halve(fabric)) {
    const Bandwidth flow = flow_between_halves(fabric, half);
    if (metrics.bisection == Bandwidth{} || flow < metrics.bisection) metrics.bisection = flow;
  }
  return metrics;
}

}  // namespace podsim
