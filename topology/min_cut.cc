// The fabric with a source before one set of chips and a sink behind the other.
#include "topology/min_cut.h"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/push_relabel_max_flow.hpp>
#include <vector>

#include "engine/check.h"
#include "topology/fabric_graph.h"

namespace podsim {
namespace {

using FlowTraits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
using FlowGraph = boost::adjacency_list<
    boost::vecS, boost::vecS, boost::directedS, boost::no_property,
    boost::property<boost::edge_capacity_t, std::int64_t,
                    boost::property<boost::edge_residual_capacity_t, std::int64_t,
                                    boost::property<boost::edge_reverse_t, FlowTraits::edge_descriptor>>>>;

// With the way back that the algorithm undoes flow on: of no capacity, as it demands.
void add_flow_edge(FlowGraph& graph, NodeId from, NodeId to, std::int64_t capacity) {
  const auto there = add_edge(from, to, graph).first, back = add_edge(to, from, graph).first;
  put(boost::edge_capacity, graph, there, capacity);
  put(boost::edge_capacity, graph, back, 0);
  put(boost::edge_reverse, graph, there, back);
  put(boost::edge_reverse, graph, back, there);
}

}  // namespace

Bandwidth min_cut(const Fabric& fabric, std::span<const ChipId> from, std::span<const ChipId> to) {
  if (from.empty() || to.empty()) return {};
  const NodeId source = num_vertices(fabric), sink = source + 1;
  FlowGraph graph(static_cast<std::size_t>(sink) + 1);
  const auto capacity = get(boost::edge_capacity, fabric);
  std::vector<std::int64_t> out_of(fabric.chips, 0), into(fabric.chips, 0);
  for (LinkId link = 0; link < num_edges(fabric); ++link) {
    const NodeId a = fabric.links[link].from, b = fabric.links[link].to;
    add_flow_edge(graph, a, b, get(capacity, link));
    if (a < fabric.chips) out_of[a] += get(capacity, link);
    if (b < fabric.chips) into[b] += get(capacity, link);
  }
  std::vector<bool> sends(fabric.chips, false);
  for (const ChipId chip : from) {
    sends[chip] = true;
    add_flow_edge(graph, source, chip, out_of[chip]);
  }
  for (const ChipId chip : to) {
    PODSIM_CHECK(!sends[chip], "a chip is on both sides of a cut");
    add_flow_edge(graph, chip, sink, into[chip]);
  }
  return {static_cast<double>(boost::push_relabel_max_flow(graph, source, sink))};
}

}  // namespace podsim
