// Each scheme is a preset of shardings; what one layer moves is what the field's tables say, byte for byte.
// P = bytes of a layer's weights, A = bytes of one activation [batch, sequence, embed], all bf16.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "tests/workload/models.h"
#include "workload/job/job.h"

namespace podsim::testing::byte_table_test {
namespace {

constexpr int kSequence = 4096;

// "all-gather over fsdp" -> bytes of all such collectives in the convention of CollectiveOp::bytes; a ring of
// n blocks counts what its n - 1 permutes send.
using Traffic = std::map<std::string, double>;

Traffic traffic(const StepProgram& program, const Block& block) {
  Traffic sum;
  for (const CollectiveOp& op : collectives(block)) {
    const int times = op.windows > 1 ? op.windows - 1 : 1;
    sum[std::string(to_string(op.kind)) + " over " + axis_names(program.mesh, op.axes)] +=
        times * op.bytes.value;
  }
  return sum;
}

struct Planned {
  StepProgram program;
  double weights = 0;     // P
  double activation = 0;  // A, of the sequences of one device

  Planned(const std::vector<MeshAxis>& axes, const std::vector<std::string>& presets,
          Model model = llama2_70b(), int microbatch = 1) {
    model.kv_heads = model.heads;  // plain multi-head attention: the tables know no grouped queries
    Job job = job_of(model, axes, presets, kSequence);
    job.stack.gradient_bytes = 2;
    job.microbatch = microbatch;
    job.global_batch *= microbatch;
    program = partition(job);
    weights = 2 * layer_of(program).parameters;
    activation = 2.0 * microbatch * kSequence * model.d_model;
  }
  const Part& layer() const { return layer_of(program); }
  Traffic forward() const { return traffic(program, layer().forward); }
  Traffic backward() const { return traffic(program, layer().backward); }
  Traffic reduce() const { return traffic(program, layer().gradient_reduce); }
  Traffic gather() const { return traffic(program, layer().parameter_gather); }
};

// Vectors (norm weights) are a matter of kilobytes beside matrices of gigabytes; tables leave them out.
void expect_traffic(const Traffic& measured, const Traffic& expected) {
  for (const auto& [what, bytes] : expected) {
    ASSERT_TRUE(measured.count(what)) << what;
    EXPECT_DOUBLE_EQ(measured.at(what), bytes) << what;
  }
  for (const auto& [what, bytes] : measured) EXPECT_TRUE(expected.count(what)) << what << " " << bytes;
}

TEST(ByteTable, data_parallel_all_reduces_the_weights_once) {
  const Planned p({{"data", 8}}, {"data"});
  expect_traffic(p.forward(), {});
  expect_traffic(p.backward(), {});
  expect_traffic(p.reduce(), {{"all-reduce over data", p.weights}});
}

TEST(ByteTable, zero_1_and_2_scatter_gradients_and_gather_weights) {
  const Planned one({{"data", 8}}, {"data", "zero1"}), two({{"data", 8}}, {"data", "zero2"});
  expect_traffic(one.reduce(), {{"reduce-scatter over data", one.weights}});
  expect_traffic(one.gather(), {{"all-gather over data", one.weights}});
  // ZeRO-2 scatters each gradient as soon as it is there: the same bytes, and only shards are kept.
  expect_traffic(two.backward(), {{"reduce-scatter over data", two.weights}});
  expect_traffic(two.reduce(), {});
  expect_traffic(two.gather(), {{"all-gather over data", two.weights}});
  EXPECT_DOUBLE_EQ(two.layer().local_gradients * 8, one.layer().local_gradients);
}

// One annotated tensor has every layout of the graph completed, and none changed.
TEST(ByteTable, an_annotation_that_says_what_the_rules_say_changes_nothing) {
  for (const char* preset : {"zero1", "zero2", "zero3"}) {
    Job job = job_of(llama3_8b(), {{"data", 8}}, {"data", preset}, kSequence);
    const StepProgram ruled = partition(job);
    job.annotations = {{"", "norm 1", "[{data},{},{}]"}};
    const StepProgram annotated = partition(job);
    EXPECT_EQ(annotated.memory[0].total(), ruled.memory[0].total()) << preset;
    EXPECT_EQ(traffic(annotated, layer_of(annotated).backward), traffic(ruled, layer_of(ruled).backward))
        << preset;
    EXPECT_EQ(traffic(annotated, layer_of(annotated).gradient_reduce),
              traffic(ruled, layer_of(ruled).gradient_reduce))
        << preset;
  }
}

TEST(ByteTable, gradients_and_state_of_an_annotated_weight_are_cut_by_their_rules) {
  Job job = job_of(llama3_8b(), {{"data", 4}, {"tensor", 2}}, {"data", "zero2"}, kSequence);
  job.annotations = {{"", "ffn up weight", "[{},{},{tensor}]"}};
  const double matrix = 4096.0 * 2 * 14336, others = 218'112'000 - matrix;
  const StepProgram program = partition(job);
  EXPECT_DOUBLE_EQ(layer_of(program).local_parameters, others + matrix / 2);
  EXPECT_DOUBLE_EQ(layer_of(program).local_state, others / 4 + matrix / 8);
  EXPECT_DOUBLE_EQ(layer_of(program).local_gradients, layer_of(program).local_state);
}

TEST(ByteTable, a_group_of_ranks_that_shares_optimizer_state_scatters_inside_and_all_reduces_shards_outside) {
  const Planned p({{"data", 4}, {"optimizer", 8}}, {"data", "zero1_group"}),
      all({{"data", 32}}, {"data", "zero1"});
  expect_traffic(p.reduce(),
                 {{"reduce-scatter over optimizer", p.weights}, {"all-reduce over data", p.weights / 8}});
  expect_traffic(p.gather(), {{"all-gather over optimizer", p.weights}});
  EXPECT_DOUBLE_EQ(p.layer().local_state, 4 * all.layer().local_state);
}

TEST(ByteTable, zero_3_and_fsdp_gather_weights_twice_and_scatter_gradients) {
  for (const auto& [axis, preset] : {std::pair{"data", "zero3"}, std::pair{"fsdp", "fsdp"}}) {
    const Planned p({{axis, 8}}, {preset});
    const std::string over = std::string(" over ") + axis;
    expect_traffic(p.forward(), {{"all-gather" + over, p.weights}});
    expect_traffic(p.backward(), {{"all-gather" + over, p.weights}, {"reduce-scatter" + over, p.weights}});
    expect_traffic(p.reduce(), {});
  }
}

TEST(ByteTable, hybrid_sharding_all_reduces_the_shard_over_the_replicas) {
  const Planned p({{"data", 4}, {"fsdp", 8}}, {"hsdp"});
  expect_traffic(p.forward(), {{"all-gather over fsdp", p.weights}});
  expect_traffic(p.backward(),
                 {{"all-gather over fsdp", p.weights}, {"reduce-scatter over fsdp", p.weights}});
  expect_traffic(p.reduce(), {{"all-reduce over data", p.weights / 8}});
}

TEST(ByteTable, megatron_all_reduces_two_activations_each_way) {
  const Planned p({{"tensor", 8}}, {"megatron"});
  expect_traffic(p.forward(), {{"all-reduce over tensor", 2 * p.activation}});
  expect_traffic(p.backward(), {{"all-reduce over tensor", 2 * p.activation}});
}

// Backward gathers the output gradients and the stored inputs, and scatters the input gradients.
TEST(ByteTable, sequence_parallelism_gathers_and_scatters_instead) {
  const Planned p({{"tensor", 8}}, {"megatron_sp"});
  expect_traffic(p.forward(), {{"all-gather over tensor", 2 * p.activation},
                               {"reduce-scatter over tensor", 2 * p.activation}});
  const Traffic backward = p.backward();
  EXPECT_DOUBLE_EQ(backward.at("all-gather over tensor"), 4 * p.activation);
  EXPECT_DOUBLE_EQ(backward.at("reduce-scatter over tensor"), 2 * p.activation);
}

TEST(ByteTable, a_cut_vocabulary_reduces_the_embedding_and_three_statistics_of_the_loss) {
  const Planned p({{"tensor", 8}}, {"vocabulary"}, llama3_70b());
  expect_traffic(traffic(p.program, embedding_of(p.program).forward),
                 {{"all-reduce over tensor", p.activation}});
  expect_traffic(traffic(p.program, head_of(p.program).forward),
                 {{"all-reduce over tensor", 3 * 4.0 * kSequence}});
  expect_traffic(traffic(p.program, head_of(p.program).backward), {{"all-reduce over tensor", p.activation}});
}

TEST(ByteTable, gathered_context_gathers_keys_and_values_and_scatters_their_gradients) {
  const Planned p({{"context", 4}}, {"context"});
  expect_traffic(p.forward(), {{"all-gather over context", 2 * p.activation}});
  const Traffic backward = p.backward();
  EXPECT_DOUBLE_EQ(backward.at("reduce-scatter over context"), 2 * p.activation);
}

TEST(ByteTable, ring_context_passes_blocks_of_keys_and_values_round) {
  const Planned p({{"context", 4}}, {"ring_context"});
  expect_traffic(p.forward(), {{"permute over context", 3 * 2 * p.activation / 4}});
  EXPECT_DOUBLE_EQ(p.backward().at("permute over context"), 2 * 3 * 2 * p.activation / 4);
}

TEST(ByteTable, ulysses_changes_sequence_for_heads_four_times_each_way) {
  const Planned p({{"context", 8}}, {"ulysses"});
  expect_traffic(p.forward(), {{"all-to-all over context", 4 * p.activation / 8}});
  EXPECT_DOUBLE_EQ(p.backward().at("all-to-all over context"), 4 * p.activation / 8);
}

// Activations are gathered over y and scattered back around each pair of matmuls; weights are gathered over
// x.
TEST(ByteTable, two_dimensional_sharding_gathers_activations_over_one_axis_and_weights_over_the_other) {
  const Planned p({{"x", 4}, {"y", 8}}, {"2d_finalized"});
  const Traffic forward = p.forward();
  EXPECT_DOUBLE_EQ(forward.at("all-gather over y"), 2 * p.activation);
  EXPECT_DOUBLE_EQ(forward.at("reduce-scatter over y"), 2 * p.activation);
  const double vectors = 2.0 * 2 * llama2_70b().d_model;
  EXPECT_NEAR(forward.at("all-gather over x"), (p.weights - vectors) / 8, vectors);
  const Traffic backward = p.backward();
  EXPECT_NEAR(backward.at("all-gather over x"), (p.weights - vectors) / 8, vectors);
  EXPECT_NEAR(backward.at("reduce-scatter over x"), (p.weights - vectors) / 8, vectors);
  EXPECT_DOUBLE_EQ(backward.at("reduce-scatter over y"), 2 * p.activation);
}

// Slots of a device, tokens x experts per token, travel to their experts and back, and so do their gradients.
TEST(ByteTable, expert_parallelism_exchanges_the_dispatched_tokens_four_times) {
  Model model = llama2_70b();
  model.experts = MixtureOfExperts{
      .experts = 16, .experts_per_token = 2, .expert_ffn = 1024, .gated = true, .capacity_factor = 1};
  Job job = job_of(model, {{"data", 2}, {"expert", 8}}, {"expert"}, kSequence);
  const StepProgram program = partition(job);
  const auto layer = std::find_if(program.parts.begin(), program.parts.end(),
                                  [](const Part& part) { return part.name == "expert layer"; });
  ASSERT_NE(layer, program.parts.end());
  const double slots = 2.0 * kSequence * 2 * model.d_model;
  expect_traffic(traffic(program, layer->forward), {{"all-to-all over expert", 2 * slots}});
  expect_traffic(traffic(program, layer->backward), {{"all-to-all over expert", 2 * slots}});
}

// Attention over tensor x expert_tensor = 4 devices, experts over expert x tensor = 4, each cut over
// expert_tensor = 2: the slots of a device's tokens (a quarter of the sequence) go to their experts over four
// devices, and the two that share an expert gather them.
TEST(ByteTable, experts_have_a_tensor_degree_of_their_own) {
  Model model = llama2_70b();
  model.experts = MixtureOfExperts{
      .experts = 16, .experts_per_token = 2, .expert_ffn = 1024, .gated = true, .capacity_factor = 1};
  const StepProgram program = partition(
      job_of(model, {{"expert", 2}, {"tensor", 2}, {"expert_tensor", 2}}, {"megatron_experts"}, kSequence));
  const auto layer = std::find_if(program.parts.begin(), program.parts.end(),
                                  [](const Part& part) { return part.name == "expert layer"; });
  ASSERT_NE(layer, program.parts.end());
  const double activation = 2.0 * kSequence * model.d_model, slots = 2 * activation / 4;
  const Traffic forward = traffic(program, layer->forward);
  EXPECT_DOUBLE_EQ(forward.at("all-to-all over expert+tensor"), 2 * slots);
  EXPECT_DOUBLE_EQ(forward.at("all-gather over expert_tensor"), 2 * slots);
  EXPECT_DOUBLE_EQ(forward.at("reduce-scatter over expert_tensor"), 2 * slots);
  EXPECT_DOUBLE_EQ(forward.at("all-gather over tensor+expert_tensor"), activation);
  EXPECT_DOUBLE_EQ(op_named(layer->forward, "expert up").n, 2 * 1024 / 2);
  EXPECT_DOUBLE_EQ(op_named(layer->forward, "qkv").n, (64 + 2 * 8) * 128 / 4.0);
}

}  // namespace
}  // namespace podsim::testing::byte_table_test
