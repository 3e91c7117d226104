// Tests of planned traffic: what is kept of the last plans is what would be planned anew.
#include "scheduler/traffic/traffic.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>

#include "collectives/collective.h"
#include "scheduler/folding/laid_job.h"
#include "scheduler/traffic/network_share.h"
#include "tests/scheduler/simulation/random_step.h"

namespace podsim::traffic_test {
namespace {

void expect_equal(const Traffic& a, const Traffic& b) {
  EXPECT_EQ(a.pattern_of, b.pattern_of);
  EXPECT_EQ(a.communicator_of, b.communicator_of);
  ASSERT_EQ(a.communicators.size(), b.communicators.size());
  for (std::size_t c = 0; c < a.communicators.size(); ++c) {
    EXPECT_EQ(a.communicators[c].form_of, b.communicators[c].form_of);
    EXPECT_EQ(a.communicators[c].links, b.communicators[c].links);
  }
  ASSERT_EQ(a.loads.size(), b.loads.size());
  for (std::size_t p = 0; p < a.loads.size(); ++p) {
    EXPECT_EQ(a.patterns[p].algorithm, b.patterns[p].algorithm);
    EXPECT_EQ(a.loads[p].first_phase, b.loads[p].first_phase);
    ASSERT_EQ(a.loads[p].uses.size(), b.loads[p].uses.size());
    for (std::size_t u = 0; u < a.loads[p].uses.size(); ++u) {
      ASSERT_EQ(a.loads[p].uses[u].resource, b.loads[p].uses[u].resource);
      ASSERT_EQ(a.loads[p].uses[u].usage, b.loads[p].uses[u].usage);
    }
    ASSERT_EQ(a.loads[p].phases.size(), b.loads[p].phases.size());
    for (std::size_t f = 0; f < a.loads[p].phases.size(); ++f) {
      EXPECT_EQ(a.loads[p].phases[f].latency, b.loads[p].phases[f].latency);
      EXPECT_EQ(a.loads[p].phases[f].work_per_byte, b.loads[p].phases[f].work_per_byte);
    }
  }
}

// The predicted time of the slowest group of an all-reduce over the data axis with these slow links.
struct SlowestTime {
  Algorithm algorithm;
  Time time;
};
SlowestTime all_reduce_beside(const FabricSpec& spec, Bytes bytes, const std::vector<SlowLink>& slow) {
  const Fabric fabric = with_slow_links(build_fabric(spec), slow);
  const Mesh mesh{{{"data", spec.chips / 8}, {"tensor", 8}}};
  const LaidMesh laid{mesh, place(fabric, mesh, {}), 1};
  const Traffic traffic = plan_traffic(fabric, {&laid, 1}, {{Scope{1}, CollectiveKind::kAllReduce, bytes}});
  SlowestTime slowest{traffic.patterns.front().algorithm, {}};
  for (const std::span<const ChipId> group : traffic.communicators.front().groups)
    slowest.time = std::max(
        slowest.time,
        predict(fabric, *plan_with(slowest.algorithm, fabric, {CollectiveKind::kAllReduce, bytes}, group)));
  return slowest;
}

TEST(PlanTraffic, a_slow_nic_leads_to_one_algorithm_in_whichever_group_it_lies) {
  const FabricSpec spec = testing::gpu_fabric(32, 8, 8);
  bool other_than_healthy = false;
  for (double bytes = 1e5; bytes < 1e9; bytes *= 2) {
    const Algorithm healthy = all_reduce_beside(spec, {bytes}, {}).algorithm;
    const SlowestTime first = all_reduce_beside(spec, {bytes}, {{0, LinkKind::kNic, 0.3}});
    other_than_healthy = other_than_healthy || first.algorithm != healthy;
    for (const ChipId chip : {1, 5, 7}) {
      const SlowestTime there = all_reduce_beside(spec, {bytes}, {{chip, LinkKind::kNic, 0.3}});
      EXPECT_EQ(there.algorithm, first.algorithm) << bytes << " bytes, chip " << chip;
      EXPECT_EQ(there.time, first.time) << bytes << " bytes, chip " << chip;
    }
  }
  EXPECT_TRUE(other_than_healthy);
}

TEST(PlanTraffic, a_second_slow_nic_makes_nothing_faster) {
  const FabricSpec spec = testing::gpu_fabric(32, 8, 8);
  for (double bytes = 1e5; bytes < 1e9; bytes *= 4)
    for (const ChipId chip : {0, 1, 7, 12, 31}) {
      const SlowLink slow{chip, LinkKind::kNic, 0.3};
      const Time alone = all_reduce_beside(spec, {bytes}, {slow}).time;
      for (const ChipId other : {0, 1, 9, 30}) {
        if (other == chip) continue;
        EXPECT_GE(all_reduce_beside(spec, {bytes}, {slow, {other, LinkKind::kNic, 0.3}}).time, alone)
            << bytes << " bytes, chips " << chip << " and " << other;
      }
    }
}

TEST(PlanTraffic, many_slow_nics_of_a_group_count_beside_the_slowest_one_of_another) {
  const FabricSpec spec = testing::gpu_fabric(96, 8, 8);
  const auto with_second_rail_at = [&](double factor, double bytes) {
    std::vector<SlowLink> slow = {{0, LinkKind::kNic, 0.5}};
    for (ChipId chip = 1; chip < spec.chips; chip += 8) slow.push_back({chip, LinkKind::kNic, factor});
    return all_reduce_beside(spec, {bytes}, slow).time;
  };
  for (double bytes = 1e5; bytes < 1e9; bytes *= 4)
    EXPECT_LE(with_second_rail_at(0.51, bytes), with_second_rail_at(0.499, bytes)) << bytes << " bytes";
}

TEST(TrafficPlans, whatever_changes_from_one_call_to_the_next_is_planned_anew) {
  const Fabric fabric = build_fabric(testing::gpu_fabric(32, 4, 8));
  const Fabric slowed = with_slow_links(fabric, std::vector<SlowLink>{{3, LinkKind::kNic, 0.5}});
  const auto laid = [&](const Mesh& mesh, double share) {
    return std::vector<LaidMesh>{{mesh, place(fabric, mesh, {}), share}};
  };
  const Mesh square{{{"data", 8}, {"tensor", 4}}}, oblong{{{"data", 4}, {"tensor", 8}}};
  const std::vector<CollectiveCall> reduce = {{Scope{1}, CollectiveKind::kAllReduce, {1e9}}},
                                    both = {{Scope{1}, CollectiveKind::kAllReduce, {1e9}},
                                            {Scope{2}, CollectiveKind::kAllGather, {1e6}}};
  TrafficPlans plans;
  const auto expect_planned = [&](const Fabric& on, const std::vector<LaidMesh>& jobs,
                                  const std::vector<CollectiveCall>& messages) {
    expect_equal(plans.plan(on, jobs, messages), plan_traffic(on, jobs, messages));
  };
  for (int again = 0; again < 2; ++again) {
    expect_planned(fabric, laid(square, 1), reduce);
    expect_planned(fabric, laid(square, 1), reduce);
    expect_planned(slowed, laid(square, 1), reduce);
    expect_planned(slowed, laid(square, 0.9), reduce);
    expect_planned(slowed, laid(oblong, 0.9), reduce);
    expect_planned(slowed, laid(oblong, 0.9), both);
  }
}

TEST(TrafficPlans, change_no_step_whatever_goes_wrong_in_it) {
  TrafficPlans plans;
  for (std::uint64_t round = 0; round < 40; ++round) {
    testing::Draw draw(round);
    testing::RandomJob random = testing::random_job(draw, 1, 4, 2);
    const FabricSpec spec = testing::gpu_fabric(8, 2, 4);
    const Fabric fabric = build_fabric(spec);
    const LaidJob job{random.spec, random.program, place(fabric, random.program.mesh, {})};
    for (const Adversities& adversities : {Adversities{}, testing::random_adversities(draw, spec)}) {
      const Fabric slowed = with_slow_links(fabric, slow_links(adversities.degradations));
      const System anew = assemble(slowed, {&job, 1}, adversities, true);
      const System kept = assemble(slowed, {&job, 1}, adversities, true, &plans);
      EXPECT_EQ(simulate(kept, {}).front().step_end, simulate(anew, {}).front().step_end) << round;
    }
  }
}

TEST(Scope, pairs_of_stages_are_those_of_the_other_direction_and_mirrored_ones_have_each_stage_once) {
  constexpr std::int64_t kStages = 6;
  const Scope next{.axes = 1, .neighbour = 1}, last{.axes = 1, .neighbour = -1};
  for (std::int64_t stage = 0; stage < next.pairs_of(kStages); ++stage)
    EXPECT_EQ(last.partner_of(next.partner_of(stage, kStages), kStages), stage);
  const Scope mirrored{.axes = 1, .mirrored = true};
  std::set<std::int64_t> seen;
  for (std::int64_t stage = 0; stage < mirrored.pairs_of(kStages); ++stage)
    for (const std::int64_t each : {stage, mirrored.partner_of(stage, kStages)})
      EXPECT_TRUE(seen.insert(each).second) << each;
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(kStages));
  EXPECT_TRUE(next.point_to_point() && next.of_pairs() && mirrored.of_pairs());
  EXPECT_FALSE(mirrored.point_to_point() || Scope{.axes = 1}.of_pairs());
}

TEST(NetworkShare, is_of_collectives_on_links_between_servers_alone) {
  const Scope collective{.axes = 1}, transfer{.axes = 1, .neighbour = 1};
  for (const LinkKind kind : {LinkKind::kNic, LinkKind::kTrunk, LinkKind::kNvlink, LinkKind::kIci}) {
    const bool between = kind == LinkKind::kNic || kind == LinkKind::kTrunk;
    EXPECT_EQ(share_of_link(kind, network_share_of(collective, 0.5)), between ? 0.5 : 1);
    EXPECT_EQ(share_of_link(kind, network_share_of(transfer, 0.5)), 1);
  }
}

}  // namespace
}  // namespace podsim::traffic_test
