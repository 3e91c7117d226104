// Where groups lie evenly, the links of one chip tell what a plan takes, and one plan what it takes at all
// sizes.
#include "collectives/even_group.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "collectives/candidates.h"
#include "collectives/library.h"
#include "tests/collectives/fabrics.h"
#include "tests/collectives/protocols.h"

namespace podsim::even_group_test {
namespace {

using some_protocols::library;

constexpr CollectiveKind kKinds[] = {CollectiveKind::kAllReduce,     CollectiveKind::kAllGather,
                                     CollectiveKind::kReduceScatter, CollectiveKind::kAllToAll,
                                     CollectiveKind::kPermute,       CollectiveKind::kBroadcast};

// Leaves of three domains below sets of two; the last of either are not full.
FabricSpec tree_spec(int domains, int per_domain, bool rails) {
  FabricSpec spec = gpu_spec(domains * per_domain, per_domain);
  spec.gpu->rail_optimised = rails;
  const int ports = rails ? 1 : per_domain;
  spec.gpu->tiers = {{.down = 3 * ports}, {.down = 2}, {.down = 64}};
  spec.library = library();
  return spec;
}

std::vector<ChipId> every(const Fabric& fabric, int step, int first = 0) {
  std::vector<ChipId> group;
  for (ChipId chip = first; chip < fabric.chips; chip += step) group.push_back(chip);
  return group;
}

// The same as rows of whole domains.
StridedGroup strided(const Fabric& fabric, int step, int first = 0) {
  const int stride = std::lcm(step, std::max(1, fabric.gpus_per_domain));
  const int rows = (fabric.chips - first + stride - 1) / stride;
  std::vector<ChipId> offsets;
  for (int offset = 0; offset < stride; offset += step) offsets.push_back(offset);
  return StridedGroup({first}, rows, stride, offsets);
}

// Loads of links between switches, each by itself.
std::vector<LinkLoad> trunk_loads(const Fabric& fabric, const EvenPlan& even, const Phase& phase) {
  std::vector<LinkLoad> loads;
  auto alike = even.trunks.begin();
  for (const LinkLoad& load : phase.loads) {
    if (fabric.cable(load.link).kind != LinkKind::kTrunk) continue;
    for (std::int32_t i = 0; i < alike->switches; ++i) {
      const NodeId of = alike->first + i * fabric.tree()->tier(alike->tier).in_set;
      loads.push_back({alike->down ? fabric.tree()->trunk_down(alike->tier, of)
                                   : fabric.tree()->trunk_up(alike->tier, of),
                       load.bytes});
    }
    ++alike;
  }
  return loads;
}

void expect_same(const Fabric& fabric, const CollectivePlan& one, const CollectivePlan& whole) {
  EXPECT_EQ(one.algorithm, whole.algorithm);
  EXPECT_EQ(predict(fabric, one), predict(fabric, whole));
  ASSERT_EQ(one.phases.size(), whole.phases.size());
  for (std::size_t p = 0; p < one.phases.size(); ++p) {
    EXPECT_EQ(one.phases[p].latency, whole.phases[p].latency);
    EXPECT_EQ(one.phases[p].ramp, whole.phases[p].ramp);
  }
}

TEST(EvenGroup, one_chip_gives_the_algorithm_and_the_time_of_all) {
  int smaller = 0;
  for (const int per_domain : {1, 2, 4, 8})
    for (const bool rails : {false, true})
      for (const int domains : {2, 3, 8, 11, 16}) {
        FabricSpec spec = tree_spec(domains, per_domain, rails);
        spec.gpu->nvls = domains % 2 == 0;
        const Fabric fabric = build_fabric_by_rule(spec);
        for (const int step : {1, 2, per_domain, 2 * per_domain, 3})
          for (const CollectiveKind kind : kKinds)
            for (const double bytes : {4e3, 3e5, 2.5e8})
              for (const Fanout& fanout : {Fanout{}, Fanout{.copies = 4, .most_blocks = 2}}) {
                const std::vector<ChipId> group = every(fabric, step, step > 1);
                if (fanout.copies > 1 && kind != CollectiveKind::kAllToAll) continue;
                const Collective collective{kind, {bytes}, {}, fanout};
                const CollectivePlan whole = plan(fabric, collective, group);
                EXPECT_EQ(fastest_algorithm(fabric, collective, group), whole.algorithm);
                if (fanout.copies > 1) continue;
                const CollectivePlan one =
                    plans_of_sizes(fabric, kind, std::vector<Bytes>{{bytes}}, group, nullptr).front();
                expect_same(fabric, one, whole);
                for (std::size_t p = 0; p < one.phases.size(); ++p)
                  smaller += one.phases[p].loads.size() < whole.phases[p].loads.size();
              }
      }
  EXPECT_GT(smaller, 1000);
}

TEST(EvenGroup, each_algorithm_takes_as_long_as_the_plan_of_all_its_loads) {
  int closed_forms = 0;
  for (const int domains : {2, 3, 5, 7, 8, 16, 21})
    for (const Algorithm algorithm :
         {Algorithm::kRing, Algorithm::kBidirectionalRing, Algorithm::kHierarchical, Algorithm::kDirect,
          Algorithm::kTree, Algorithm::kNvlsTree})
      for (const int step : {1, 2, 4})
        for (const CollectiveKind kind : kKinds)
          for (const Fanout& fanout : {Fanout{}, Fanout{.copies = 4, .most_blocks = 2}}) {
            if (fanout.copies > 1 && kind != CollectiveKind::kAllToAll) continue;
            const Collective collective{kind, {1e6}, {}, fanout};
            FabricSpec spec = tree_spec(domains, 4, false);
            spec.gpu->nvls = true;
            const Fabric fabric = build_fabric_by_rule(spec);
            const std::vector<ChipId> group = every(fabric, step);
            const auto even = EvenGroup::of(fabric, group);
            ASSERT_TRUE(even);
            const auto phases = even->plan(algorithm, collective);
            const auto whole = plan_with(algorithm, fabric, collective, group);
            if (!phases) continue;
            ++closed_forms;
            ASSERT_TRUE(whole);
            ASSERT_EQ(phases->size(), whole->phases.size());
            for (std::size_t p = 0; p < phases->size(); ++p)
              for (const LinkLoad& load : (*phases)[p].loads) {
                const Link& link = fabric.cable(load.link);
                const double share =
                    share_sustained(*fabric.library, protocol_of_largest(kind, algorithm), link.kind);
                EXPECT_EQ(load.bytes / share, busiest_bytes(fabric, whole->phases[p], link.kind));
              }
          }
  EXPECT_GT(closed_forms, 200);
}

TEST(EvenGroup, loads_of_one_chip_and_of_all_switches_are_those_of_the_plan) {
  int trunks = 0;
  for (const int per_domain : {1, 2, 4})
    for (const bool rails : {false, true})
      for (const int domains : {2, 3, 8, 11, 16}) {
        const Fabric fabric = build_fabric_by_rule(tree_spec(domains, per_domain, rails));
        for (const int step : {1, 2, 4, 8})
          for (const CollectiveKind kind : kKinds)
            for (const Algorithm algorithm : {Algorithm::kRing, Algorithm::kBidirectionalRing,
                                              Algorithm::kHierarchical, Algorithm::kDirect}) {
              const std::vector<ChipId> group = every(fabric, step, step > 1);
              if (strided(fabric, step, step > 1).list() != group) continue;  // the last row is cut
              const auto even =
                  plan_evenly(algorithm, fabric, {kind, {1e6}}, strided(fabric, step, step > 1));
              if (!even) continue;
              const auto whole = plan_with(algorithm, fabric, {kind, {1e6}}, group);
              ASSERT_TRUE(whole);
              expect_same(fabric, even->plan, *whole);
              for (std::size_t p = 0; p < whole->phases.size(); ++p) {
                const Phase& phase = even->plan.phases[p];
                const std::vector<LinkLoad> loads = trunk_loads(fabric, *even, phase);
                std::ptrdiff_t between_switches = 0;
                for (const LinkLoad& load : whole->phases[p].loads) {
                  const LinkKind link = fabric.cable(load.link).kind;
                  const bool trunk = link == LinkKind::kTrunk;
                  const auto same =
                      std::ranges::find_if(trunk ? loads : phase.loads, [&](const LinkLoad& other) {
                        return trunk ? other.link == load.link : fabric.cable(other.link).kind == link;
                      });
                  ASSERT_NE(same, (trunk ? loads : phase.loads).end());
                  EXPECT_EQ(same->bytes, load.bytes);
                  between_switches += trunk;
                }
                EXPECT_EQ(std::ssize(loads), between_switches);
                trunks += static_cast<int>(between_switches);
              }
            }
      }
  EXPECT_GT(trunks, 100);
}

TEST(EvenGroup, has_as_many_members_in_each_of_several_domains) {
  const Fabric fabric = build_fabric_by_rule(tree_spec(4, 4, false));
  const auto is_even = [&](const std::vector<ChipId>& group) {
    return EvenGroup::of(fabric, group).has_value();
  };
  EXPECT_TRUE(is_even({0, 1, 4, 5}));
  EXPECT_TRUE(is_even({3, 4, 9}));
  EXPECT_FALSE(is_even({0}));
  EXPECT_FALSE(is_even({0, 1, 4}));
  EXPECT_FALSE(is_even({0, 1, 4, 8}));
  EXPECT_FALSE(is_even({0, 1, 2, 3}));
  EXPECT_FALSE(is_even({4, 5, 0, 1}));
}

TEST(EvenGroup, of_rows_is_that_of_their_list) {
  int even = 0, uneven = 0;
  for (const int per_domain : {1, 2, 4})
    for (const int domains : {2, 3, 8, 11}) {
      const Fabric fabric = build_fabric_by_rule(tree_spec(domains, per_domain, true));
      for (const ChipId stride : {per_domain, 2 * per_domain, 3})
        for (const ChipId first : {0, 1})
          for (const std::vector<ChipId>& offsets : {std::vector<ChipId>{0}, {0, 1}, {0, 2}, {0, 1, 4}})
            for (const std::int32_t rows : {1, 2, 4}) {
              if (rows > 1 && offsets.back() >= stride) continue;
              const StridedGroup group({first}, rows, stride, offsets);
              if (group.back() >= fabric.chips) continue;
              const std::vector<ChipId> list = group.list();
              const auto told = EvenGroup::of(fabric, group), listed = EvenGroup::of(fabric, list);
              if (stride % per_domain == 0 || rows == 1)
                ASSERT_EQ(told.has_value(), listed.has_value());
              else
                ASSERT_LE(told.has_value(), listed.has_value());
              ++(told ? even : uneven);
              if (!told) continue;
              for (const GroupShape& shape : {told->shape(), listed->shape()}) {
                const GroupShape expected = shape_of(fabric, list);
                EXPECT_EQ(shape.ranks, expected.ranks);
                EXPECT_EQ(shape.domains, expected.domains);
                EXPECT_EQ(shape.members, expected.members);
                EXPECT_EQ(shape.inside, expected.inside);
                EXPECT_EQ(shape.across, expected.across);
              }
              const Collective collective{CollectiveKind::kAllReduce, {1e6}};
              EXPECT_EQ(fastest_algorithm(fabric, collective, group),
                        fastest_algorithm(fabric, collective, list));
            }
    }
  EXPECT_GT(even, 50);
  EXPECT_GT(uneven, 50);
}

TEST(EvenGroup, an_algorithm_that_it_tells_of_applies_where_it_has_a_plan) {
  for (const bool reduces : {false, true})
    for (const int step : {1, 2, 4}) {
      FabricSpec spec = tree_spec(6, 4, true);
      spec.gpu->nvls = spec.gpu->sharp = reduces;
      const Fabric fabric = build_fabric_by_rule(spec);
      const std::vector<ChipId> group = every(fabric, step);
      const auto even = EvenGroup::of(fabric, group);
      ASSERT_TRUE(even);
      for (const CollectiveKind kind : kKinds)
        for (int a = 0; a <= static_cast<int>(Algorithm::kSharp); ++a) {
          const auto algorithm = static_cast<Algorithm>(a);
          const Collective collective{kind, {1e6}};
          if (!even->tells(algorithm, collective)) continue;
          EXPECT_EQ(even->plan(algorithm, collective).has_value(),
                    plan_with(algorithm, fabric, collective, group).has_value())
              << to_string(algorithm) << " of " << to_string(kind);
        }
    }
}

TEST(EvenGroup, has_no_closed_form_of_broadcasts_pairs_and_absent_switches) {
  const Fabric fabric = build_fabric_by_rule(tree_spec(4, 4, false));
  const auto even = EvenGroup::of(fabric, all_chips(fabric));
  ASSERT_TRUE(even);
  EXPECT_TRUE(even->plan(Algorithm::kRing, {CollectiveKind::kAllReduce, {1e6}}));
  EXPECT_FALSE(even->plan(Algorithm::kNvlsTree, {CollectiveKind::kAllReduce, {1e6}}));
  EXPECT_FALSE(even->plan(Algorithm::kTree, {CollectiveKind::kBroadcast, {1e6}}));
  EXPECT_FALSE(even->plan(Algorithm::kRing, {CollectiveKind::kBroadcast, {1e6}}));
  EXPECT_FALSE(even->plan(Algorithm::kDirect, {CollectiveKind::kPermute, {1e6}}));
}

TEST(EvenGroup, is_none_where_switches_may_limit_or_latencies_are_of_the_plan) {
  const auto is_even = [](const Fabric& fabric) {
    return EvenGroup::of(fabric, all_chips(fabric)).has_value();
  };
  FabricSpec spec = tree_spec(8, 4, false);
  EXPECT_TRUE(is_even(build_fabric_by_rule(spec)));
  EXPECT_FALSE(is_even(build_fabric(spec)));  // its links are listed
  FabricSpec narrow = spec;
  narrow.gpu->tiers[0].oversubscription = 2;
  EXPECT_FALSE(is_even(build_fabric_by_rule(narrow)));
  spec.library.reset();
  EXPECT_FALSE(is_even(build_fabric_by_rule(spec)));
  EXPECT_FALSE(is_even(torus({4, 4, 1})));
}

TEST(PlansOfSizes, are_those_of_each_size_to_the_last_bit) {
  FabricSpec over_library = tree_spec(5, 4, false);
  over_library.gpu->nvls = true;
  for (const Fabric& fabric :
       {torus({4, 4, 2}), mesh({3, 5, 1}), multislice({2, 4, 1}, 3), gpus(24), build_fabric(over_library)})
    for (const int step : {1, 2, 4})
      for (const CollectiveKind kind : kKinds) {
        const std::vector<ChipId> group = every(fabric, step);
        const std::vector<Bytes> sizes = {{0x1p12}, {0x1p18}, {0x1p28}};
        const std::vector<CollectivePlan> plans = plans_of_sizes(fabric, kind, sizes, group, nullptr);
        ASSERT_EQ(plans.size(), sizes.size());
        for (std::size_t s = 0; s < sizes.size(); ++s) {
          const CollectivePlan alone = plan(fabric, {kind, sizes[s]}, group);
          expect_same(fabric, plans[s], alone);
          for (std::size_t p = 0; p < alone.phases.size(); ++p) {
            const std::vector<LinkLoad>&all = plans[s].phases[p].loads, &expected = alone.phases[p].loads;
            ASSERT_EQ(all.size(), expected.size());
            for (std::size_t l = 0; l < all.size(); ++l) {
              EXPECT_EQ(all[l].link, expected[l].link);
              EXPECT_EQ(all[l].bytes, expected[l].bytes);
            }
          }
        }
      }
}

}  // namespace
}  // namespace podsim::even_group_test
