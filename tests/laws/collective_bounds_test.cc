// Laws: on random fabrics, groups and sizes no plan beats the lower bound, and every plan has the declared
// form.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "collectives/channel.h"
#include "collectives/cut_bound.h"
#include "tests/collectives/fabrics.h"

namespace podsim::collective_bounds_test {
namespace {

class RandomCase {
 public:
  explicit RandomCase(std::uint64_t seed) : random_(seed) {}

  int below(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }

  Fabric fabric() {
    Fabric built = plain_fabric();
    std::vector<SlowLink> slow;
    for (int i = below(3); i > 0; --i)
      slow.push_back(
          {below(built.chips), built.slices.empty() ? LinkKind::kNic : LinkKind::kIci, 0.1 + 0.2 * below(4)});
    for (int i = below(2); i > 0 && built.slices.empty(); --i)
      slow.push_back({below(built.chips), LinkKind::kNvlink, 0.3});
    built.sharp = built.slices.empty() && below(2) == 0;
    built.channels = channels();
    if (built.slices.empty() && below(2) == 0) built.library = library();
    return with_slow_links(std::move(built), slow);
  }

  // As in a built fabric: efficiencies are shares of the payload.
  std::vector<ChannelSpec> channels() {
    std::vector<ChannelSpec> made;
    for (const char* algorithm : {"", "ring", "tree", "nvls", "nvls-tree", "torus", "log-step"}) {
      if (below(2) == 0) continue;
      made.push_back({.algorithm = algorithm,
                      .setup = Time::seconds(1e-6 * below(20)),
                      .chunk = {1e5 * below(50)},
                      .chunk_overhead = Time::seconds(1e-6 * below(5)),
                      .nvlink_efficiency = 0.5 + 0.1 * below(6),
                      .nic_efficiency = 0.5 + 0.1 * below(6),
                      .ici_efficiency = 0.5 + 0.1 * below(6)});
    }
    return made;
  }

  // Likewise.
  LibrarySpec library() {
    LibrarySpec made;
    for (LibrarySpec::Part* part : {&made.domain, &made.network})
      for (ProtocolSpec& protocol : *part)
        protocol = {0.1 * below(11),
                    Time::seconds(1e-6 * below(20)),
                    Time::seconds(1e-6 * below(5)),
                    {1e5 * below(50)},
                    Time::seconds(1e-6 * below(5))};
    made.landing = {1e11 * below(10)};
    return made;
  }

  std::vector<ChipId> group(const Fabric& fabric) {
    auto chips = all_chips(fabric);
    if (below(2) == 0) return chips;
    for (int i = fabric.chips - 1; i > 0; --i) std::swap(chips[i], chips[below(i + 1)]);
    chips.resize(2 + below(fabric.chips - 1));
    if (below(2) == 0) std::ranges::sort(chips);
    return chips;
  }

 private:
  Fabric plain_fabric() {
    const std::array<int, 3> shape = {2 + below(4), 1 + below(4), 1 + below(4)};
    switch (below(6)) {
      case 0:
        return torus(shape);
      case 1:
        return mesh(shape);
      case 2:
        return twisted_torus({4, 4, 8});
      case 3:
        return multislice(shape, 2 + below(3));
      case 4:
        return gpus(8 * (1 + below(8)), 8, below(2) == 0);
      default:
        return gpus(4 * (2 + below(8)), 1 << below(3));
    }
  }

  std::mt19937_64 random_;
};

void expect_declared_form(const Fabric& fabric, const CollectivePlan& plan) {
  for (const Phase& phase : plan.phases) {
    EXPECT_GT(phase.latency, Time{});
    for (std::size_t i = 0; i < phase.loads.size(); ++i) {
      EXPECT_GT(phase.loads[i].bytes, 0);
      EXPECT_LT(phase.loads[i].link, static_cast<LinkId>(fabric.links.size()));
      if (i > 0) {
        EXPECT_LT(phase.loads[i - 1].link, phase.loads[i].link);
      }
    }
  }
}

TEST(CollectiveLaw, no_plan_beats_the_lower_bound) {
  int plans = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    RandomCase random(seed);
    const Fabric fabric = random.fabric();
    auto group = random.group(fabric);
    const Bytes bytes{1e3 * std::pow(10.0, random.below(8))};
    const auto kind = static_cast<CollectiveKind>(random.below(8));
    if (kind == CollectiveKind::kSendReceive) group.resize(2);
    const Time bound = lower_bound(fabric, {kind, bytes}, group);
    for (int a = 0; a <= static_cast<int>(kLastAlgorithm); ++a) {
      const auto plan = plan_with(static_cast<Algorithm>(a), fabric, {kind, bytes}, group);
      if (!plan) continue;
      ++plans;
      expect_declared_form(fabric, *plan);
      EXPECT_GE(predict(fabric, *plan), bound)
          << "seed " << seed << ' ' << to_string(kind) << ' ' << to_string(plan->algorithm);
    }
  }
  EXPECT_GT(plans, 400);
}

// Whatever the algorithm, what must cross a cut takes the time that the cut's links need for it.
TEST(CollectiveLaw, no_plan_beats_a_minimum_cut) {
  int plans = 0, near_the_bound = 0;
  for (std::uint64_t seed = 2000; seed < 2200; ++seed) {
    RandomCase random(seed);
    const Fabric fabric = random.fabric();
    auto group = random.group(fabric);
    const auto kind = static_cast<CollectiveKind>(random.below(8));
    if (kind == CollectiveKind::kSendReceive) group.resize(2);
    const Collective collective{kind, {1e9}};
    std::vector<Side> cuts = narrow_cuts(fabric, group);
    cuts.emplace_back(group.size());
    for (std::size_t rank = 0; rank < group.size(); ++rank) cuts.back()[rank] = random.below(2) == 0;
    Time bound;
    for (const Side& near : cuts) bound = std::max(bound, cut_bound(fabric, collective, group, near));
    for (int a = 0; a <= static_cast<int>(kLastAlgorithm); ++a) {
      const auto plan = plan_with(static_cast<Algorithm>(a), fabric, collective, group);
      if (!plan) continue;
      ++plans;
      EXPECT_GE(predict(fabric, *plan), bound)
          << "seed " << seed << ' ' << to_string(kind) << ' ' << to_string(plan->algorithm);
      if (bound > Time{} && predict(fabric, *plan) < 2 * bound) ++near_the_bound;
      for (const Side& near : cuts)
        EXPECT_TRUE(carries_across(fabric, collective, group, *plan, near))
            << "seed " << seed << ' ' << to_string(kind) << ' ' << to_string(plan->algorithm);
    }
  }
  EXPECT_GT(plans, 300);
  EXPECT_GT(near_the_bound, 30);  // it is no idle bound
}

TEST(CollectiveLaw, the_chosen_plan_is_the_fastest_that_applies) {
  for (std::uint64_t seed = 1000; seed < 1300; ++seed) {
    RandomCase random(seed);
    const Fabric fabric = random.fabric();
    auto group = random.group(fabric);
    const Bytes bytes{1e2 * std::pow(10.0, random.below(9))};
    const auto kind = static_cast<CollectiveKind>(random.below(8));
    if (kind == CollectiveKind::kSendReceive) group.resize(2);
    std::optional<CollectivePlan> fastest;
    for (int a = 0; a <= static_cast<int>(kLastAlgorithm); ++a) {
      if (!is_considered(fabric, kind, group, static_cast<Algorithm>(a))) continue;
      auto plan = plan_with(static_cast<Algorithm>(a), fabric, {kind, bytes}, group);
      if (plan && (!fastest || predict(fabric, *plan) < predict(fabric, *fastest))) fastest = std::move(plan);
    }
    ASSERT_TRUE(fastest);
    const CollectivePlan chosen = plan(fabric, {kind, bytes}, group);
    EXPECT_EQ(predict(fabric, chosen), predict(fabric, *fastest))
        << "seed " << seed << ' ' << to_string(kind);
    EXPECT_EQ(chosen.algorithm, fastest->algorithm) << "seed " << seed << ' ' << to_string(kind);
  }
}

// What a reduction or a gather must move at least: n - 1 tensors, once or twice.
TEST(CollectiveLaw, members_inject_at_least_what_the_collective_moves) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    RandomCase random(seed);
    const Fabric fabric = random.fabric();
    const auto group = random.group(fabric);
    const double n = static_cast<double>(group.size());
    for (const Algorithm algorithm :
         {Algorithm::kRing, Algorithm::kBidirectionalRing, Algorithm::kTorus, Algorithm::kTree,
          Algorithm::kHierarchical, Algorithm::kHalvingDoubling, Algorithm::kLogStep}) {
      const int a = static_cast<int>(algorithm);
      const auto reduce = plan_with(algorithm, fabric, {CollectiveKind::kAllReduce, {1.0}}, group);
      if (reduce) {
        EXPECT_GE(injected_bytes(fabric, *reduce), 2 * (n - 1) * (1 - 1e-9)) << seed << ' ' << a;
      }
      const auto gather = plan_with(algorithm, fabric, {CollectiveKind::kAllGather, {1.0}}, group);
      if (gather) {
        EXPECT_GE(injected_bytes(fabric, *gather), (n - 1) * (1 - 1e-9)) << seed << ' ' << a;
      }
    }
  }
}

TEST(CollectiveLaw, what_enters_a_switch_leaves_it) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    RandomCase random(seed);
    const Fabric fabric = random.fabric();
    const auto group = random.group(fabric);
    const bool has_switches = static_cast<int>(fabric.nodes.size()) > fabric.chips;
    if (!has_switches) continue;
    for (const CollectiveKind kind :
         {CollectiveKind::kAllReduce, CollectiveKind::kAllToAll, CollectiveKind::kBroadcast})
      for (int a = 0; a <= static_cast<int>(kLastAlgorithm); ++a) {
        const auto plan = plan_with(static_cast<Algorithm>(a), fabric, {kind, {1.0}}, group);
        if (!plan) continue;
        for (const Phase& phase : plan->phases) {
          std::vector<double> surplus(fabric.nodes.size(), 0.0);
          for (const LinkLoad& load : phase.loads) {
            surplus[fabric.links[load.link].from] -= load.bytes;
            surplus[fabric.links[load.link].to] += load.bytes;
          }
          for (NodeId node = fabric.chips; node < static_cast<NodeId>(fabric.nodes.size()); ++node)
            EXPECT_NEAR(surplus[node], 0, 1e-9) << seed << ' ' << a << ' ' << node_name(fabric, node);
        }
      }
  }
}

}  // namespace
}  // namespace podsim::collective_bounds_test
