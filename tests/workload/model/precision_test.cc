// What a precision recipe changes: the matmuls it names, their casts, what travels and what is kept.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/workload/models.h"
#include "workload/model/apply_precision.h"
#include "workload/partition/op_cost.h"

namespace podsim::testing::precision_test {
namespace {

constexpr int kTokens = 2048;  // of the one sequence of a device

PrecisionRecipe fp8() {
  PrecisionRecipe recipe;
  recipe.name = "fp8";
  recipe.dtype = Dtype::kFp8;
  return recipe;
}

Job fp8_job(const PrecisionRecipe& recipe, const std::vector<MeshAxis>& axes = {},
            const std::vector<std::string>& presets = {}) {
  Job job = job_of(llama3_8b(), axes, presets, kTokens);
  job.precision = recipe;
  return job;
}

Dtype format(const StepProgram& program, const std::string& name) {
  const Part& layer = layer_of(program);
  return op_named(has_op(layer.forward, name) ? layer.forward : layer.backward, name).dtype;
}

double bytes_of(const Block& block, CollectiveKind kind, Purpose purpose) {
  return total_bytes(collectives(block, kind, purpose));
}

TEST(Recipe, without_names_it_is_that_of_the_layer_matmuls) {
  const StepProgram program = partition(fp8_job(fp8()));
  for (const char* name : {"qkv", "attention out", "ffn up", "ffn down", "ffn down dgrad", "ffn down wgrad"})
    EXPECT_EQ(format(program, name), Dtype::kFp8) << name;
  EXPECT_EQ(op_named(head_of(program).forward, "logits").dtype, Dtype::kBf16);
  EXPECT_EQ(format(program, "attention"), Dtype::kBf16);
}

TEST(Recipe, names_choose_matmuls_also_outside_of_the_layers) {
  PrecisionRecipe recipe = fp8();
  recipe.gemms = {"ffn up", "logits"};
  const StepProgram program = partition(fp8_job(recipe));
  EXPECT_EQ(format(program, "ffn up"), Dtype::kFp8);
  EXPECT_EQ(format(program, "ffn up wgrad"), Dtype::kFp8);
  EXPECT_EQ(format(program, "ffn down"), Dtype::kBf16);
  EXPECT_EQ(op_named(head_of(program).forward, "logits").dtype, Dtype::kFp8);
}

TEST(Recipe, a_matmul_of_its_own_precision_overrides_the_job) {
  Job job = fp8_job(fp8());
  job.gemm_precision = {{"ffn down", {}}};
  const StepProgram program = partition(job);
  EXPECT_EQ(format(program, "ffn down"), Dtype::kBf16);
  EXPECT_EQ(format(program, "ffn down dgrad"), Dtype::kBf16);
  EXPECT_EQ(format(program, "ffn up"), Dtype::kFp8);
}

// Elements of "ffn down" on one device: x 2048 x 14336, w 14336 x 4096, dy 2048 x 4096. Each is cast once.
TEST(Recipe, each_operand_is_cast_by_the_first_pass_that_needs_it) {
  const double x = 2048.0 * 14336, w = 14336.0 * 4096, dy = 2048.0 * 4096;
  const auto casts = [](const PrecisionRecipe& recipe) {
    const Part layer = layer_of(partition(fp8_job(recipe)));
    const auto cast = [](const Block& block, const std::string& name) {
      return has_op(block, name) ? op_named(block, name).hbm.value : 0;
    };
    return std::tuple(cast(layer.forward, "ffn down cast"), cast(layer.backward, "ffn down dgrad cast"),
                      cast(layer.backward, "ffn down wgrad cast"));
  };
  PrecisionRecipe recipe = fp8();
  EXPECT_EQ(casts(recipe), std::tuple(0, 0, 0)) << "casts that are fused into the matmuls";
  recipe.cast_bytes = 4;
  EXPECT_EQ(casts(recipe), std::tuple(4 * (x + w), 4 * dy, 0));
  recipe.forward = false;
  EXPECT_EQ(casts(recipe), std::tuple(0, 4 * (dy + w), 4 * x));
  recipe.input_gradient = false;
  EXPECT_EQ(casts(recipe), std::tuple(0, 0, 4 * (x + dy)));
  recipe.weight_gradient = false;
  EXPECT_EQ(casts(recipe), std::tuple(0, 0, 0));
}

// Weights of a layer on one of four tensor-parallel devices; norms are not cast.
TEST(Recipe, weights_that_are_cast_once_are_cast_behind_the_update_and_not_in_microbatches) {
  PrecisionRecipe recipe = fp8();
  recipe.cast_bytes = 4;
  const auto layer = [&] { return layer_of(partition(fp8_job(recipe, {{"tensor", 4}}, {"megatron"}))); };
  const Part often = layer();
  recipe.weights_cast_once = true;
  const Part once = layer();
  EXPECT_FALSE(has_op(often.optimizer, "layer weight casts"));
  const double vectors = 2.0 * 4096;
  EXPECT_DOUBLE_EQ(op_named(once.optimizer, "layer weight casts").hbm.value,
                   4 * (once.local_parameters - vectors));
  for (const auto& [name, inputs, weights] :
       {std::tuple("ffn down cast", 2048.0 * 14336 / 4, 14336.0 / 4 * 4096),
        std::tuple("ffn up cast", 2048.0 * 4096, 2 * 14336.0 / 4 * 4096)}) {
    EXPECT_DOUBLE_EQ(op_named(often.forward, name).hbm.value, 4 * (inputs + weights)) << name;
    EXPECT_DOUBLE_EQ(op_named(once.forward, name).hbm.value, 4 * inputs) << name;
  }
  recipe.forward = false;
  EXPECT_DOUBLE_EQ(op_named(layer().backward, "ffn down dgrad cast").hbm.value, 4 * 2048.0 * 4096);
}

TEST(Recipe, passes_that_are_left_out_run_in_16_bits) {
  PrecisionRecipe recipe = fp8();
  recipe.weight_gradient = false;
  const StepProgram program = partition(fp8_job(recipe));
  EXPECT_EQ(format(program, "qkv"), Dtype::kFp8);
  EXPECT_EQ(format(program, "qkv dgrad"), Dtype::kFp8);
  EXPECT_EQ(format(program, "qkv wgrad"), Dtype::kBf16);
}

TEST(Recipe, weights_are_gathered_in_its_bytes_and_gradients_reduced_in_those_of_the_stack) {
  const auto layer = [](double wire_bytes) {
    PrecisionRecipe recipe = fp8();
    recipe.weight_wire_bytes = wire_bytes;
    return layer_of(partition(fp8_job(recipe, {{"fsdp", 8}}, {"fsdp"})));
  };
  const Part one = layer(1), two = layer(2);
  const double norms = 2.0 * 2 * 4096;  // two vectors, which no matmul reads, in 16 bits
  const double gathered = bytes_of(two.forward, CollectiveKind::kAllGather, Purpose::kParameter);
  EXPECT_DOUBLE_EQ(gathered, 2 * two.parameters);
  EXPECT_DOUBLE_EQ(bytes_of(one.forward, CollectiveKind::kAllGather, Purpose::kParameter),
                   (gathered - norms) / 2 + norms);
  EXPECT_DOUBLE_EQ(bytes_of(one.backward, CollectiveKind::kReduceScatter, Purpose::kGradient),
                   4 * one.parameters);
  EXPECT_DOUBLE_EQ(one.local_weights, two.local_weights);
}

TEST(Recipe, weights_have_its_bytes_in_memory) {
  PrecisionRecipe recipe = fp8();
  recipe.weight_bytes = 1;
  const StepProgram narrow = partition(fp8_job(recipe)), wide = partition(fp8_job(fp8()));
  const double norms = 2.0 * 2 * 4096;
  EXPECT_DOUBLE_EQ(layer_of(wide).local_weights, 2 * layer_of(wide).parameters);
  EXPECT_DOUBLE_EQ(layer_of(narrow).local_weights, layer_of(wide).local_weights / 2 + norms / 2);
  EXPECT_DOUBLE_EQ(wide.memory[0].weights.value - narrow.memory[0].weights.value,
                   32 * (layer_of(wide).local_weights - layer_of(narrow).local_weights));
}

// Sequence parallelism gathers the inputs of qkv and ffn up, and scatters what attention out and ffn down
// make.
TEST(Recipe, inputs_of_matmuls_are_gathered_in_its_bytes_and_results_scattered_in_16_bits) {
  const auto layer = [](double wire_bytes) {
    PrecisionRecipe recipe = fp8();
    recipe.activation_wire_bytes = wire_bytes;
    return layer_of(partition(fp8_job(recipe, {{"tensor", 8}}, {"megatron_sp"})));
  };
  const Part one = layer(1), two = layer(2);
  const auto gathers = [](const Block& block) {
    return bytes_of(block, CollectiveKind::kAllGather, Purpose::kActivation);
  };
  const double activation = 2.0 * kTokens * 4096;
  EXPECT_DOUBLE_EQ(gathers(two.forward), 2 * activation);
  EXPECT_DOUBLE_EQ(gathers(one.forward), activation);
  EXPECT_DOUBLE_EQ(gathers(one.backward), gathers(two.backward) / 2);
  EXPECT_DOUBLE_EQ(bytes_of(one.forward, CollectiveKind::kReduceScatter, Purpose::kActivation),
                   2 * activation);
}

// Moves of tokens to experts and back in a layer, forward and backward.
std::vector<std::vector<CollectiveOp>> expert_moves(const PrecisionRecipe& recipe) {
  Job job = job_of(llama3_8b(), {{"expert", 8}}, {"expert"}, kTokens);
  job.model.experts = MixtureOfExperts{.experts = 16, .experts_per_token = 2, .expert_ffn = 1024};
  job.precision = recipe;
  const StepProgram program = partition(job);
  const auto layer = std::ranges::find(program.parts, "expert layer", &Part::name);
  EXPECT_NE(layer, program.parts.end());
  std::vector<std::vector<CollectiveOp>> moves;
  for (const Block* block : {&layer->forward, &layer->backward})
    moves.push_back(collectives(*block, CollectiveKind::kAllToAll, Purpose::kActivation));
  return moves;
}

// DeepSeek-V3, arXiv 2412.19437, section 3.3.2: tokens go to experts in 8 bits and come back in 16, and so do
// the gradients of what the experts made and of what they read.
TEST(Recipe, tokens_go_to_experts_in_other_bytes_than_they_come_back) {
  PrecisionRecipe recipe = fp8();
  recipe.dispatch_wire_bytes = 1;
  const double slots = 2.0 * kTokens * 4096;
  for (const std::vector<CollectiveOp>& moves : expert_moves(recipe)) {
    ASSERT_EQ(moves.size(), 2u);
    EXPECT_DOUBLE_EQ(moves[0].bytes.value, slots);
    EXPECT_DOUBLE_EQ(moves[1].bytes.value, 2 * slots);
  }
}

TEST(Recipe, what_is_gathered_for_matmuls_has_other_bytes_than_tokens_on_their_way_to_experts) {
  PrecisionRecipe recipe = fp8();
  recipe.activation_wire_bytes = 0.5;
  for (const std::vector<CollectiveOp>& moves : expert_moves(recipe)) {
    ASSERT_EQ(moves.size(), 2u);
    for (const CollectiveOp& move : moves)
      EXPECT_DOUBLE_EQ(move.bytes.value, 2 * 2.0 * kTokens * 4096) << move.tensor;
  }
}

// Only weight gradients read the two normalised inputs and the result of the activation function; attention
// reads its own result again, and the norms read the residual.
TEST(Recipe, activations_that_only_its_matmuls_read_are_kept_in_its_bytes) {
  PrecisionRecipe recipe = fp8();
  recipe.kept_bytes = 1;
  const double narrow = partition(fp8_job(recipe)).memory[0].activations.value;
  const double wide = partition(fp8_job(fp8())).memory[0].activations.value;
  EXPECT_DOUBLE_EQ(wide - narrow, 32.0 * kTokens * (4096 + 4096 + 14336));
  recipe.weight_gradient = false;
  EXPECT_DOUBLE_EQ(partition(fp8_job(recipe)).memory[0].activations.value, wide);
}

TEST(Recipe, the_matmuls_of_a_model_are_told_by_name) {
  const Job job = fp8_job(fp8());
  EXPECT_EQ(matmul_names(model_program(job)),
            (std::vector<std::string>{"qkv", "attention out", "ffn up", "ffn down", "logits"}));
}

TEST(Recipe, the_fastest_format_of_the_job_bounds_its_matmuls) {
  Chip chip;
  chip.matmul = {{Dtype::kBf16, {FlopRate{100e12}, 0.5}}, {Dtype::kFp8, {FlopRate{200e12}, 0.6}}};
  Job job = fp8_job({});
  EXPECT_EQ(fastest_matmuls(job, chip).value, 50e12);
  job.gemm_precision = {{"ffn up", fp8()}};
  EXPECT_EQ(fastest_matmuls(job, chip).value, 120e12);
}

}  // namespace
}  // namespace podsim::testing::precision_test
