// Hops over links between switches, counted by division and route by route.
#include "collectives/ring_trunks.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

#include "tests/collectives/fabrics.h"

namespace podsim::ring_trunks_test {
namespace {

using Hops = std::map<LinkId, std::int64_t>;

Hops each(const RegularTree& tree, const std::vector<AlikeTrunks>& all) {
  Hops hops;
  for (const AlikeTrunks& alike : all)
    for (std::int32_t i = 0; i < alike.switches; ++i) {
      const NodeId at = alike.first + i * tree.tier(alike.tier).in_set;
      hops[alike.down ? tree.trunk_down(alike.tier, at) : tree.trunk_up(alike.tier, at)] += alike.hops;
    }
  return hops;
}

// One after the other, as rings of channels go.
Hops by_routes(const RegularTree& tree, const std::vector<ChipId>& group, std::size_t members, bool aside,
               bool both_ways) {
  Hops hops;
  const auto add = [&](ChipId from, ChipId to) {
    tree.route(from, to, [&](LinkId link) {
      if (tree.cable(link).kind == LinkKind::kTrunk) ++hops[link];
    });
  };
  for (std::size_t at = 0; at < group.size(); ++at) {
    const bool closing = at + members >= group.size();
    const std::size_t member = at % members;
    const ChipId to = group[!closing ? at + members : aside ? (member + 1) % members : member];
    add(group[at], to);
    if (both_ways) add(to, group[at]);
  }
  return hops;
}

struct DrawnRing {
  RegularTree tree;
  StridedGroup group;
  std::size_t members;
};

// Some members at the same or other places in each domain of a row, from one start or several.
DrawnRing drawn_ring(std::mt19937& random) {
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  const int domain = 1 << below(4), in_row = 1 + below(3), starts = 1 + below(3), rows = 1 + below(40);
  const bool rails = below(2), places_change = below(3) == 0;
  const int members = 1 + below(domain), first = below(domain - members + 1);
  std::vector<ChipId> begins, offsets;
  for (int d = 0; d < in_row; ++d) {
    const int place = places_change && d > 0 ? below(domain - members + 1) : first;
    for (int m = 0; m < members; ++m) offsets.push_back(d * domain + place + m - first);
  }
  const ChipId stride = in_row * domain;
  const ChipId begin = first + below(in_row) * domain;  // rows need not begin where strides do
  for (int s = 0; s < starts; ++s) begins.push_back(begin + s * (rows + below(2)) * stride);
  for (int s = 1; s < starts; ++s) begins[s] = std::max(begins[s], begins[s - 1] + rows * stride);
  StridedGroup group(begins, rows, stride, offsets);
  FabricSpec spec = gpu_spec((group.back() / domain + 2) * domain, domain);
  spec.gpu->rail_optimised = rails;
  spec.gpu->tiers = {{.down = (rails ? 1 : domain) * in_row * (1 + below(4))},
                     {.down = rails && below(3) ? domain * (1 + below(3)) : 2 + below(6)},
                     {.down = 2 + below(4)},
                     {.down = 1024}};
  return {*RegularTree::of(spec), std::move(group), static_cast<std::size_t>(members)};
}

TEST(RingTrunks, carry_the_hops_of_each_route_on_1000_random_rings) {
  std::mt19937 random(1);
  int alike = 0, regular = 0;
  for (int round = 0; round < 1000; ++round) {
    const auto& [tree, group, members] = drawn_ring(random);
    if (group.size() == members) continue;
    for (const bool aside : {false, true})
      for (const bool both_ways : {false, true}) {
        RingTrunks ring(tree, both_ways);
        ring.add_ring(group, members, aside);
        const std::vector<AlikeTrunks> told = ring.take();
        for (const AlikeTrunks& one : told) alike += one.switches > 1;
        ASSERT_EQ(each(tree, told), by_routes(tree, group.list(), members, aside, both_ways))
            << "round " << round;
        EXPECT_TRUE(ring.take().empty());
      }
    regular += tree.rails_stay_together();
  }
  EXPECT_GT(alike, 1000);
  EXPECT_GT(regular, 300);
  EXPECT_LT(regular, 990);
}

TEST(RingTrunks, come_in_as_few_parts_as_there_are_alike_runs) {
  FabricSpec spec = gpu_spec(8 * 4096, 8);
  spec.gpu->tiers = {{.down = 32}, {.down = 32}, {.down = 32}};
  const RegularTree tree = *RegularTree::of(spec);
  RingTrunks ring(tree, false);
  ring.add_ring(StridedGroup({0}, 4096, 8, {0}), 1, false);
  const std::vector<AlikeTrunks> told = ring.take();
  ASSERT_EQ(told.size(), 4U);  // up and down, of leaves of one rail and of spines
  for (const AlikeTrunks& alike : told) EXPECT_EQ(alike.switches, alike.tier == 0 ? 128 : 32);
}

}  // namespace
}  // namespace podsim::ring_trunks_test
