// Which classes of a tensor group go through their passes together.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "scheduler/simulation/longest_path/longest_path_loop.h"
#include "tests/scheduler/fixture.h"
#include "tests/scheduler/simulation/random_overlap.h"

namespace podsim::peer_spans_test {
namespace {

constexpr int kMicrobatches = 4;

// Two stages of two replicas of four chips, which reduce what each layer computes, in both directions.
StepProgram program_of_two_stages() {
  const Mesh mesh{{{"pipeline", 2}, {"data", 2}, {"tensor", 4}}};
  StepProgram program = testing::pipeline_program(mesh, PipelineSchedule::k1F1B, 2, 1, kMicrobatches, 1, 2);
  Part& layer = testing::layer_of(program);
  layer.output = {8e6};
  for (Block* block : {&layer.forward, &layer.backward})
    block->push_back(testing::collective(CollectiveKind::kAllReduce, 1 << 2, 1e6, Purpose::kActivation));
  return program;
}

System on_fabric(const FabricSpec& spec, const StepProgram& program, const Adversities& adversities) {
  const Fabric fabric = build_fabric(spec);
  const LaidJob job = testing::lay(testing::plain_spec(), program, fabric, 0);
  return assemble(with_slow_links(fabric, slow_links(adversities.degradations)), {&job, 1}, adversities,
                  true);
}

// Each replica of a stage is a server.
System two_stages(const Adversities& adversities) {
  return on_fabric(testing::gpu_fabric(16, 4, 16), program_of_two_stages(), adversities);
}

struct Followed {
  LongestPathLoop::Together together;
  std::vector<bool> has_peers;  // [chip class]
};

// REQUIRES: the system is one whose longest path is followed. Expects the figures of the definition.
Followed follow(const System& system) {
  SimulateOptions options;
  options.loop = Loop::kFast;
  SystemTables tables(system);
  PathPrograms programs(tables);
  LongestPathLoop loop(tables, programs, options);
  const std::optional<std::vector<Timeline>> found = loop.run();
  options.loop = Loop::kReference;
  EXPECT_TRUE(found);
  EXPECT_EQ(testing::difference(testing::figures(simulate(system, options).front()),
                                testing::figures(found->front())),
            "");
  Followed followed{loop.together(), {}};
  for (std::size_t c = 0; c < system.chips.size(); ++c)
    followed.has_peers.push_back(tables.legs.peers(static_cast<std::int32_t>(c)) >= 0);
  return followed;
}

TEST(PeerSpans, are_none_where_tensor_groups_are_one_class) {
  const Followed healthy = follow(two_stages({}));
  EXPECT_EQ(healthy.has_peers, std::vector<bool>(2, false));
  EXPECT_EQ(healthy.together.alike + healthy.together.unlike, 0);
}

// Those that receive from the slow chip and from the others of its group are two classes, of one speed.
TEST(PeerSpans, are_the_passes_of_stages_that_a_slow_chip_of_another_stage_tells_apart) {
  Adversities slow;
  slow.add(Degradation::of_chip(1, 0.8));
  const System system = two_stages(slow);
  const Followed followed = follow(system);
  for (std::size_t c = 0; c < system.chips.size(); ++c) {
    const ChipId chip = system.chips[c].representative;
    EXPECT_EQ(followed.has_peers[c], chip == 8 || chip == 9) << "class of chip " << chip;
  }
  EXPECT_EQ(followed.together.alike, 2 * kMicrobatches);
  EXPECT_EQ(followed.together.unlike, 0);
}

// Half of what one chip sends and receives arrives late.
TEST(PeerSpans, begin_at_different_times_where_a_nic_is_slow) {
  Adversities slow;
  slow.add(Degradation::of_link(1, LinkKind::kNic, 0.5));
  const Followed followed = follow(two_stages(slow));
  EXPECT_GT(followed.together.unlike, 0);
}

// Of a tensor group one chip has slow links, and so has the one that it shares a data group with: what both
// do by themselves between the collectives of the tensor group takes longer than what the others do.
TEST(PeerSpans, are_only_what_takes_all_of_them_the_same_times) {
  StepProgram program = program_of_two_stages();
  testing::layer_of(program).backward.push_back(
      testing::collective(CollectiveKind::kAllReduce, 1 << 1, 1e6, Purpose::kActivation));
  FabricSpec torus = testing::ring_fabric(16);
  torus.torus->shape = {4, 2, 2};
  torus.torus->dimensions = 3;
  Adversities slow;
  for (const ChipId chip : {1, 5}) slow.add(Degradation::of_link(chip, LinkKind::kIci, 0.5));
  const Followed followed = follow(on_fabric(torus, program, slow));
  EXPECT_TRUE(std::ranges::find(followed.has_peers, true) != followed.has_peers.end());
}

}  // namespace
}  // namespace podsim::peer_spans_test
