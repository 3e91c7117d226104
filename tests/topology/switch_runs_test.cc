// Switches above chips at equal distances, by division and one by one.
#include "topology/switch_runs.h"

#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <vector>

#include "tests/topology/fabrics.h"
#include "topology/fabric_kind.h"

namespace podsim::switch_runs_test {
namespace {

TEST(SwitchRuns, are_the_switches_above_each_chip_in_order) {
  std::mt19937 random(1);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  int several_alike = 0;
  for (int round = 0; round < 500; ++round) {
    FabricSpec spec = gpu_spec(8, below(2) == 0);
    GpuClusterSpec& gpu = *spec.gpu;
    gpu.gpus_per_domain = 1 << below(4);
    gpu.tiers.clear();
    for (int tier = 0; tier < 4; ++tier) gpu.tiers.push_back({.down = 2 + below(6)});
    gpu.tiers[0].down = gpu.gpus_per_domain * (1 << below(3));
    spec.chips = gpu.gpus_per_domain * (2 + below(300));
    if (!explain_invalid(spec).empty()) continue;
    const std::optional<RegularTree> tree = RegularTree::of(spec);
    ASSERT_TRUE(tree);
    const ChipId stride = tree->domain() * (1 + below(3)), first = below(spec.chips);
    const int count = 1 + below((spec.chips - 1 - first) / stride + 1);
    for (std::size_t t = 0; t < tree->tiers(); ++t) {
      std::vector<NodeId> told, listed;
      for (const SwitchRun& run : switches_above(*tree, t, first, count, stride)) {
        several_alike += run.switches > 1;
        for (std::int32_t i = 0; i < run.switches * run.chips; ++i)
          told.push_back(run.first + i / run.chips * tree->tier(t).in_set);
      }
      for (int i = 0; i < count; ++i) listed.push_back(tree->above(t, first + i * stride));
      ASSERT_EQ(told, listed) << "round " << round << ", tier " << t;
    }
  }
  EXPECT_GT(several_alike, 100);
}

}  // namespace
}  // namespace podsim::switch_runs_test
