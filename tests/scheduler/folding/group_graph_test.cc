// The graph of chips, groups and links: rounds find the partition that the worklist finds.
#include "scheduler/folding/group_graph.h"

#include <gtest/gtest.h>

#include <map>

#include "scheduler/folding/laid_job.h"
#include "scheduler/folding/system.h"
#include "scheduler/lowering/lower.h"
#include "scheduler/traffic/nonbinding_links.h"
#include "tests/rounds.h"
#include "tests/scheduler/simulation/random_system.h"

namespace podsim::group_graph_test {
namespace {

// Classes numbered in the order of their first members.
std::vector<std::int32_t> in_order(const std::vector<std::int32_t>& classes) {
  std::map<std::int32_t, std::int32_t> number;
  std::vector<std::int32_t> result;
  for (const std::int32_t c : classes)
    result.push_back(number.try_emplace(c, static_cast<std::int32_t>(number.size())).first->second);
  return result;
}

void expect_equal(const VertexClasses& rounds, const VertexClasses& worklist) {
  ASSERT_EQ(in_order(rounds.chips), in_order(worklist.chips));
  ASSERT_EQ(in_order(rounds.links), in_order(worklist.links));
  ASSERT_EQ(rounds.groups.size(), worklist.groups.size());
  for (std::size_t c = 0; c < rounds.groups.size(); ++c)
    ASSERT_EQ(in_order(rounds.groups[c]), in_order(worklist.groups[c]));
}

TEST(GroupGraph, rounds_find_the_partition_of_the_worklist_on_1000_random_systems) {
  int by_rounds = 0, folded = 0;
  for (int round = 0; round < testing::rounds(1000); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    testing::Draw draw(static_cast<std::uint64_t>(round));
    const testing::RandomSystem random = testing::random_system(round);
    const Fabric fabric = with_slow_links(random.fabric, slow_links(random.adversities.degradations));
    const LaidJob& job = random.jobs.front();
    const LaidMesh laid{job.program.mesh, job.placement, 1};
    const Traffic traffic =
        plan_traffic(fabric, {&laid, 1}, lower(job.program, job.spec, true).messages, nullptr, draw.below(2));
    const std::vector<bool> nonbinding = find_nonbinding_links(fabric, traffic);
    std::vector<int> program_of(static_cast<std::size_t>(fabric.chips), -1);
    for (const ChipId chip : job.placement.chip_of_device)
      program_of[static_cast<std::size_t>(chip)] = draw.below(40) == 0;
    const std::vector<double> speed_of(program_of.size(), 1);
    const GroupGraph graph(fabric, traffic, nonbinding, {program_of, speed_of, {}, {}});
    const std::optional<VertexClasses> rounds = graph.classes_by_rounds();
    if (!rounds) continue;
    ++by_rounds;
    ASSERT_NO_FATAL_FAILURE(expect_equal(*rounds, graph.classes()));
    const auto classes = in_order(rounds->chips);
    folded += *std::ranges::max_element(classes) + 1 < fabric.chips;
  }
  EXPECT_GT(by_rounds, testing::rounds(1000) / 2);
  EXPECT_GT(folded, testing::rounds(1000) / 4);
}

TEST(GroupGraph, rounds_give_up_where_what_is_slow_is_felt_from_far_away) {
  const int chips = 64;
  FabricSpec spec = testing::ring_fabric(chips);
  spec.torus->wrap_lengths = {1};
  const Fabric fabric = build_fabric(spec);
  const Mesh mesh{{{"pipeline", chips}}};
  const LaidMesh laid{mesh, place(fabric, mesh, {}), 1};
  const Traffic traffic =
      plan_traffic(fabric, {&laid, 1}, {{Scope{1, 1}, CollectiveKind::kSendReceive, {1e6}}});
  const std::vector<bool> nonbinding(fabric.links.size(), false);
  std::vector<double> speed_of(chips, 1);
  speed_of[0] = 0.5;
  const std::vector<int> program_of(chips, 0);
  const GroupGraph graph(fabric, traffic, nonbinding, {program_of, speed_of, {}, {}});
  EXPECT_FALSE(graph.classes_by_rounds());
  const auto classes = in_order(graph.classes().chips);
  EXPECT_GT(*std::ranges::max_element(classes), 8);
}

}  // namespace
}  // namespace podsim::group_graph_test
