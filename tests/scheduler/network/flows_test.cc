// Rules of flows: closed forms, conservation, scaling, and what can never finish.
#include "scheduler/network/flows.h"

#include <gtest/gtest.h>

#include <cmath>

namespace podsim::flows_test {
namespace {

constexpr LatencyConvention kAfter = LatencyConvention::kAfter, kFirst = LatencyConvention::kFirst;

// A line of nodes 0 - 1 - 2 ..., 10 bytes per second and 1 s of latency to the right.
FlowCase line(int nodes) {
  FlowCase flows;
  flows.nodes = nodes;
  for (int v = 0; v + 1 < nodes; ++v) flows.edges.push_back({v, v + 1, 10, 1});
  return flows;
}

Flow& add_flow(FlowCase& flows, int from, int to, double bytes) {
  std::vector<std::int32_t> path;
  for (int v = from; v < to; ++v) path.push_back(v);
  const ListPart route =
      path.empty() ? ListPart{} : add_route(flows, std::vector<std::vector<std::int32_t>>{path});
  flows.flows.push_back({from, to, bytes, 0, 1, route, {}});
  return flows.flows.back();
}

void wait_for(FlowCase& flows, std::size_t flow, const std::vector<std::int32_t>& predecessors) {
  flows.flows[flow].after = {static_cast<std::int32_t>(flows.predecessors.size()),
                             static_cast<std::int32_t>(predecessors.size())};
  flows.predecessors.insert(flows.predecessors.end(), predecessors.begin(), predecessors.end());
}

std::vector<double> finish(const FlowCase& flows, LatencyConvention convention) {
  const FlowsResult result = simulate_flows(flows, convention);
  EXPECT_EQ(result.problem, "");
  return result.finish_s;
}

using Seconds = std::vector<double>;

TEST(Flows, one_flow_takes_bytes_over_capacity_and_the_latency_of_its_path) {
  FlowCase flows = line(3);
  add_flow(flows, 0, 2, 40);
  EXPECT_EQ(finish(flows, kAfter), Seconds{6});
  EXPECT_EQ(finish(flows, kFirst), Seconds{6});
}

TEST(Flows, the_conventions_differ_where_flows_of_different_latency_meet) {
  FlowCase flows = line(3);
  add_flow(flows, 0, 2, 10);
  add_flow(flows, 1, 2, 15);
  EXPECT_EQ(finish(flows, kAfter), (Seconds{4, 3.5}));  // both drain from 0 on
  EXPECT_EQ(finish(flows, kFirst), (Seconds{3.5, 3}));  // from 2 and from 1 on
}

TEST(Flows, a_follower_waits_for_the_last_predecessor_and_for_its_own_start) {
  FlowCase flows = line(3);
  add_flow(flows, 0, 1, 10);
  add_flow(flows, 1, 2, 20);
  add_flow(flows, 0, 2, 10);
  wait_for(flows, 2, {0, 1});
  EXPECT_EQ(finish(flows, kAfter), (Seconds{2, 3, 6}));
  EXPECT_EQ(finish(flows, kFirst), (Seconds{2, 3, 6}));
  flows.flows[2].start_s = 5;
  EXPECT_EQ(finish(flows, kAfter), (Seconds{2, 3, 8}));
}

TEST(Flows, nothing_to_send_takes_the_latency_alone) {
  FlowCase flows = line(2);
  add_flow(flows, 0, 1, 0).start_s = 3;
  add_flow(flows, 1, 1, 100);
  add_flow(flows, 0, 1, 10);
  wait_for(flows, 2, {0, 1});
  EXPECT_EQ(finish(flows, kAfter), (Seconds{4, 0, 6}));
}

TEST(Flows, weights_share_an_edge_in_their_proportion) {
  FlowCase flows = line(2);
  add_flow(flows, 0, 1, 10);
  add_flow(flows, 0, 1, 30).weight = 3;
  add_flow(flows, 0, 1, 60).weight = 6;
  EXPECT_EQ(finish(flows, kAfter), (Seconds{11, 11, 11}));
  flows.flows[1].bytes = 15;  // gone at 5, then 1 : 6 for 5 and 30 bytes
  EXPECT_EQ(simulate_flows(flows, kAfter).solves, 2);
  EXPECT_NEAR(finish(flows, kAfter)[2], 5 + 3.5 + 1, 1e-12);
}

TEST(Flows, equal_weights_of_any_size_change_nothing) {
  FlowCase flows = line(4);
  for (int f = 0; f < 6; ++f) add_flow(flows, f % 3, 3, 7 + f);
  const Seconds plain = finish(flows, kAfter);
  for (Flow& flow : flows.flows) flow.weight = 0.3;
  EXPECT_EQ(finish(flows, kAfter), plain);
}

TEST(Flows, a_capacity_step_holds_up_what_is_under_way) {
  FlowCase flows = line(2);
  add_flow(flows, 0, 1, 40);
  flows.capacity_steps = {{5, 0, 20}, {1, 0, 0}};  // in any order
  const FlowsResult result = simulate_flows(flows, kAfter);
  EXPECT_EQ(result.finish_s, Seconds{7.5});
  EXPECT_DOUBLE_EQ(result.edges[0].utilisation, 40 / (10 + 2.5 * 20));
}

TEST(Flows, traffic_split_over_paths_is_as_wide_as_all_of_them) {
  FlowCase flows;
  flows.nodes = 2;
  for (int e = 0; e < 4; ++e) flows.edges.push_back({0, 1, 10, 1.0 + e});
  const ListPart route = add_route(flows, std::vector<std::vector<std::int32_t>>{{0}, {1}, {2}, {3}});
  flows.flows.push_back({0, 1, 80, 0, 1, route, {}});
  EXPECT_EQ(finish(flows, kAfter), Seconds{2 + 2.5});
}

TEST(Flows, an_all_to_all_through_one_switch_takes_one_solve_and_the_closed_form) {
  const int hosts = 12;
  FlowCase flows;
  flows.nodes = hosts + 1;
  for (int h = 0; h < hosts; ++h) flows.edges.push_back({h, hosts, 10, 0});
  for (int h = 0; h < hosts; ++h) flows.edges.push_back({hosts, h, 10, 0});
  for (int a = 0; a < hosts; ++a)
    for (int b = 0; b < hosts; ++b)
      if (a != b) flows.flows.push_back({a, b, 5, 0, 1, {}, {}});
  EXPECT_TRUE(route_minimal_ecmp(flows, 10'000).unreachable.empty());
  const FlowsResult result = simulate_flows(flows, kAfter);
  EXPECT_EQ(result.solves, 1);
  EXPECT_DOUBLE_EQ(result.makespan_s, (hosts - 1) * 5 / 10.0);
  for (const EdgeTraffic& edge : result.edges) EXPECT_DOUBLE_EQ(edge.utilisation, 1);
}

TEST(Flows, long_and_short_flows_of_one_case_keep_their_digits) {
  FlowCase flows = line(2);
  flows.edges[0].latency_s = 0;
  add_flow(flows, 0, 1, 1e-2);
  add_flow(flows, 0, 1, 1e7).start_s = 10;
  const Seconds seconds = finish(flows, kAfter);
  EXPECT_NEAR(seconds[0], 1e-3, 1e-12);
  EXPECT_NEAR(seconds[1], 10 + 1e6, 1e-3);
}

TEST(Flows, an_edge_without_capacity_is_named_with_the_flow_it_stops) {
  FlowCase flows = line(4);
  flows.edges[1].bytes_per_s = 0;
  add_flow(flows, 2, 3, 10);
  add_flow(flows, 0, 3, 10);
  EXPECT_EQ(simulate_flows(flows, kAfter).problem,
            "flow 1 (0 -> 3) never finishes: edge 1 (1 -> 2) has no capacity");
}

TEST(Flows, flows_that_wait_for_each_other_are_named) {
  FlowCase flows = line(2);
  for (int f = 0; f < 4; ++f) add_flow(flows, 0, 1, 10);
  wait_for(flows, 1, {3});
  wait_for(flows, 2, {0, 1});
  wait_for(flows, 3, {2});
  EXPECT_EQ(
      simulate_flows(flows, kFirst).problem,
      "flow 1 (0 -> 1) waits for flow 3 (0 -> 1), which waits for flow 2 (0 -> 1), which waits for flow 1");
}

TEST(Flows, ages_are_refused) {
  FlowCase flows = line(2);
  flows.edges[0].bytes_per_s = 1e-300;
  add_flow(flows, 0, 1, 10);
  EXPECT_NE(simulate_flows(flows, kAfter).problem, "");
}

TEST(Flows, no_flows_take_no_time) {
  const FlowsResult result = simulate_flows(line(2), kAfter);
  EXPECT_EQ(result.problem, "");
  EXPECT_EQ(result.makespan_s, 0);
}

}  // namespace
}  // namespace podsim::flows_test
