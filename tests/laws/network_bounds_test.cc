// Laws: no collective beats the bisection of its network, nor the latency of its longest way.
#include <gtest/gtest.h>

#include "tests/collectives/fabrics.h"
#include "topology/metrics.h"

namespace podsim::network_bounds_test {
namespace {

std::vector<Fabric> networks() {
  std::vector<Fabric> all;
  all.push_back(torus({4, 4, 4}));
  all.push_back(torus({4, 6, 1}));
  all.push_back(mesh({4, 4, 2}));
  all.push_back(twisted_torus({4, 4, 8}));
  all.push_back(multislice({4, 4, 1}, 2));
  all.push_back(gpus(32));
  all.push_back(gpus(16, 1));
  FabricSpec narrow = gpu_spec(64, 1);
  narrow.gpu->rail_optimised = false;
  narrow.gpu->tiers = {{.down = 8, .oversubscription = 4}, {.down = 64}};
  all.push_back(build_fabric(narrow));
  return all;
}

// Every chip of one half sends S / n to every chip of the other.
TEST(NetworkLaw, all_to_all_never_beats_the_bisection) {
  for (const Fabric& fabric : networks()) {
    const double n = fabric.chips;
    const Bytes bytes{1e9};
    const Bytes crossing{(n / 2) * (n / 2) * bytes.value / n};
    const Time bound = Time::seconds(seconds_at(crossing, measure(fabric).bisection));
    const Time time = predict(fabric, plan(fabric, {CollectiveKind::kAllToAll, bytes}, all_chips(fabric)));
    EXPECT_GE(time, bound) << fabric.name << ' ' << fabric.chips;
  }
}

// One half's sum must reach the other half, whole.
TEST(NetworkLaw, all_reduce_never_beats_the_bisection) {
  for (const Fabric& fabric : networks()) {
    const Bytes bytes{1e9};
    const Time bound = Time::seconds(seconds_at(bytes, measure(fabric).bisection));
    const Time time = predict(fabric, plan(fabric, {CollectiveKind::kAllReduce, bytes}, all_chips(fabric)));
    EXPECT_GE(time, bound) << fabric.name << ' ' << fabric.chips;
  }
}

// 2 (N - 1) / N S / (6 links) on 8x8x8, 1 GiB over 50 GB/s and 500 ns: only latency comes on top.
TEST(NetworkLaw, the_default_all_reduce_of_a_torus_is_within_a_twentieth_of_its_injection_bound) {
  FabricSpec spec = torus_spec({8, 8, 8});
  spec.torus->ici.latency = Time{500'000};
  const Fabric fabric = build_fabric(spec);
  const double bytes = 1073741824, bound_s = 2 * 511.0 / 512 * bytes / (6 * 50e9);
  const Time time = predict(fabric, plan(fabric, {CollectiveKind::kAllReduce, {bytes}}, all_chips(fabric)));
  EXPECT_GE(time, Time::seconds(bound_s));
  EXPECT_LE(time.in_seconds(), 1.05 * bound_s);
}

// Least latency from chip 0 to the farthest chip over any links: chips may relay, as those of a hierarchical
// all-to-all do, so a fewest-hops route need not be the fastest way.
Time latency_to_farthest(const Fabric& fabric) {
  std::vector<Time> least(fabric.nodes.size(), Time::max());
  least[0] = Time{};
  for (bool shorter = true; shorter;) {
    shorter = false;
    for (const Link& link : fabric.links) {
      if (least[link.from] == Time::max() || least[link.from] + link.latency >= least[link.to]) continue;
      least[link.to] = least[link.from] + link.latency;
      shorter = true;
    }
  }
  return *std::max_element(least.begin(), least.begin() + fabric.chips);
}

TEST(NetworkLaw, no_latency_is_shorter_than_the_way_to_the_farthest_member) {
  for (const Fabric& fabric : networks()) {
    const Time farthest = latency_to_farthest(fabric);
    for (const CollectiveKind kind : {CollectiveKind::kAllReduce, CollectiveKind::kAllGather,
                                      CollectiveKind::kAllToAll, CollectiveKind::kBroadcast})
      EXPECT_GE(predict(fabric, plan(fabric, {kind, {8}}, all_chips(fabric))), farthest)
          << fabric.name << ' ' << to_string(kind);
  }
}

}  // namespace
}  // namespace podsim::network_bounds_test
