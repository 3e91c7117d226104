// A fabric as a graph of the Boost Graph Library, without a copy: vertices are NodeIds, edges LinkIds.
// Only sources include this, since it brings Boost along.
// - Models VertexListGraph, EdgeListGraph, BidirectionalGraph and AdjacencyGraph; every link has its reverse.
// - Property maps: vertex_index, edge_index, edge_reverse, edge_capacity (bytes per second, whole) and
//   edge_weight (latency, ps).
#pragma once

#include <boost/graph/adjacency_iterator.hpp>
#include <boost/graph/graph_traits.hpp>
#include <boost/graph/properties.hpp>
#include <boost/iterator/counting_iterator.hpp>
#include <boost/iterator/transform_iterator.hpp>
#include <boost/property_map/function_property_map.hpp>
#include <boost/property_map/property_map.hpp>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "topology/fabric.h"

namespace podsim {

// Property maps of the links of a fabric, as functions of a link.
struct ReverseOf {
  const Fabric* fabric;
  LinkId operator()(LinkId link) const {
    return fabric->link_between(fabric->links[link].to, fabric->links[link].from);
  }
};
struct CapacityOf {
  const Fabric* fabric;
  std::int64_t operator()(LinkId link) const { return std::llround(fabric->links[link].bandwidth.value); }
};
struct LatencyOf {
  const Fabric* fabric;
  std::int64_t operator()(LinkId link) const { return fabric->links[link].latency.ps; }
};

template <class Function>
using LinkMap = boost::function_property_map<Function, LinkId, std::invoke_result_t<Function, LinkId>>;

}  // namespace podsim

namespace boost {

template <>
struct graph_traits<podsim::Fabric> {
  struct traversal_category : virtual bidirectional_graph_tag,
                              virtual adjacency_graph_tag,
                              virtual vertex_list_graph_tag,
                              virtual edge_list_graph_tag {};
  using directed_category = bidirectional_tag;
  using edge_parallel_category = disallow_parallel_edge_tag;
  using vertex_descriptor = podsim::NodeId;
  using edge_descriptor = podsim::LinkId;
  using vertex_iterator = counting_iterator<podsim::NodeId>;
  using edge_iterator = counting_iterator<podsim::LinkId>;
  using out_edge_iterator = edge_iterator;
  using in_edge_iterator = transform_iterator<podsim::ReverseOf, edge_iterator>;
  using adjacency_iterator =
      adjacency_iterator_generator<podsim::Fabric, vertex_descriptor, out_edge_iterator>::type;
  using vertices_size_type = std::int32_t;
  using edges_size_type = std::int32_t;
  using degree_size_type = std::int32_t;
  static vertex_descriptor null_vertex() { return -1; }
};

template <>
struct property_map<podsim::Fabric, vertex_index_t> {
  using type = typed_identity_property_map<podsim::NodeId>;
  using const_type = type;
};
template <>
struct property_map<podsim::Fabric, edge_index_t> {
  using type = typed_identity_property_map<podsim::LinkId>;
  using const_type = type;
};
template <>
struct property_map<podsim::Fabric, edge_reverse_t> {
  using type = podsim::LinkMap<podsim::ReverseOf>;
  using const_type = type;
};
template <>
struct property_map<podsim::Fabric, edge_capacity_t> {
  using type = podsim::LinkMap<podsim::CapacityOf>;
  using const_type = type;
};
template <>
struct property_map<podsim::Fabric, edge_weight_t> {
  using type = podsim::LinkMap<podsim::LatencyOf>;
  using const_type = type;
};

}  // namespace boost

namespace podsim {

using FabricTraits = boost::graph_traits<Fabric>;

inline NodeId source(LinkId link, const Fabric& fabric) { return fabric.links[link].from; }
inline NodeId target(LinkId link, const Fabric& fabric) { return fabric.links[link].to; }

inline std::int32_t num_vertices(const Fabric& fabric) {
  return static_cast<std::int32_t>(fabric.nodes.size());
}
inline std::int32_t num_edges(const Fabric& fabric) { return static_cast<std::int32_t>(fabric.links.size()); }

inline std::pair<FabricTraits::vertex_iterator, FabricTraits::vertex_iterator> vertices(
    const Fabric& fabric) {
  using Vertices = FabricTraits::vertex_iterator;
  return {Vertices(0), Vertices(num_vertices(fabric))};
}
inline std::pair<FabricTraits::edge_iterator, FabricTraits::edge_iterator> edges(const Fabric& fabric) {
  using Edges = FabricTraits::edge_iterator;
  return {Edges(0), Edges(num_edges(fabric))};
}

inline std::pair<FabricTraits::out_edge_iterator, FabricTraits::out_edge_iterator> out_edges(
    NodeId node, const Fabric& fabric) {
  using Edges = FabricTraits::out_edge_iterator;
  return {Edges(fabric.out_first[node]), Edges(fabric.out_first[node + 1])};
}
inline std::int32_t out_degree(NodeId node, const Fabric& fabric) {
  return fabric.out_first[node + 1] - fabric.out_first[node];
}
inline std::pair<FabricTraits::in_edge_iterator, FabricTraits::in_edge_iterator> in_edges(
    NodeId node, const Fabric& fabric) {
  using Edges = FabricTraits::in_edge_iterator;
  const auto [first, end] = out_edges(node, fabric);
  return {Edges(first, ReverseOf{&fabric}), Edges(end, ReverseOf{&fabric})};
}
inline std::int32_t in_degree(NodeId node, const Fabric& fabric) { return out_degree(node, fabric); }
inline std::int32_t degree(NodeId node, const Fabric& fabric) { return 2 * out_degree(node, fabric); }
inline std::pair<FabricTraits::adjacency_iterator, FabricTraits::adjacency_iterator> adjacent_vertices(
    NodeId node, const Fabric& fabric) {
  using Neighbours = FabricTraits::adjacency_iterator;
  const auto [first, end] = out_edges(node, fabric);
  return {Neighbours(first, &fabric), Neighbours(end, &fabric)};
}

inline boost::typed_identity_property_map<NodeId> get(boost::vertex_index_t, const Fabric&) { return {}; }
inline boost::typed_identity_property_map<LinkId> get(boost::edge_index_t, const Fabric&) { return {}; }
inline LinkMap<ReverseOf> get(boost::edge_reverse_t, const Fabric& fabric) {
  return LinkMap<ReverseOf>(ReverseOf{&fabric});
}
inline LinkMap<CapacityOf> get(boost::edge_capacity_t, const Fabric& fabric) {
  return LinkMap<CapacityOf>(CapacityOf{&fabric});
}
inline LinkMap<LatencyOf> get(boost::edge_weight_t, const Fabric& fabric) {
  return LinkMap<LatencyOf>(LatencyOf{&fabric});
}

}  // namespace podsim
