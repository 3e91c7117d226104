// Frozen weights with low-rank adapters beside them: what is computed, sent, stored and updated.
#include "workload/model/adapters.h"

#include <gtest/gtest.h>

#include <tuple>

#include "tests/workload/models.h"
#include "workload/model/model_program.h"

namespace podsim::testing::adapters_test {
namespace {

constexpr int kRank = 16;

Job tuned(const std::vector<MeshAxis>& axes, const std::vector<std::string>& presets,
          const std::vector<std::string>& matmuls = {"qkv", "attention out"}) {
  Job job = job_of(llama2_70b(), axes, presets);
  job.adapters = Adapters{.rank = kRank, .matmuls = matmuls};
  return job;
}

Job whole(const std::vector<MeshAxis>& axes, const std::vector<std::string>& presets) {
  return job_of(llama2_70b(), axes, presets);
}

// Of one layer: qkv is 8,192 x (64 + 2 x 8) x 128, the output 8,192 x 8,192.
constexpr double kTrained = kRank * (8192.0 + 80 * 128) + kRank * (8192.0 + 8192);

TEST(Adapters, only_their_weights_have_gradients_and_optimizer_state) {
  const Part layer = layer_of(partition(tuned({{"data", 8}}, {"data"})));
  const Part all = layer_of(partition(whole({{"data", 8}}, {"data"})));
  EXPECT_DOUBLE_EQ(layer.local_state, kTrained);
  EXPECT_DOUBLE_EQ(layer.local_gradients, kTrained);
  EXPECT_EQ(layer.weights, 4);
  EXPECT_DOUBLE_EQ(layer.local_parameters, all.local_parameters + kTrained);
  const StepProgram program = partition(tuned({{"data", 8}}, {"data"}));
  for (const Part* part : {&embedding_of(program), &head_of(program)}) {
    EXPECT_EQ(part->local_state, 0) << part->name;
    EXPECT_TRUE(part->optimizer.empty()) << part->name;
    EXPECT_TRUE(part->gradient_reduce.empty()) << part->name;
  }
}

TEST(Adapters, only_their_gradients_are_reduced) {
  const Job job = tuned({{"data", 8}}, {"data"});
  EXPECT_DOUBLE_EQ(total_bytes(collectives(layer_of(partition(job)).gradient_reduce)),
                   kTrained * job.stack.gradient_bytes);
}

TEST(Adapters, no_matmul_makes_the_gradient_of_a_frozen_weight) {
  const Part layer = layer_of(partition(tuned({}, {})));
  for (const char* frozen : {"qkv wgrad", "attention out wgrad", "ffn up wgrad", "ffn down wgrad"})
    EXPECT_FALSE(has_op(layer.backward, frozen)) << frozen;
  for (const char* made : {"qkv dgrad", "ffn up dgrad", "qkv adapter down wgrad", "qkv adapter up wgrad"})
    EXPECT_TRUE(has_op(layer.backward, made)) << made;
  EXPECT_EQ(op_named(layer.forward, "qkv adapter down").flops.value, 2.0 * 2048 * 8192 * kRank);
}

TEST(Adapters, model_flops_leave_out_the_gradients_of_frozen_weights) {
  const StepProgram all = partition(whole({}, {})), program = partition(tuned({}, {}));
  const double adapters = 80 * kTrained, matmuls = all.parameters - 32000 * 8192.0 - 161 * 8192.0;
  EXPECT_NEAR(program.flops_per_token.full.value, all.flops_per_token.full.value - 2 * matmuls + 6 * adapters,
              1e-9 * all.flops_per_token.full.value);
  EXPECT_DOUBLE_EQ(program.parameters, all.parameters + adapters);
}

// Of 2 x 2,048 tokens all have a slot, however many slots are empty.
TEST(Adapters, beside_experts_count_the_slots_that_hold_a_token) {
  Job job = job_of(llama2_70b(), {}, {});
  job.model.experts = MixtureOfExperts{.experts = 8, .experts_per_token = 2, .expert_ffn = 4096};
  job.adapters = Adapters{.rank = kRank, .matmuls = {"expert up", "expert down"}};
  const FlopsPerToken even = partition(job).flops_per_token;
  job.model.experts->imbalance = 4;
  EXPECT_DOUBLE_EQ(partition(job).flops_per_token.causal.value, even.causal.value);
  job.model.experts->imbalance = 1;
  job.model.experts->capacity_factor = 2;
  EXPECT_DOUBLE_EQ(partition(job).flops_per_token.hardware.value, even.hardware.value);
}

TEST(Adapters, frozen_weights_are_as_wide_as_is_said_and_trained_ones_as_before) {
  Job job = tuned({}, {});
  const double sixteen_bits = layer_of(partition(job)).local_weights;
  job.adapters->frozen_bytes = 1;
  const double matrices = 8192.0 * (80 * 128 + 8192 + 3 * 28672);
  EXPECT_DOUBLE_EQ(layer_of(partition(job)).local_weights, sixteen_bits - matrices);
}

TEST(Adapters, inputs_that_only_frozen_weights_would_need_are_not_kept) {
  const auto kept = [](const Job& job) {
    double bytes = 0;
    const auto parts = partition(job);
    for (const KeptActivation& each : layer_of(parts).kept) bytes += each.bytes.value;
    return bytes;
  };
  const double activation = 2048.0 * 28672 * 2, norm = 2048.0 * 8192 * 2;
  EXPECT_NEAR(kept(whole({}, {})) - kept(tuned({}, {})), activation + norm, 8 * 2048 * kRank);
}

TEST(Adapters, without_names_are_beside_every_matmul_of_a_layer) {
  const Part layer = layer_of(partition(tuned({}, {}, {})));
  for (const char* each : {"qkv", "attention out", "ffn up", "ffn down"})
    EXPECT_TRUE(has_op(layer.forward, std::string(each) + " adapter up")) << each;
  EXPECT_EQ(layer.weights, 8);
  EXPECT_FALSE(has_op(head_of(partition(tuned({}, {}, {}))).forward, "logits adapter up"));
}

TEST(Adapters, are_cut_with_the_matmul_that_they_are_beside) {
  const Part layer = layer_of(partition(tuned({{"tensor", 8}}, {"megatron"})));
  EXPECT_DOUBLE_EQ(op_named(layer.forward, "qkv adapter up").flops.value, 2.0 * 2048 * kRank * 80 * 128 / 8);
  EXPECT_DOUBLE_EQ(op_named(layer.forward, "attention out adapter down").flops.value,
                   2.0 * 2048 * 8192 / 8 * kRank);
}

// Collectives of more than what has but `rank` columns, those aside that only gradients of weights need.
std::vector<std::tuple<CollectiveKind, AxisSet, double>> wide_collectives(const Block& block) {
  std::vector<std::tuple<CollectiveKind, AxisSet, double>> wide;
  for (const CollectiveOp& each : collectives(block))
    if (each.bytes.value > 1e6 && !each.weight_gradient)
      wide.emplace_back(each.kind, each.axes, each.bytes.value);
  return wide;
}

TEST(Adapters, leave_frozen_matmuls_and_what_they_send_as_they_are_without) {
  for (const char* preset : {"megatron", "megatron_sp"}) {
    const std::vector<MeshAxis> axes = {{"data", 2}, {"tensor", 8}};
    const Part with = layer_of(partition(tuned(axes, {"data", preset}))),
               without = layer_of(partition(whole(axes, {"data", preset})));
    EXPECT_EQ(wide_collectives(with.forward), wide_collectives(without.forward)) << preset;
    EXPECT_EQ(wide_collectives(with.backward).size(), wide_collectives(without.backward).size()) << preset;
    for (const char* matmul : {"qkv", "attention out", "ffn up", "ffn down"})
      EXPECT_EQ(op_named(with.forward, matmul).flops.value, op_named(without.forward, matmul).flops.value)
          << preset << " " << matmul;
  }
}

TEST(Adapters, dropout_keeps_a_copy_in_place_of_what_enters_and_a_mask) {
  Job job = tuned({}, {}, {"qkv"});
  const Part without = layer_of(partition(job));
  job.adapters->dropout = true;
  const Part with = layer_of(partition(job));
  const double elements = 2048.0 * 8192;
  EXPECT_EQ(op_named(with.forward, "qkv adapter input").hbm.value, (2 + 2 + 1) * elements);
  EXPECT_EQ(op_named(with.backward, "qkv adapter input dropout backward").hbm.value, (2 + 1 + 2) * elements);
  const auto kept = [](const Part& part) {
    double bytes = 0;
    for (const KeptActivation& each : part.kept) bytes += each.bytes.value;
    return bytes;
  };
  EXPECT_EQ(kept(with) - kept(without), elements);
  EXPECT_EQ(with.weights, without.weights);
}

}  // namespace
}  // namespace podsim::testing::adapters_test
