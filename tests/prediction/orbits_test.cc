// Jobs that fill a regular cluster, folded by orbits, chip by chip, and not at all.
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "prediction/prepare_job.h"
#include "proto/scenario/load.h"
#include "scheduler/folding/laid_job.h"
#include "scheduler/folding/system.h"
#include "scheduler/simulation/simulate.h"
#include "tests/rounds.h"
#include "tests/swarm/draw.h"

namespace podsim::orbits_test {
namespace {

using testing::Draw;

// Pipeline, data and tensor axes in any order, on servers below one to three tiers.
Spec drawn_job(std::uint64_t seed) {
  Draw draw(seed);
  const int domain = draw.of({2, 4, 8}), stages = draw.of({1, 2, 4}), tensor = draw.of({1, 2, 4});
  const int data = 8 * draw.of({1, 2, 3, 4, 5}), chips = stages * data * tensor;
  const bool rails = draw.chance(0.5);
  std::string tiers;
  for (const int down :
       {rails ? draw.of({2, 4, 8}) : domain * draw.of({1, 2, 4}), draw.of({2, 4, 8, 16}), 64, 64})
    tiers += "tier { down: " + std::to_string(down) + " oversubscription: 1 } ";
  const auto axis = [](const std::string& name, int size) {
    return "mesh { name: \"" + name + "\" size: " + std::to_string(size) + " }\n";
  };
  std::array<std::string, 3> axes = {axis("pipeline", stages), axis("data", data), axis("tensor", tensor)};
  if (draw.chance(0.3)) std::swap(axes[0], axes[2]);
  if (draw.chance(0.2)) std::swap(axes[0], axes[1]);
  const std::string text =
      "cluster { chip: \"h100\" fabric: \"dgx_h100\" chips: " + std::to_string(chips) +
      " fabric_override { gpu_cluster { gpus_per_domain: " + std::to_string(domain) +
      " rail_optimised: " + (rails ? "true " : "false ") + tiers +
      "} } }\njob { model: \"megatron_1_7b\" stack: \"megatron_bridge_2025\"\n" + axes[0] + axes[1] +
      axes[2] + "sharding: \"data\" sharding: \"megatron_sp\" sharding: \"" + draw.of({"zero1", "zero3"}) +
      "\"\npipeline { schedule: " + draw.of({"one_f_one_b", "gpipe", "interleaved chunks_per_stage: 2"}) +
      " }\nglobal_batch_sequences: " + std::to_string(data * stages * 2) +
      " microbatch_sequences: 1 sequence_tokens: 2048 precision: bf16 recompute: full }\n";
  const Catalog catalog;
  LoadResult loaded = load_scenario("drawn.textproto", text, catalog, {});
  return loaded.spec ? *std::move(loaded.spec) : Spec{};
}

// `job` and `more` = further fields of the job and of the scenario.
LoadResult filled_cluster(int chips, const std::string& job, const std::string& more = "") {
  std::string tiers;
  for (int tier = 0; tier < 5; ++tier) tiers += "tier { down: 32 } ";
  const std::string text =
      "cluster { chip: \"h100\" fabric: \"dgx_h100\" chips: " + std::to_string(chips) +
      " fabric_override { gpu_cluster { " + tiers +
      "} } }\njob { model: \"megatron_1_7b\" stack: \"megatron_bridge_2025\"\n"
      "mesh { name: \"data\" size: rest } mesh { name: \"tensor\" size: 8 } sharding: \"data\" "
      "sharding: \"megatron_sp\" sharding: \"zero1\" global_batch_sequences: " +
      std::to_string(chips / 8) + " microbatch_sequences: 1 sequence_tokens: 2048 precision: bf16 " + job +
      " }\n" + more;
  const Catalog catalog;
  return load_scenario("filled.textproto", text, catalog, {});
}

constexpr int kMost = 1 << 24;

struct Folded {
  std::size_t chips, groups, links;
  bool by_orbits;
  std::vector<Time> step_end;
};

Folded folded(const Spec& spec, const Fabric& fabric, bool fold) {
  const LaidJob job = prepare_job(spec, fabric, 0);
  const System system = assemble(fabric, {&job, 1}, {}, fold);
  return {system.chips.size(), system.groups.size(), system.links.size(), system.lists.has_value(),
          simulate(system, {}).front().step_end};
}

TEST(Orbits, give_the_classes_and_the_picoseconds_of_refinement_and_of_every_chip) {
  const int rounds = testing::rounds(40);
  int by_orbits = 0;
  for (int round = 0; round < rounds; ++round) {
    const Spec spec = drawn_job(static_cast<std::uint64_t>(round));
    if (spec.job.mesh.axes.empty()) continue;
    SCOPED_TRACE("round " + std::to_string(round));
    const Fabric listed = build_fabric(spec.cluster.fabric);
    const Folded orbits = folded(spec, build_fabric_by_rule(spec.cluster.fabric), true);
    const Folded classes = folded(spec, listed, true);
    ASSERT_FALSE(classes.by_orbits);
    by_orbits += orbits.by_orbits;
    ASSERT_EQ(orbits.chips, classes.chips);
    ASSERT_EQ(orbits.groups, classes.groups);
    ASSERT_EQ(orbits.links, classes.links);
    ASSERT_EQ(orbits.step_end, classes.step_end);
    constexpr int kFewChips = 128;  // every chip of more takes seconds
    if (spec.cluster.fabric.chips > kFewChips) continue;
    ASSERT_EQ(orbits.step_end, folded(spec, listed, false).step_end);
  }
  EXPECT_GT(by_orbits, rounds / 3);
}

TEST(Orbits, a_cluster_of_two_million_chips_is_simulated_and_never_listed) {
  constexpr int kTwoMillion = 1 << 21;
  const LoadResult loaded = filled_cluster(kTwoMillion, "");
  ASSERT_TRUE(loaded.spec);
  const Fabric fabric = build_fabric_by_rule(loaded.spec->cluster.fabric);
  const LaidJob job = prepare_job(*loaded.spec, fabric, 0);
  const System system = assemble(fabric, {&job, 1}, {}, true);
  std::int64_t chips = 0;
  for (const ChipClass& of : system.chips) chips += of.chips;
  EXPECT_EQ(chips, kTwoMillion);
  EXPECT_TRUE(system.lists);
  EXPECT_GT(simulate(system, {}).front().step_end.front(), Time{});
  EXPECT_THROW(assemble(fabric, {&job, 1}, {}, false), TooManyChips);
}

TEST(Orbits, of_more_chips_than_can_be_listed_only_one_healthy_job_is_simulated) {
  const auto problem = [](const LoadResult& loaded) {
    return loaded.problems.empty() ? "" : loaded.problems.front().message;
  };
  EXPECT_EQ(problem(filled_cluster(kMost, "", "adversity { slow_chip { chip: 3 speed_fraction: 0.5 } }")),
            "adversity is of a cluster of at most 1000000 chips, not 16777216");
  EXPECT_EQ(problem(filled_cluster(kMost, "lengths: \"long_tail_32k\"")),
            "job.lengths is of a cluster of at most 1000000 chips, not 16777216");
  EXPECT_EQ(problem(filled_cluster(2 * kMost, "")),
            "cluster.chips must be from 1 to 16,777,216, not 33554432");
}

}  // namespace
}  // namespace podsim::orbits_test
