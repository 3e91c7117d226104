// Precision recipes by name: from the stack, as a plain format, changed in place, and for single matmuls.
#include <gtest/gtest.h>

#include "tests/proto/scenario.h"

namespace podsim::precision_test {
namespace {

std::string with(const std::string& fields) {
  return valid_but("  sequence_tokens: 8192\n", "  sequence_tokens: 8192\n  " + fields + "\n");
}

std::string on_torchtitan(const std::string& fields) {
  return replaced(with(fields), "megatron_bridge_2025", "torchtitan");
}

Job job_of(const std::string& text) {
  const auto result = load(text);
  EXPECT_EQ(problems_of(result), Lines{});
  return result.spec ? result.spec->job : Job{};
}

TEST(ResolvePrecision, missing_means_bf16_and_a_format_without_a_recipe_has_the_casts_of_the_stack) {
  EXPECT_EQ(job_of(with("")).precision.name, "bf16");
  const Job job = job_of(on_torchtitan("precision: fp8"));
  const PrecisionRecipe& plain = job.precision;
  EXPECT_EQ(plain.dtype, Dtype::kFp8);
  EXPECT_GT(job.stack.cast_bytes, 0);
  EXPECT_EQ(plain.cast_bytes, job.stack.cast_bytes);
  EXPECT_EQ(plain.weight_wire_bytes, 2);
}

TEST(ResolvePrecision, a_name_chooses_among_the_recipes_of_the_stack) {
  const PrecisionRecipe rowwise = job_of(on_torchtitan("precision: fp8_rowwise")).precision;
  EXPECT_EQ(rowwise.name, "fp8_rowwise");
  EXPECT_EQ(rowwise.dtype, Dtype::kFp8);
  EXPECT_EQ(rowwise.cast_bytes, 20);
  const Job blockwise = job_of(with("precision: fp8_blockwise"));
  EXPECT_EQ(blockwise.precision.cast_bytes, blockwise.stack.cast_bytes) << "missing = the stack's";
}

TEST(ResolvePrecision, a_recipe_can_be_written_in_place) {
  const Job job = job_of(with(
      "precision: mxfp8 stack_override { precision { name: mxfp8 dtype: fp8 gemm: \"ffn up\" forward: false "
      "input_gradient: true weight_gradient: false cast_bytes: 3 weight_bytes: 1 weight_wire_bytes: 1.25 "
      "activation_wire_bytes: 1.5 dispatch_wire_bytes: 1.75 combine_wire_bytes: 4 kept_bytes: 0.5 "
      "extra_kernels_per_layer: 11 } }"));
  const PrecisionRecipe& recipe = job.precision;
  EXPECT_EQ(recipe.gemms, std::vector<std::string>{"ffn up"});
  EXPECT_FALSE(recipe.forward);
  EXPECT_TRUE(recipe.input_gradient);
  EXPECT_FALSE(recipe.weight_gradient);
  EXPECT_EQ(recipe.cast_bytes, 3);
  EXPECT_EQ(recipe.weight_bytes, 1);
  EXPECT_EQ(recipe.weight_wire_bytes, 1.25);
  EXPECT_EQ(recipe.activation_wire_bytes, 1.5);
  EXPECT_EQ(recipe.dispatch_wire_bytes, 1.75);
  EXPECT_EQ(recipe.combine_wire_bytes, 4);
  EXPECT_EQ(recipe.kept_bytes, 0.5);
  // 11 kernels beside 22, and as many more in proportion backward.
  EXPECT_DOUBLE_EQ(job.stack.kernels_per_layer, 33);
  EXPECT_DOUBLE_EQ(job.stack.backward_kernels, 1.5 * 35.2);
}

TEST(ResolvePrecision, a_recipe_that_the_stack_lacks_is_shown_with_the_nearest) {
  EXPECT_EQ(
      problems_of(on_torchtitan("precision: fp8_blockwise")),
      Lines{"16:3 the stack torchtitan has no recipe \"fp8_blockwise\" | did you mean \"fp8_rowwise\"?"});
  EXPECT_EQ(problems_of(with("precision: fp8_rowise")),
            Lines{"16:14 job.precision must be one of fp32, bf16, fp16, fp8, fp4, int8, fp8_tensorwise, "
                  "fp8_rowwise, fp8_blockwise, mxfp8, mxfp4, nvfp4, not fp8_rowise | did you mean "
                  "fp8_rowwise?"});
}

TEST(ResolvePrecision, the_chip_must_have_the_format) {
  EXPECT_EQ(problems_of(with("precision: nvfp4")),
            Lines{"16:3 h100 has no matrix unit for fp4 | it has: bf16, fp16, fp8"});
  EXPECT_EQ(problems_of(with("gemm_precision { gemm: \"ffn up\" precision: int8 }")),
            Lines{"16:35 h100 has no matrix unit for int8 | it has: bf16, fp16, fp8"});
}

TEST(ResolvePrecision, matmuls_are_named_as_the_model_names_them) {
  const Job job = job_of(with("precision: fp8 gemm_precision { gemm: \"ffn down\" precision: bf16 }"));
  ASSERT_EQ(job.gemm_precision.size(), 1u);
  EXPECT_EQ(job.gemm_precision[0].gemm, "ffn down");
  EXPECT_EQ(job.gemm_precision[0].recipe.dtype, Dtype::kBf16);
  EXPECT_EQ(problems_of(with("gemm_precision { gemm: \"ffn dwon\" precision: bf16 }")),
            Lines{"16:20 the model has no matmul \"ffn dwon\" | did you mean \"ffn down\"?"});
}

TEST(ResolvePrecision, bytes_have_a_range) {
  EXPECT_EQ(problems_of(with("stack_override { precision { name: fp8 dtype: fp8 weight_wire_bytes: 0 } }")),
            Lines{"16:53 job.stack_override.precision[0].weight_wire_bytes must be from 0.25 to 8, not 0"});
}

TEST(ResolvePrecision, a_recipe_for_matmuls_that_the_model_lacks_is_a_warning) {
  const auto result =
      load(with("precision: fp8 stack_override { precision { name: fp8 dtype: fp8 gemm: \"expert up\" } }"));
  EXPECT_EQ(problems_of(result), Lines{});
  ASSERT_EQ(result.warnings.size(), 1u);
  EXPECT_EQ(result.warnings[0].message, "fp8 has no effect: the model has none of its matmuls");
}

// Attention, logits and embeddings stay in 16 bits, whatever the recipe.
TEST(ResolvePrecision, a_chip_without_a_rate_in_16_bits_is_refused) {
  EXPECT_EQ(
      problems_of(valid_but("  chip: \"h100\"\n",
                            "  chip: \"h100\"\n  chip_override { matmul { dtype: fp8 peak_tflops: 1979 "
                            "sustained: 0.6 } }\n")),
      Lines{"4:3 h100 has no matmul in 16 bits, in which attention and logits run | a list is replaced as "
            "a whole: write matmul { dtype: bf16 ... } beside the others"});
}

}  // namespace
}  // namespace podsim::precision_test
