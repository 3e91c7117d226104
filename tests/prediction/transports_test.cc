// The catalogue's transports do to a random permutation what packet-level simulation does.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "proto/catalog/catalog.h"
#include "scheduler/network/flows.h"

namespace podsim::transports_test {
namespace {

constexpr std::int32_t kHosts = 512, kPerLeaf = 16, kLeaves = kHosts / kPerLeaf;

// Each host sends 2 MB to another over 400 Gbit/s links and a spine drawn at random.
FlowCase random_permutation(unsigned seed, std::int32_t spines) {
  std::mt19937 random(seed);
  std::vector<std::int32_t> to(kHosts);
  std::iota(to.begin(), to.end(), 0);
  for (std::uint32_t i = kHosts - 1; i > 0; --i) std::swap(to[i], to[random() % (i + 1)]);
  FlowCase flows;
  flows.edges.assign(static_cast<std::size_t>(2 * kHosts + 2 * kLeaves * spines), FlowEdge{0, 0, 50e9, 0});
  for (std::int32_t from = 0; from < kHosts; ++from) {
    if (to[from] == from) continue;
    const std::int32_t spine = static_cast<std::int32_t>(random() % static_cast<std::uint32_t>(spines));
    std::vector<std::vector<std::int32_t>> paths = {{from, kHosts + to[from]}};
    if (from / kPerLeaf != to[from] / kPerLeaf) {
      paths[0].push_back(2 * kHosts + from / kPerLeaf * spines + spine);
      paths[0].push_back(2 * kHosts + (kLeaves + to[from] / kPerLeaf) * spines + spine);
    }
    const ListPart route = add_route(flows, paths);
    flows.flows.push_back({from, to[from], 2e6, 0, 1, route, {}});
  }
  return flows;
}

struct Slowdown {
  double mean = 0, last = 0, worst_last = 0;  // completion over that of the ideal; means over the draws
};

Slowdown measure(const Transport& transport, std::int32_t spines) {
  constexpr int kDraws = 20;
  Slowdown slowdown;
  for (unsigned seed = 1; seed <= kDraws; ++seed) {
    const FlowCase flows = random_permutation(seed, spines);
    const FlowsResult ideal = simulate_flows(flows, LatencyConvention::kAfter);
    const FlowsResult real = simulate_flows(flows, LatencyConvention::kAfter, {transport, seed});
    slowdown.mean += real.mean_finish_s / ideal.mean_finish_s / kDraws;
    slowdown.last += real.makespan_s / ideal.makespan_s / kDraws;
    slowdown.worst_last = std::max(slowdown.worst_last, real.makespan_s / ideal.makespan_s);
  }
  return slowdown;
}

// htsim (Broadcom/csg-htsim@841d9e7), full bisection: flows end 10 to 25 % later on average, the last up to
// 40 % later.
TEST(Transports, roce_and_pull_paced_slow_a_permutation_as_packets_do) {
  const Catalog catalog;
  for (const char* name : {"rocev2", "pull_paced"}) {
    const Slowdown full = measure(catalog.transport(name).value(), 16);
    EXPECT_GT(full.mean, 1.10) << name;
    EXPECT_LT(full.mean, 1.25) << name;
    EXPECT_GT(full.last, 1.25) << name;
    EXPECT_LE(full.worst_last, 1.40) << name;
  }
}

// docs/theory/network.md gives these figures.
TEST(Transports, roce_slows_a_permutation_as_the_documentation_says) {
  const Transport roce = Catalog().transport("rocev2").value();
  const Slowdown full = measure(roce, 16), half = measure(roce, 8);
  EXPECT_NEAR(full.mean, 1.16, 0.01);
  EXPECT_NEAR(full.last, 1.37, 0.01);
  EXPECT_NEAR(half.mean, 1.27, 0.01);
  EXPECT_NEAR(half.last, 1.40, 0.01);
}

TEST(Transports, infiniband_lies_between_roce_and_the_ideal) {
  const Catalog catalog;
  const Slowdown infiniband = measure(catalog.transport("infiniband").value(), 16);
  EXPECT_GT(infiniband.mean, 1);
  EXPECT_LT(infiniband.mean, measure(catalog.transport("rocev2").value(), 16).mean);
  EXPECT_EQ(measure(catalog.transport("ideal").value(), 16).worst_last, 1);
}

}  // namespace
}  // namespace podsim::transports_test
