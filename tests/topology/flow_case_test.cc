// Rules of routes on a graph.
#include "topology/flow_case.h"

#include <gtest/gtest.h>

#include <map>

namespace podsim::flow_case_test {
namespace {

constexpr std::int32_t kAnyUses = 1'000'000;

FlowCase graph(std::int32_t nodes, const std::vector<std::pair<int, int>>& edges) {
  FlowCase flows;
  flows.nodes = nodes;
  for (const auto& [from, to] : edges) flows.edges.push_back({from, to, 1, 0});
  return flows;
}

void add_flow(FlowCase& flows, std::int32_t source, std::int32_t destination) {
  flows.flows.push_back({source, destination, 1, 0, 1, {}, {}});
}

// [edge] share of the flow's bytes.
std::map<std::int32_t, double> shares(const FlowCase& flows, std::size_t flow) {
  std::map<std::int32_t, double> found;
  for (const Use& use : flows.route(flows.flows[flow]))
    found[use.resource] += static_cast<double>(use.usage) / static_cast<double>(kUsageUnit);
  return found;
}

using Shares = std::map<std::int32_t, double>;

TEST(FlowCase, a_path_uses_each_of_its_edges_wholly_and_several_paths_split_evenly) {
  FlowCase flows = graph(3, {{0, 1}, {1, 2}, {0, 2}, {1, 2}});
  add_flow(flows, 0, 2);
  flows.flows[0].uses = add_route(flows, std::vector<std::vector<std::int32_t>>{{0, 1}});
  EXPECT_EQ(shares(flows, 0), (Shares{{0, 1}, {1, 1}}));
  flows.flows[0].uses = add_route(flows, std::vector<std::vector<std::int32_t>>{{0, 1}, {0, 3}, {2}, {2}});
  EXPECT_EQ(shares(flows, 0), (Shares{{0, 0.5}, {1, 0.25}, {2, 0.5}, {3, 0.25}}));
}

TEST(MinimalEcmp, splits_at_each_node_over_every_edge_that_is_one_hop_closer) {
  // Two ways at node 0, of which the second has two parallel edges; the detour 0-4-5-3 is longer.
  FlowCase flows = graph(6, {{0, 1}, {0, 2}, {1, 3}, {2, 3}, {2, 3}, {0, 4}, {4, 5}, {5, 3}});
  add_flow(flows, 0, 3);
  EXPECT_TRUE(route_minimal_ecmp(flows, kAnyUses).unreachable.empty());
  EXPECT_EQ(shares(flows, 0), (Shares{{0, 0.5}, {1, 0.5}, {2, 0.5}, {3, 0.25}, {4, 0.25}}));
}

TEST(MinimalEcmp, goes_around_edges_without_capacity) {
  FlowCase flows = graph(3, {{0, 2}, {0, 1}, {1, 2}});
  flows.edges[0].bytes_per_s = 0;
  add_flow(flows, 0, 2);
  EXPECT_TRUE(route_minimal_ecmp(flows, kAnyUses).unreachable.empty());
  EXPECT_EQ(shares(flows, 0), (Shares{{1, 1}, {2, 1}}));
}

TEST(MinimalEcmp, tells_which_flows_have_no_way) {
  FlowCase flows = graph(3, {{0, 1}, {1, 0}});
  add_flow(flows, 0, 2);
  add_flow(flows, 0, 1);
  add_flow(flows, 2, 0);
  EXPECT_EQ(route_minimal_ecmp(flows, kAnyUses).unreachable, (std::vector<std::int32_t>{0, 2}));
  EXPECT_EQ(shares(flows, 1), (Shares{{0, 1}}));
}

TEST(MinimalEcmp, stops_at_the_limit) {
  FlowCase flows = graph(2, {{0, 1}, {1, 0}});
  for (int f = 0; f < 3; ++f) add_flow(flows, 0, 1);
  add_flow(flows, 1, 0);
  EXPECT_FALSE(route_minimal_ecmp(flows, 2).too_long);  // equal ends share their route
  EXPECT_EQ(flows.uses.size(), 2u);
  FlowCase again = graph(2, {{0, 1}, {1, 0}});
  add_all_to_all(again, 1);
  EXPECT_TRUE(route_minimal_ecmp(again, 1).too_long);
}

// On a ring of n nodes an all-to-all puts n^2/8 flows on each edge when n is even, half-way ties going both
// ways, and (n^2 - 1)/8 when n is odd.
TEST(MinimalEcmp, an_all_to_all_on_a_ring_loads_every_edge_by_the_closed_form) {
  for (const int n : {4, 5, 8, 9}) {
    std::vector<std::pair<int, int>> edges;
    for (int v = 0; v < n; ++v) {
      edges.emplace_back(v, (v + 1) % n);
      edges.emplace_back((v + 1) % n, v);
    }
    FlowCase flows = graph(n, edges);
    add_all_to_all(flows, 1);
    ASSERT_EQ(flows.flows.size(), static_cast<std::size_t>(n * (n - 1)));
    route_minimal_ecmp(flows, kAnyUses);
    std::map<std::int32_t, double> load;
    for (std::size_t f = 0; f < flows.flows.size(); ++f)
      for (const auto& [edge, share] : shares(flows, f)) load[edge] += share;
    for (const auto& [edge, sum] : load) EXPECT_EQ(sum, (n * n - n % 2) / 8.0) << n;
  }
}

}  // namespace
}  // namespace podsim::flow_case_test
