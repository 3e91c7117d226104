// Tests of the choice among algorithms, of names, and of the form every plan has.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tests/collectives/fabrics.h"

namespace podsim::choose_test {
namespace {

constexpr CollectiveKind kAllReduce = CollectiveKind::kAllReduce;

TEST(Choice, large_messages_take_the_multi_ring_on_a_torus) {
  const Fabric fabric = torus({8, 8, 8});
  EXPECT_EQ(plan(fabric, {kAllReduce, {1e9}}, all_chips(fabric)).algorithm, Algorithm::kTorus);
}

TEST(Choice, a_domain_with_reducing_switches_uses_them) {
  const Fabric fabric = gpus(8, 8, true);
  EXPECT_EQ(plan(fabric, {kAllReduce, {1e9}}, all_chips(fabric)).algorithm, Algorithm::kNvls);
}

TEST(Choice, small_messages_avoid_the_many_steps_of_a_ring) {
  const Fabric fabric = gpus(512);
  const auto group = all_chips(fabric);
  const auto small = plan(fabric, {kAllReduce, {1e3}}, group);
  const auto ring = plan_with(Algorithm::kRing, fabric, {kAllReduce, {1e3}}, group);
  EXPECT_LT(10 * predict(fabric, small).ps, predict(fabric, *ring).ps);
}

TEST(Choice, no_applicable_algorithm_is_faster) {
  const Fabric fabric = gpus(32, 8, true);
  for (const double bytes : {0.0, 1e3, 1e6, 1e9, 1e12})
    for (const int ranks : {2, 3, 8, 16, 32}) {
      const auto chosen = plan(fabric, {kAllReduce, {bytes}}, first_chips(ranks));
      for (int a = 0; a <= static_cast<int>(kLastAlgorithm); ++a) {
        const auto other =
            plan_with(static_cast<Algorithm>(a), fabric, {kAllReduce, {bytes}}, first_chips(ranks));
        if (other) {
          EXPECT_LE(predict(fabric, chosen), predict(fabric, *other)) << bytes << ' ' << ranks << ' ' << a;
        }
      }
    }
}

void expect_equal(const CollectivePlan& a, const CollectivePlan& b) {
  EXPECT_EQ(a.launch, b.launch);
  ASSERT_EQ(a.phases.size(), b.phases.size());
  for (std::size_t p = 0; p < a.phases.size(); ++p) {
    EXPECT_EQ(a.phases[p].latency, b.phases[p].latency);
    ASSERT_EQ(a.phases[p].loads.size(), b.phases[p].loads.size());
    for (std::size_t l = 0; l < a.phases[p].loads.size(); ++l) {
      ASSERT_EQ(a.phases[p].loads[l].link, b.phases[p].loads[l].link);
      ASSERT_EQ(a.phases[p].loads[l].bytes, b.phases[p].loads[l].bytes);
    }
  }
}

TEST(Choice, kinds_and_sizes_that_are_planned_one_after_another_are_as_planned_alone) {
  const Fabric fabric = gpus(32, 8, true);
  for (const int ranks : {1, 2, 6, 8, 16, 32}) {
    const auto group = first_chips(ranks);
    GroupPlanner planner(fabric, group);
    for (const double bytes : {1e6, 1e6, 3e9})
      for (const CollectiveKind kind :
           {kAllReduce, CollectiveKind::kAllGather, CollectiveKind::kReduceScatter, CollectiveKind::kAllToAll,
            kAllReduce})
        for (int a = 0; a <= static_cast<int>(kLastAlgorithm); ++a) {
          const auto algorithm = static_cast<Algorithm>(a);
          const auto planned = planner.plan_with(algorithm, {kind, {bytes}});
          const auto alone = plan_with(algorithm, fabric, {kind, {bytes}}, group);
          ASSERT_EQ(planned.has_value(), alone.has_value()) << to_string(algorithm);
          if (planned) expect_equal(*planned, *alone);
        }
  }
}

TEST(Choice, ties_go_to_the_first_algorithm) {
  const Fabric fabric = gpus(8);
  EXPECT_EQ(plan(fabric, {kAllReduce, {1e9}}, first_chips(2)).algorithm, Algorithm::kRing);
}

TEST(Choice, every_kind_has_a_plan_on_every_fabric) {
  for (const Fabric& fabric :
       {torus({4, 2, 1}), mesh({4, 2, 1}), gpus(8), gpus(16), gpus(4, 1), multislice({4, 1, 1}, 2)})
    for (int kind = 0; kind <= static_cast<int>(CollectiveKind::kBarrier); ++kind) {
      const Collective collective = {static_cast<CollectiveKind>(kind), {1e6}};
      const auto group = collective.kind == CollectiveKind::kSendReceive ? first_chips(2) : all_chips(fabric);
      EXPECT_GT(predict(fabric, plan(fabric, collective, group)), Time{});
    }
}

TEST(Plan, of_one_chip_is_empty_and_takes_no_time) {
  FabricSpec spec = gpu_spec(8);
  spec.collective_launch = Time::seconds(1e-5);
  const Fabric fabric = build_fabric(spec);
  for (int kind = 0; kind <= static_cast<int>(CollectiveKind::kBarrier); ++kind) {
    const auto alone = plan(fabric, {static_cast<CollectiveKind>(kind), {1e6}}, std::vector<ChipId>{3});
    EXPECT_TRUE(alone.phases.empty());
    EXPECT_EQ(predict(fabric, alone), Time{});
  }
}

TEST(Plan, starts_with_the_launch_cost_of_the_fabric) {
  FabricSpec spec = gpu_spec(8);
  const Fabric fast = build_fabric(spec);
  spec.collective_launch = Time::seconds(1e-5);
  const Fabric slow = build_fabric(spec);
  const Collective collective = {kAllReduce, {1e6}};
  EXPECT_EQ(predict(slow, plan(slow, collective, all_chips(slow))),
            predict(fast, plan(fast, collective, all_chips(fast))) + Time::seconds(1e-5));
}

TEST(Plan, of_no_bytes_is_latency_only) {
  const Fabric fabric = torus({4, 4, 1});
  for (int a = 0; a <= static_cast<int>(kLastAlgorithm); ++a) {
    const auto empty = plan_with(static_cast<Algorithm>(a), fabric, {kAllReduce, {}}, all_chips(fabric));
    if (!empty) continue;
    for (const Phase& phase : empty->phases) EXPECT_TRUE(phase.loads.empty());
    EXPECT_GT(predict(fabric, *empty), Time{});
  }
}

TEST(Names, differ_for_every_kind_and_algorithm) {
  std::set<std::string_view> names;
  for (int i = 0; i < 8; ++i) {
    names.insert(to_string(static_cast<CollectiveKind>(i)));
    names.insert(to_string(static_cast<Algorithm>(i)));
  }
  EXPECT_EQ(names.size(), 16u);
  EXPECT_EQ(to_string(CollectiveKind::kAllReduce), "all-reduce");
  EXPECT_EQ(to_string(Algorithm::kBidirectionalRing), "bidirectional-ring");
}

}  // namespace
}  // namespace podsim::choose_test
