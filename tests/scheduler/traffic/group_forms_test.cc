// Groups of one form: what is planned for one of them is planned for all, at the same places.
#include "scheduler/traffic/group_forms.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "collectives/collective.h"
#include "scheduler/folding/laid_job.h"
#include "scheduler/folding/system.h"
#include "scheduler/lowering/lower.h"
#include "tests/rounds.h"
#include "tests/scheduler/simulation/random_system.h"

namespace podsim::group_forms_test {
namespace {

using testing::Draw;
using Group = std::vector<ChipId>;

// Servers with NVSwitches or cabled pair by pair, the last one not always whole, below up to three tiers;
// some links are slow.
Fabric random_servers(Draw& draw) {
  const int per_domain = 1 << draw.below(4);
  const bool rails = draw.below(2);
  FabricSpec spec = testing::gpu_fabric(per_domain * (4 + draw.below(12)) - draw.below(per_domain),
                                        per_domain, (rails ? 1 : per_domain) * (1 + draw.below(4)));
  spec.gpu->rail_optimised = rails;
  spec.gpu->nvls = draw.below(2);
  spec.gpu->nvlink_mesh = per_domain > 1 && draw.below(3) == 0;
  if (spec.gpu->nvlink_mesh) spec.gpu->nvls = false;
  spec.gpu->sharp = draw.below(2);
  if (draw.below(2)) spec.gpu->tiers = {spec.gpu->tiers[0], {2 + draw.below(3), 1}, {1024, 1}};
  if (draw.below(2)) spec.gpu->tiers[0].oversubscription = 1 + draw.below(3);
  std::vector<SlowLink> slow;
  for (int i = draw.below(3); i > 0; --i)
    slow.push_back({draw.below(spec.chips), LinkKind::kNic, 0.25 + 0.5 * draw.real()});
  return with_slow_links(build_fabric(spec), slow);
}

// Equal steps between members, or any.
Group random_group(Draw& draw, const Fabric& fabric) {
  const int step = 1 + draw.below(2) * draw.below(fabric.chips / 2);
  const bool even = draw.below(3) > 0;
  std::set<ChipId> members;
  for (ChipId chip = draw.below(fabric.chips); chip < fabric.chips && members.size() < 16;)
    members.insert(chip), chip += even ? step : 1 + draw.below(6);
  return {members.begin(), members.end()};
}

Group shifted(const Group& group, int by) {
  Group result;
  for (const ChipId chip : group) result.push_back(chip + by);
  return result;
}

void expect_alike(const Fabric& fabric, const Group& group, const Group& other) {
  GroupForms at_group(fabric), at_other(fabric);
  at_group.look(group);
  at_other.look(other);
  ASSERT_EQ(at_group.form(), at_other.form());
  for (const CollectiveKind kind :
       {CollectiveKind::kAllReduce, CollectiveKind::kAllGather, CollectiveKind::kReduceScatter,
        CollectiveKind::kAllToAll, CollectiveKind::kBroadcast, CollectiveKind::kPermute}) {
    for (int a = 0; a <= static_cast<int>(kLastAlgorithm); ++a) {
      const auto algorithm = static_cast<Algorithm>(a);
      const Collective unit{kind, {1.0}};
      const auto plan = plan_with(algorithm, fabric, unit, group),
                 same = plan_with(algorithm, fabric, unit, other);
      ASSERT_EQ(plan.has_value(), same.has_value()) << to_string(kind) << " " << to_string(algorithm);
      if (!plan) continue;
      ASSERT_EQ(plan->phases.size(), same->phases.size());
      for (std::size_t f = 0; f < plan->phases.size(); ++f) {
        const Phase &phase = plan->phases[f], &again = same->phases[f];
        ASSERT_EQ(phase.latency, again.latency) << to_string(kind) << " " << to_string(algorithm);
        ASSERT_EQ(phase.ramp, again.ramp);
        ASSERT_EQ(phase.loads.size(), again.loads.size());
        std::map<LinkId, double> loads;
        for (const LinkLoad& load : again.loads) loads[load.link] = load.bytes;
        for (const LinkLoad& load : phase.loads) {
          const LinkId link = at_other.at(at_group.place_of(load.link));
          ASSERT_EQ(load.bytes, loads.at(link)) << to_string(kind) << " " << to_string(algorithm);
        }
      }
    }
  }
}

TEST(GroupForms, groups_of_one_form_have_the_same_plans_on_1000_random_networks) {
  int alike = 0, told_apart = 0;
  for (int round = 0; round < testing::rounds(1000); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    Draw draw(round);
    const Fabric fabric = random_servers(draw);
    const Group group = random_group(draw, fabric);
    GroupForms forms(fabric);
    forms.look(group);
    const std::vector<std::int32_t> form = forms.form();
    for (int by = -group.front(); group.back() + by < fabric.chips; by += 1 + draw.below(3)) {
      const Group other = shifted(group, by);
      forms.look(other);
      told_apart += forms.form() != form;
      if (by == 0 || forms.form() != form) continue;
      ++alike;
      ASSERT_NO_FATAL_FAILURE(expect_alike(fabric, group, other));
    }
  }
  EXPECT_GT(alike, testing::rounds(1000));
  EXPECT_GT(told_apart, testing::rounds(1000));
}

TEST(GroupForms, tell_groups_by_slow_links_of_their_members_alone) {
  const Fabric fabric = with_slow_links(build_fabric(testing::gpu_fabric(32, 4, 8)),
                                        std::vector<SlowLink>{{5, LinkKind::kNic, 0.5}});
  GroupForms forms(fabric);
  const auto form = [&](const Group& group) {
    forms.look(group);
    return forms.form();
  };
  EXPECT_EQ(form({0, 8}), form({16, 24}));
  EXPECT_EQ(form({0, 4}), form({8, 12}));
  EXPECT_NE(form({1, 5}), form({9, 13}));
}

TEST(GroupForms, tell_groups_by_the_lowest_switch_above_them) {
  FabricSpec spec = testing::gpu_fabric(64, 2, 8);
  spec.gpu->rail_optimised = false;
  spec.gpu->tiers = {{8, 1}, {2, 1}, {1024, 1}};
  const Fabric fabric = build_fabric(spec);
  GroupForms forms(fabric);
  const auto form = [&](const Group& group) {
    forms.look(group);
    return forms.form();
  };
  EXPECT_EQ(form({0, 4}), form({1, 5})) << "one leaf";
  EXPECT_NE(form({0, 4}), form({4, 8})) << "two leaves of one spine";
  EXPECT_EQ(form({4, 8}), form({20, 24}));
  EXPECT_NE(form({4, 8}), form({12, 16})) << "two spines";
}

// What a group puts on each link in each phase of each pattern, by what it is.
using Carried = std::vector<std::tuple<Time, double, std::map<LinkId, std::int64_t>>>;

Carried carried_by(const Traffic& traffic, std::size_t p, std::size_t g) {
  const Communicator& communicator =
      traffic.communicators[static_cast<std::size_t>(traffic.patterns[p].communicator)];
  Carried carried;
  for (const PhaseTraffic& phase :
       traffic.loads[p].of_form(static_cast<std::size_t>(communicator.form_of[g]))) {
    auto& [latency, work, usages] = carried.emplace_back();
    latency = phase.latency;
    work = phase.work_per_byte;
    for (const Use& use : traffic.loads[p].of_phase(phase))
      usages[communicator.links_of(g)[static_cast<std::size_t>(use.resource)]] += use.usage;
  }
  return carried;
}

TEST(Traffic, planned_once_for_each_form_is_that_planned_group_by_group_on_1000_random_systems) {
  int fewer = 0;
  for (int round = 0; round < testing::rounds(1000); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const testing::RandomSystem random = testing::random_system(round);
    const Fabric fabric = with_slow_links(random.fabric, slow_links(random.adversities.degradations));
    for (const LaidJob& job : random.jobs) {
      const LaidMesh laid{job.program.mesh, job.placement, 0.9};
      const std::vector<CollectiveCall> messages = lower(job.program, job.spec, true).messages;
      const Traffic once = plan_traffic(fabric, {&laid, 1}, messages),
                    each = plan_traffic(fabric, {&laid, 1}, messages, nullptr, true);
      ASSERT_EQ(once.pattern_of, each.pattern_of);
      for (std::size_t p = 0; p < once.patterns.size(); ++p) {
        const auto c = static_cast<std::size_t>(once.patterns[p].communicator);
        const std::size_t groups = once.communicators[c].groups.size();
        ASSERT_EQ(each.loads[p].forms(), groups);
        fewer += once.loads[p].forms() < groups;
        for (std::size_t g = 0; g < groups; ++g) ASSERT_EQ(carried_by(once, p, g), carried_by(each, p, g));
      }
    }
  }
  EXPECT_GT(fewer, testing::rounds(1000) / 10) << "forms that are all different prove nothing";
}

}  // namespace
}  // namespace podsim::group_forms_test
