// Which links of a fat-tree never limit, and that leaving them out changes no time.
#include "scheduler/traffic/nonbinding_links.h"

#include <gtest/gtest.h>

#include "scheduler/folding/laid_job.h"
#include "tests/scheduler/simulation/random_step.h"
#include "topology/failures.h"

namespace podsim::nonbinding_links_test {
namespace {

using testing::collective;

// 32 servers of two GPUs below eight leaves and four spines.
FabricSpec tree_spec(double oversubscription) {
  FabricSpec spec = testing::gpu_fabric(64, 2, 8);
  spec.gpu->rail_optimised = false;
  spec.gpu->tiers = {{8, oversubscription}, {2, 1}, {1024, 1}};
  return spec;
}

// Rings of 32 GPUs of all servers.
std::vector<bool> nonbinding_of(const Fabric& fabric, CollectiveKind kind = CollectiveKind::kAllReduce) {
  const Mesh mesh{{{"data", fabric.chips / 2}, {"tensor", 2}}};
  const LaidMesh laid{mesh, place(fabric, mesh, {})};
  return find_nonbinding_links(fabric, plan_traffic(fabric, {&laid, 1}, {{Scope{1}, kind, {1e9}}}));
}

int count(const Fabric& fabric, const std::vector<bool>& nonbinding, LinkKind kind, bool value) {
  int found = 0;
  for (std::size_t l = 0; l < nonbinding.size(); ++l)
    found += fabric.links[l].kind == kind && nonbinding[l] == value;
  return found;
}

TEST(NonbindingLinks, all_links_between_switches_of_a_tree_without_oversubscription_are_slack) {
  const Fabric fabric = build_fabric(tree_spec(1));
  for (const CollectiveKind kind : {CollectiveKind::kAllReduce, CollectiveKind::kAllToAll}) {
    const std::vector<bool> nonbinding = nonbinding_of(fabric, kind);
    EXPECT_EQ(count(fabric, nonbinding, LinkKind::kTrunk, true), 2 * (8 + 4));
    EXPECT_EQ(count(fabric, nonbinding, LinkKind::kNic, true), 0);
    EXPECT_EQ(count(fabric, nonbinding, LinkKind::kNvlink, true), 0);
  }
}

TEST(NonbindingLinks, uplinks_of_an_oversubscribed_tier_may_limit_and_those_above_it_may_not) {
  const Fabric fabric = build_fabric(tree_spec(2));
  EXPECT_EQ(count(fabric, nonbinding_of(fabric), LinkKind::kTrunk, true), 2 * 4);
}

TEST(NonbindingLinks, none_is_where_each_flow_takes_one_of_several_switches) {
  FabricSpec spec = tree_spec(1);
  spec.routing = Routing::kEcmp;
  const Fabric fabric = build_fabric(spec);
  EXPECT_EQ(count(fabric, nonbinding_of(fabric), LinkKind::kTrunk, true), 0);
}

TEST(NonbindingLinks, uplinks_that_have_lost_a_switch_may_limit) {
  const Failure spine = FailedSwitch{NodeKind::kSpine, 0};
  const Fabric fabric = with_failures(build_fabric(tree_spec(1)), {&spine, 1});
  EXPECT_EQ(count(fabric, nonbinding_of(fabric), LinkKind::kTrunk, false), 2 * 2);
}

TEST(NonbindingLinks, links_of_a_torus_may_all_limit) {
  const Fabric fabric = build_fabric(testing::ring_fabric(16));
  EXPECT_EQ(count(fabric, nonbinding_of(fabric), LinkKind::kIci, true), 0);
}

// The same system with every link as one that may limit.
System with_all_limits(System system) {
  for (GroupClass& group : system.groups)
    for (std::vector<ClassPhase>& phases : group.patterns)
      for (ClassPhase& phase : phases) {
        phase.uses.insert(phase.uses.end(), phase.nonbinding_uses.begin(), phase.nonbinding_uses.end());
        phase.nonbinding_uses.clear();
      }
  system.limiting_links = static_cast<std::int32_t>(system.links.size());
  return system;
}

TEST(NonbindingLinksLaw, steps_take_as_long_as_when_slack_links_count) {
  for (int round = 0; round < 50; ++round) {
    testing::Draw draw(round);
    const testing::RandomJob job = testing::random_job(draw, 4, 4, 4);
    const Fabric fabric = build_fabric(tree_spec(1));
    const auto nonbinding = testing::simulate_step(job.spec, job.program, fabric, false);
    ASSERT_EQ(nonbinding.system.links.size() - nonbinding.system.limiting_links, 2u * (8 + 4));
    const Timeline counted = simulate(with_all_limits(nonbinding.system), {}).front();
    ASSERT_EQ(nonbinding.timeline.step_end, counted.step_end) << "round " << round;
  }
}

}  // namespace
}  // namespace podsim::nonbinding_links_test
