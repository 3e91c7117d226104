// Folding by orbits against folding by every chip, group and link.
#include "scheduler/folding/fold_orbits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/collectives/protocols.h"
#include "tests/rounds.h"
#include "tests/scheduler/simulation/random_system.h"

namespace podsim::fold_orbits_test {
namespace {

using testing::Draw;

// A mesh of pipeline, data and inner axes, in any order, that fills servers below two to four tiers.
struct Drawn {
  FabricSpec fabric;
  Mesh mesh;
  int pipeline_axis = -1;
  std::vector<CollectiveCall> messages;
};

FabricSpec random_servers(Draw& draw, int chips, int per_domain) {
  const bool rails = draw.below(2);
  FabricSpec spec = testing::gpu_fabric(chips, per_domain, (rails ? 1 : per_domain) * (1 << draw.below(4)));
  spec.gpu->rail_optimised = rails;
  spec.gpu->nvls = draw.below(2);
  spec.gpu->sharp = draw.below(4) == 0;
  while (spec.gpu->tiers.size() < 4 && draw.below(2))
    spec.gpu->tiers.insert(spec.gpu->tiers.end() - 1, {2 + draw.below(4), 1});
  if (draw.below(8) == 0) spec.gpu->tiers[0].oversubscription = 2;
  if (draw.below(2)) spec.library = some_protocols::library();
  return spec;
}

Drawn random_job(Draw& draw) {
  Drawn job;
  const int stages = 1 << draw.below(4), inner = 1 << draw.below(4), per_domain = 1 << draw.below(4);
  const int replicas = 16 * (1 + draw.below(6)) / std::max(1, draw.below(3)) / 2 * 2;
  job.mesh.axes = {{"pipeline", stages}, {"data", replicas}, {"tensor", inner}};
  if (draw.below(3) == 0) std::swap(job.mesh.axes[0], job.mesh.axes[2]);
  if (draw.below(3) == 0) job.mesh.axes.insert(job.mesh.axes.begin() + draw.below(4), {"context", 2});
  if (stages > 1) job.pipeline_axis = job.mesh.find("pipeline");
  job.fabric = random_servers(draw, job.mesh.devices(), per_domain);
  const auto axis = [&](const char* name) {
    return job.mesh.find(name) < 0 ? AxisSet{0} : axis_bit(job.mesh.find(name));
  };
  constexpr CollectiveKind kKinds[] = {CollectiveKind::kAllReduce, CollectiveKind::kAllGather,
                                       CollectiveKind::kReduceScatter, CollectiveKind::kAllToAll,
                                       CollectiveKind::kBroadcast};
  const auto bytes = [&] { return Bytes{1024.0 * (1 << draw.below(16))}; };
  const AxisSet scopes[] = {axis("data"), axis("tensor"), axis("tensor") | axis("context"),
                            axis("data") | axis("context"), axis("data") | axis("tensor")};
  for (const AxisSet axes : scopes)
    if (axes != 0 && draw.below(2)) job.messages.push_back({{axes}, kKinds[draw.below(5)], bytes()});
  if (stages > 1) {
    const AxisSet along = axis("pipeline");
    for (const int neighbour : {1, -1})
      if (draw.below(3)) job.messages.push_back({{along, neighbour}, CollectiveKind::kSendReceive, bytes()});
    if (draw.below(3) == 0)
      job.messages.push_back({{along, 0, 0, true}, CollectiveKind::kAllReduce, bytes()});
  }
  if (job.messages.empty()) job.messages.push_back({{axis("data")}, CollectiveKind::kAllReduce, bytes()});
  return job;
}

LoweredStep step_of(const Drawn& job) {
  LoweredStep step;
  step.messages = job.messages;
  return step;
}

System fold_all(const Fabric& fabric, const LaidMesh& laid, const Drawn& job) {
  std::vector<int> program_of(static_cast<std::size_t>(fabric.chips), 0);
  if (job.pipeline_axis >= 0)
    for (const std::span<const ChipId> line :
         groups_along(laid.mesh, laid.placement, axis_bit(job.pipeline_axis)))
      for (std::size_t stage = 0; stage < line.size(); ++stage)
        program_of[static_cast<std::size_t>(line[stage])] = static_cast<int>(stage);
  const Traffic traffic = plan_traffic(fabric, {&laid, 1}, job.messages);
  const std::vector<double> speed_of(program_of.size(), 1);
  return fold(fabric, {laid.mesh}, step_of(job), traffic, {program_of, speed_of, {}, {}});
}

void expect_uses(const std::vector<Use>& a, const std::vector<Use>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].resource, b[i].resource);
    ASSERT_EQ(a[i].usage, b[i].usage);
  }
}

void expect_chips(const System& orbits, const System& all) {
  ASSERT_EQ(orbits.chips.size(), all.chips.size());
  for (std::size_t c = 0; c < all.chips.size(); ++c) {
    const ChipClass &a = orbits.chips[c], &b = all.chips[c];
    ASSERT_EQ(a.representative, b.representative);
    ASSERT_EQ(a.chips, b.chips);
    ASSERT_EQ(a.program, b.program);
    ASSERT_EQ(a.speed, b.speed);
    ASSERT_EQ(a.group_class, b.group_class);
    ASSERT_EQ(a.group_class_destination, b.group_class_destination);
  }
}

void expect_groups(const System& orbits, const System& all) {
  ASSERT_EQ(orbits.groups.size(), all.groups.size());
  for (std::size_t g = 0; g < all.groups.size(); ++g) {
    const GroupClass &a = orbits.groups[g], &b = all.groups[g];
    ASSERT_EQ(a.communicator, b.communicator);
    ASSERT_EQ(a.groups, b.groups);
    ASSERT_EQ(a.members, b.members);
    ASSERT_EQ(a.patterns.size(), b.patterns.size());
    for (std::size_t p = 0; p < b.patterns.size(); ++p) {
      ASSERT_EQ(a.patterns[p].size(), b.patterns[p].size());
      for (std::size_t f = 0; f < b.patterns[p].size(); ++f) {
        const ClassPhase &x = a.patterns[p][f], &y = b.patterns[p][f];
        ASSERT_EQ(x.latency, y.latency);
        ASSERT_EQ(x.ramp, y.ramp);
        ASSERT_EQ(x.work_per_byte, y.work_per_byte);
        ASSERT_NO_FATAL_FAILURE(expect_uses(x.uses, y.uses));
        ASSERT_NO_FATAL_FAILURE(expect_uses(x.nonbinding_uses, y.nonbinding_uses));
      }
    }
  }
}

void expect_equal(const System& orbits, const System& all) {
  ASSERT_NO_FATAL_FAILURE(expect_chips(orbits, all));
  ASSERT_EQ(orbits.limiting_links, all.limiting_links);
  ASSERT_EQ(orbits.links.size(), all.links.size());
  for (std::size_t l = 0; l < all.links.size(); ++l) {
    ASSERT_EQ(orbits.links[l].kind, all.links[l].kind);
    ASSERT_EQ(orbits.links[l].bandwidth, all.links[l].bandwidth);
    ASSERT_EQ(orbits.links[l].links, all.links[l].links);
  }
  ASSERT_NO_FATAL_FAILURE(expect_groups(orbits, all));
  ASSERT_EQ(orbits.pattern_of, all.pattern_of);
  ASSERT_EQ(orbits.communicator_of, all.communicator_of);
  ASSERT_EQ(orbits.patterns.size(), all.patterns.size());
  for (std::size_t p = 0; p < all.patterns.size(); ++p)
    ASSERT_EQ(orbits.patterns[p].algorithm, all.patterns[p].algorithm);
  ASSERT_EQ(chip_classes(orbits), chip_classes(all));
  ASSERT_EQ(link_classes(orbits), link_classes(all));
}

TEST(FoldOrbits, give_the_system_of_all_chips_groups_and_links_on_1000_random_jobs) {
  int by_orbits = 0, several_runs = 0;
  for (int round = 0; round < testing::rounds(1000); ++round) {
    Draw draw(static_cast<std::uint64_t>(round));
    const Drawn job = random_job(draw);
    SCOPED_TRACE("round " + std::to_string(round) + ", " + std::to_string(job.fabric.chips) + " chips");
    if (!explain_invalid(job.fabric).empty()) continue;
    const Fabric told = build_fabric_by_rule(job.fabric), fabric = build_fabric(job.fabric);
    const LaidMesh laid{job.mesh, place(fabric, job.mesh, {}), draw.below(2) ? 1 : 0.5};
    LoweredStep step = step_of(job);
    const std::optional<System> orbits = fold_orbits(told, laid, job.pipeline_axis, step);
    if (!orbits) {
      ASSERT_EQ(step.messages, job.messages);
      continue;
    }
    ++by_orbits;
    const System all = fold_all(fabric, laid, job);
    several_runs += all.links.size() > 8;
    ASSERT_NO_FATAL_FAILURE(expect_equal(*orbits, all));
  }
  EXPECT_GT(by_orbits, testing::rounds(1000) / 2);
  EXPECT_GT(several_runs, testing::rounds(1000) / 4);
}

}  // namespace
}  // namespace podsim::fold_orbits_test
