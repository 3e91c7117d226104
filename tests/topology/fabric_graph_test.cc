// A fabric as a graph of the Boost Graph Library: its concepts, and that the library finds what is known of
// it.
#include "topology/fabric_graph.h"

#include <gtest/gtest.h>

#include <boost/graph/boykov_kolmogorov_max_flow.hpp>
#include <boost/graph/connected_components.hpp>
#include <boost/graph/dijkstra_shortest_paths.hpp>
#include <boost/graph/graph_concepts.hpp>
#include <boost/graph/kruskal_min_spanning_tree.hpp>
#include <boost/graph/strong_components.hpp>
#include <iterator>

#include "tests/topology/fabrics.h"
#include "topology/failures.h"
#include "topology/min_cut.h"
#include "topology/route_parts.h"

namespace podsim::fabric_graph_test {
namespace {

BOOST_CONCEPT_ASSERT((boost::VertexListGraphConcept<Fabric>));
BOOST_CONCEPT_ASSERT((boost::EdgeListGraphConcept<Fabric>));
BOOST_CONCEPT_ASSERT((boost::BidirectionalGraphConcept<Fabric>));
BOOST_CONCEPT_ASSERT((boost::AdjacencyGraphConcept<Fabric>));
BOOST_CONCEPT_ASSERT((boost::ReadablePropertyMapConcept<LinkMap<CapacityOf>, LinkId>));

std::vector<Fabric> fabrics() {
  std::vector<Fabric> all;
  for (const FabricSpec& spec : {ocs_spec({4, 4, 8}, true), torus_spec({5, 3, 1}, 0),
                                 multislice_spec({4, 4, 4}, 2), gpu_spec(64), gpu_spec(64, false)})
    all.push_back(build_fabric(spec));
  const Failure failures[] = {FailedPort{3, LinkKind::kNic}, FailedSwitch{NodeKind::kLeaf, 1}};
  all.push_back(with_failures(all[3], failures));
  return all;
}

// Parts that hang together, in both directions: nodes that nothing leads to any more count too.
int parts_of(const Fabric& fabric) {
  std::vector<int> part(fabric.nodes.size());
  return boost::strong_components(
      fabric, boost::make_iterator_property_map(part.begin(), get(boost::vertex_index, fabric)));
}

TEST(FabricGraph, edges_into_a_node_are_the_reverses_of_those_out_of_it) {
  for (const Fabric& fabric : fabrics())
    for (NodeId node = 0; node < num_vertices(fabric); ++node) {
      const auto [first, end] = in_edges(node, fabric);
      EXPECT_EQ(std::distance(first, end), in_degree(node, fabric));
      for (auto edge = first; edge != end; ++edge) {
        EXPECT_EQ(target(*edge, fabric), node);
        EXPECT_EQ(get(get(boost::edge_reverse, fabric), get(get(boost::edge_reverse, fabric), *edge)), *edge);
      }
    }
}

TEST(FabricGraph, a_spanning_tree_has_a_cable_less_than_there_are_nodes) {
  for (const Fabric& fabric : fabrics()) {
    std::vector<LinkId> tree;
    boost::kruskal_minimum_spanning_tree(fabric, std::back_inserter(tree));
    EXPECT_EQ(static_cast<int>(tree.size()), num_vertices(fabric) - parts_of(fabric));
  }
}

TEST(FabricGraph, a_failed_switch_is_a_part_by_itself) {
  const auto all = fabrics();
  EXPECT_EQ(parts_of(all[3]), 1);
  EXPECT_EQ(parts_of(all[5]), 2);
}

// All links of a torus have the same latency.
TEST(FabricGraph, dijkstra_on_latencies_finds_the_hops_of_routes_in_a_slice) {
  const Fabric fabric = build_fabric(ocs_spec({4, 4, 8}, true));
  std::vector<std::int64_t> least_ps(fabric.nodes.size());
  boost::dijkstra_shortest_paths(fabric, ChipId{5},
                                 boost::distance_map(boost::make_iterator_property_map(
                                     least_ps.begin(), get(boost::vertex_index, fabric))));
  const Ways ways = Ways::in_slice(fabric, 5);
  for (ChipId chip = 0; chip < fabric.chips; ++chip)
    EXPECT_EQ(least_ps[chip], ways.hops_from(chip) * fabric.links[0].latency.ps);
}

// The library's flow on the fabric itself, without a source and a sink beside it.
TEST(MinCut, between_two_chips_is_the_flow_on_the_fabric) {
  std::vector<Fabric> all = fabrics();
  for (Fabric& fabric : all) {
    const ChipId from = 1, to = fabric.chips - 1;
    std::vector<std::int64_t> left(fabric.links.size());
    std::vector<LinkId> way(fabric.nodes.size());
    std::vector<boost::default_color_type> colour(fabric.nodes.size());
    std::vector<std::int64_t> distance(fabric.nodes.size());
    const auto by_node = [&](auto& values) {
      return boost::make_iterator_property_map(values.begin(), get(boost::vertex_index, fabric));
    };
    const std::int64_t flow = boost::boykov_kolmogorov_max_flow(
        fabric, get(boost::edge_capacity, fabric),
        boost::make_iterator_property_map(left.begin(), get(boost::edge_index, fabric)),
        get(boost::edge_reverse, fabric), by_node(way), by_node(colour), by_node(distance),
        get(boost::vertex_index, fabric), from, to);
    EXPECT_EQ(min_cut(fabric, {&from, 1}, {&to, 1}).value, static_cast<double>(flow)) << fabric.name;
  }
}

TEST(MinCut, of_a_corner_of_a_mesh_is_its_three_links) {
  const Fabric fabric = build_fabric(torus_spec({4, 4, 4}, 0, {1}));
  const ChipId from = 0, to = 21;
  EXPECT_EQ(min_cut(fabric, {&from, 1}, {&to, 1}) / kIciBandwidth, 3);
}

TEST(MinCut, to_nobody_is_nothing) {
  const Fabric fabric = build_fabric(torus_spec({4, 1, 1}, 0));
  const ChipId from = 0;
  EXPECT_EQ(min_cut(fabric, {&from, 1}, {}).value, 0);
}

TEST(MinCutDeathTest, refuses_a_chip_on_both_sides) {
  const Fabric fabric = build_fabric(torus_spec({4, 1, 1}, 0));
  const ChipId chip = 0;
  EXPECT_DEATH(min_cut(fabric, {&chip, 1}, {&chip, 1}), "both sides");
}

}  // namespace
}  // namespace podsim::fabric_graph_test
