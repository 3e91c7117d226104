// Classes of links between switches.
#include "scheduler/folding/trunk_classes.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/rounds.h"
#include "tests/scheduler/simulation/random_system.h"

namespace podsim::trunk_classes_test {
namespace {

using testing::Draw;

RegularTree rails_of_two(int leaves) {
  FabricSpec spec = testing::gpu_fabric(4 * leaves, 2, 2);
  spec.gpu->rail_optimised = true;
  spec.gpu->tiers = {{2, 1}, {4, 1}, {64, 1}};
  return *RegularTree::of(spec);
}

// [trunk] its class
std::vector<std::int32_t> listed(const RegularTree& tree, std::vector<TrunkClasses::Alike> runs) {
  std::vector<std::int32_t> classes(static_cast<std::size_t>(TreeTrunks(tree).count()), -1);
  for (const TrunkClasses::Alike& run : runs)
    for (std::int32_t i = 0; i < run.count; ++i)
      classes[static_cast<std::size_t>(run.trunk + i * run.step)] = run.number;
  return classes;
}

TEST(TrunkClasses, do_not_depend_on_the_parts_in_which_loads_come) {
  for (int round = 0; round < testing::rounds(200); ++round) {
    Draw draw(static_cast<std::uint64_t>(round));
    const RegularTree tree = rails_of_two(4 + draw.below(12));
    TrunkClasses in_runs(tree), one_by_one(tree);
    for (int load = 0; load < 12; ++load) {
      const auto t = static_cast<std::size_t>(draw.below(tree.tier(1).leads_up ? 2 : 1));
      const RegularTree::Tier& tier = tree.tier(t);
      const int sets = tier.switches / tier.in_set, begin = draw.below(sets);
      const TrunkRun run = {way_of_tier(t, draw.below(2)),
                            tier.first + begin * tier.in_set + draw.below(tier.in_set),
                            1 + draw.below(sets - begin)};
      const auto carried = static_cast<Colour>(1 + draw.below(3));
      in_runs.add(run, carried);
      for (std::int32_t i = 0; i < run.switches; ++i)
        for (Colour part = 0; part < carried; ++part)
          one_by_one.add({run.way, run.first + i * tier.in_set, 1}, 1);
    }
    const auto a = in_runs.number(), b = one_by_one.number();
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t c = 0; c < a.size(); ++c) {
      EXPECT_EQ(a[c].first, b[c].first);
      EXPECT_EQ(a[c].links, b[c].links);
    }
    ASSERT_EQ(listed(tree, in_runs.take_runs()), listed(tree, one_by_one.take_runs()));
  }
}

TEST(TrunkClasses, are_told_where_their_first_links_are_in_a_run) {
  const RegularTree tree = rails_of_two(8);
  const NodeId leaf = tree.tier(0).first;
  TrunkClasses trunks(tree);
  trunks.add({way_of_tier(0, false), leaf, 3}, 1);  // those of rail 0
  EXPECT_EQ(trunks.number().size(), 3U);            // and the other leaves, and the spines
  std::vector<std::int32_t> seen;
  const auto see = [&](std::int32_t number) { seen.push_back(number); };
  trunks.for_each_first({way_of_tier(0, false), leaf, 8}, see);
  EXPECT_EQ(seen.size(), 1U);
  trunks.for_each_first({way_of_tier(0, false), leaf + 2, 7}, see);
  EXPECT_EQ(seen.size(), 1U);
  trunks.for_each_first({way_of_tier(0, false), leaf + 1, 8}, see);
  EXPECT_EQ(seen.size(), 2U);
}

}  // namespace
}  // namespace podsim::trunk_classes_test
