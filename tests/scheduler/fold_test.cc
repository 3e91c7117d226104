// Law: the folded system ends its step in the same picosecond as the whole one.
#include <gtest/gtest.h>

#include <map>

#include "engine/random.h"
#include "tests/scheduler/fixture.h"

namespace podsim {
namespace {

using testing::collective;
using testing::milliseconds;

class Draw {
 public:
  explicit Draw(std::uint64_t round) : round_(round) {}
  int below(int n) { return static_cast<int>(random_bits(11, RandomPurpose::kTest, round_, count_++) % n); }
  double real() { return random_uniform(11, RandomPurpose::kTest, round_, count_++); }

 private:
  std::uint64_t round_, count_ = 0;
};

Block random_block(Draw& draw, AxisSet axes) {
  static constexpr CollectiveKind kKinds[] = {CollectiveKind::kAllReduce, CollectiveKind::kAllGather,
                                              CollectiveKind::kReduceScatter, CollectiveKind::kAllToAll};
  Block block;
  for (int i = 0, n = 1 + draw.below(4); i < n; ++i) {
    if (draw.below(2)) {
      AxisSet chosen = axes & static_cast<AxisSet>(1 + draw.below(7));
      if (chosen)
        block.push_back(collective(kKinds[draw.below(4)], chosen, 1e6 * (1 + draw.below(100)),
                                   static_cast<Purpose>(draw.below(3))));
    }
    block.push_back(milliseconds(0.1 * (1 + draw.below(30))));
  }
  return block;
}

struct RandomStep {
  Spec spec = testing::plain_spec();
  StepProgram program;
  FabricSpec fabric;
};

RandomStep random_step(int round) {
  Draw draw(round);
  RandomStep step;
  int stages = 1 << draw.below(3), data = 1 + draw.below(4), tensor = 1 << draw.below(3);
  int chips = stages * data * tensor;
  Mesh mesh{{{"pipeline", stages}, {"data", data}, {"tensor", tensor}}};
  bool torus = draw.below(2);
  if (torus) {
    step.fabric = testing::ring_fabric(chips);
    step.fabric.torus->dimensions = 3;
    step.fabric.torus->shape = {tensor, data, stages};
  } else {
    bool rails = draw.below(2);  // otherwise a leaf serves whole domains
    step.fabric = testing::gpu_fabric(chips, tensor, (rails ? 1 : tensor) * (1 + draw.below(4)));
    step.fabric.gpu->rail_optimised = rails;
    step.fabric.gpu->tiers[0].oversubscription = 1 + draw.below(3);
  }
  int chunks = stages > 1 && draw.below(2) ? 2 : 1;
  int microbatches = stages * (1 + draw.below(3));
  step.program =
      testing::pipeline_program(mesh, chunks > 1 ? PipelineSchedule::kInterleaved : PipelineSchedule::k1F1B,
                                stages, chunks, microbatches, 1, 2);
  AxisSet axes = (data > 1 ? 2u : 0u) | (tensor > 1 ? 4u : 0u);
  step.program.layer.forward = random_block(draw, axes);
  step.program.layer.backward = random_block(draw, axes);
  if (data > 1) {
    step.program.layer.gradient_reduce = {
        collective(CollectiveKind::kAllReduce, 2, 30e6, Purpose::kGradient)};
    step.program.layer.parameter_gather = {
        collective(CollectiveKind::kAllGather, 2, 20e6, Purpose::kParameter)};
  }
  step.program.layer.optimizer = {milliseconds(0.3)};
  step.program.boundary = {1e6 * (1 + draw.below(50))};
  Stack& stack = step.spec.job.stack;
  stack.parameters_prefetched = draw.below(2);
  stack.gradients_overlapped = draw.below(2);
  stack.sends_overlapped = draw.below(2);
  stack.tensor_hidden = 0.5 * draw.below(3);
  stack.interference = 0.2 * draw.below(3);
  for (int i = draw.below(3); i > 0; --i)
    step.spec.adversities.slow_chips.push_back({draw.below(chips), 0.5 + 0.5 * draw.real()});
  for (int i = draw.below(3); i > 0; --i)
    step.spec.adversities.slow_links.push_back({draw.below(chips),
                                                torus           ? LinkKind::kIci
                                                : draw.below(2) ? LinkKind::kNic
                                                                : LinkKind::kNvlink,
                                                0.3 + 0.7 * draw.real()});
  return step;
}

// Buckets over all chips together.
std::vector<std::int64_t> chip_time(const Timeline& timeline) {
  std::vector<std::int64_t> sum(kBuckets, 0);
  for (const ChipTotals& chip : timeline.chips)
    for (int b = 0; b < kBuckets; ++b) sum[b] += chip.chips * chip.bucket[b].ps;
  return sum;
}

std::map<LinkKind, double> bytes_by_kind(const Timeline& timeline) {
  std::map<LinkKind, double> sum;
  for (const LinkTotals& link : timeline.links)
    sum[link.kind] += static_cast<double>(link.links) * link.bytes.value;
  return sum;
}

TEST(FoldLaw, folded_equals_unfolded_to_the_picosecond_on_200_random_systems) {
  int smaller = 0;
  for (int round = 0; round < 200; ++round) {
    RandomStep step = random_step(round);
    Fabric fabric = build_fabric(step.fabric);
    auto folded = testing::simulate_step(step.spec, step.program, fabric, true);
    auto whole = testing::simulate_step(step.spec, step.program, fabric, false);
    ASSERT_EQ(whole.system.chips.size(), static_cast<std::size_t>(fabric.chips));
    ASSERT_EQ(folded.timeline.step_end, whole.timeline.step_end) << "round " << round;
    ASSERT_EQ(chip_time(folded.timeline), chip_time(whole.timeline)) << "round " << round;
    auto a = bytes_by_kind(folded.timeline), b = bytes_by_kind(whole.timeline);
    for (auto [kind, bytes] : a) ASSERT_NEAR(bytes, b[kind], 1e-9 * bytes + 1e-6) << "round " << round;
    smaller += folded.system.chips.size() < whole.system.chips.size();
  }
  EXPECT_GT(smaller, 100) << "folding that never folds proves nothing";
}

TEST(Fold, a_symmetric_system_has_one_class_of_chips_per_stage) {
  RandomStep step = random_step(0);
  step.spec.adversities = {};
  Mesh mesh{{{"pipeline", 4}, {"data", 8}, {"tensor", 8}}};
  step.program = testing::pipeline_program(mesh, PipelineSchedule::k1F1B, 4, 1, 8, 1, 2);
  step.program.layer.forward.push_back(collective(CollectiveKind::kAllReduce, 4, 1e6, Purpose::kActivation));
  step.program.layer.gradient_reduce = {collective(CollectiveKind::kAllReduce, 2, 1e6, Purpose::kGradient)};
  step.program.boundary = {1e6};
  Fabric fabric = build_fabric(testing::gpu_fabric(256, 8, 4));
  EXPECT_EQ(testing::simulate_step(step.spec, step.program, fabric, true).system.chips.size(), 4u);
}

TEST(Fold, one_slow_chip_splits_only_what_it_touches) {
  Mesh mesh{{{"data", 16}}};
  Spec spec = testing::plain_spec();
  StepProgram program = testing::pipeline_program(mesh, PipelineSchedule::k1F1B, 1, 1, 1, 1, 2);
  program.layer.gradient_reduce = {collective(CollectiveKind::kAllReduce, 1, 1e6, Purpose::kGradient)};
  spec.adversities.slow_chips = {{5, 0.5}};
  Fabric fabric = build_fabric(testing::ring_fabric(16));
  EXPECT_EQ(testing::simulate_step(spec, program, fabric, true).system.chips.size(), 2u);
}

}  // namespace
}  // namespace podsim
