// Sizes of replicas that a model and a network allow, and that the best of them is taken.
#include "prediction/replica_sizes.h"

#include <gtest/gtest.h>

#include <vector>

#include "prediction/inference.h"
#include "tests/prediction/scenario.h"

namespace podsim::replica_sizes_test {
namespace {

using Sizes = std::vector<int>;

Spec rack() { return testing::load("inference/llama31_405b_72_gb200"); }

TEST(ReplicaSizes, divide_heads_and_widths_and_lie_in_one_domain) {
  Spec spec = rack();
  EXPECT_EQ(replica_sizes(spec.job.model, spec.cluster.fabric), (Sizes{1, 2, 4, 8, 16, 32, 64}));
  Model& model = spec.job.model;
  model.heads = 96;
  model.kv_heads = 24;
  model.ffn = 49152;
  EXPECT_EQ(replica_sizes(model, spec.cluster.fabric), (Sizes{1, 2, 3, 4, 6, 8, 12, 24, 48}));
  model.ffn = 3 * 1024;
  EXPECT_EQ(replica_sizes(model, spec.cluster.fabric), (Sizes{1, 2, 3, 4, 6, 8, 12, 24, 48}));
  model.ffn = 1024;
  EXPECT_EQ(replica_sizes(model, spec.cluster.fabric), (Sizes{1, 2, 4, 8}));
}

TEST(ReplicaSizes, cut_experts_by_number_or_by_width) {
  Spec spec = testing::load("inference/mixtral_8x7b_8_h200");
  Model& model = spec.job.model;
  model.heads = model.kv_heads = 24;
  model.ffn = 0;
  model.experts->experts = 6;
  model.experts->expert_ffn = 1024;
  EXPECT_EQ(replica_sizes(model, spec.cluster.fabric), (Sizes{1, 2, 3, 4, 6, 8}));
  model.experts->shared_ffn = 512;
  EXPECT_EQ(replica_sizes(model, spec.cluster.fabric), (Sizes{1, 2, 4, 8}));
}

TEST(ReplicaSizes, of_a_torus_lie_in_one_slice) {
  const Spec spec = testing::load("llama3_70b_512_v5p");
  EXPECT_EQ(chips_per_domain(spec.cluster.fabric), spec.cluster.fabric.chips / spec.cluster.fabric.slices);
  EXPECT_EQ(replica_sizes(spec.job.model, spec.cluster.fabric).back(), 64);
}

TEST(ReplicaSizes, that_do_not_work_are_told_with_the_nearest_that_do) {
  const Spec spec = rack();
  const auto why = [&](int chips) {
    return explain_invalid_replica(spec.job.model, spec.cluster.fabric, chips);
  };
  EXPECT_EQ(why(16), "");
  EXPECT_EQ(
      why(3),
      "a replica of 3 chips does not divide heads 128 of llama31_405b: the nearest that work are 2 and 4");
  EXPECT_EQ(
      why(100),
      "a replica of 100 chips reaches beyond the 72 that are joined without the network between servers: the "
      "nearest that works is 64");
}

// Three chips of this rack hold a model that two do not.
TEST(ReplicaSizesLaw, no_size_that_is_allowed_serves_more_than_the_one_that_is_taken) {
  Spec spec = rack();
  spec.job.model.heads = 96;
  spec.job.model.kv_heads = 24;
  spec.job.model.ffn = 49152;
  InferenceQuestion asked;
  asked.cluster = spec.cluster;
  asked.job = spec.job;
  asked.prompt_tokens = 1024;
  asked.output_tokens = 256;
  asked.weights = Dtype::kFp8;
  asked.kv_bytes = 1;
  asked.memory_share = 0.9;
  asked.activation_bytes = 2;
  std::string why;
  const auto taken = estimate_inference(asked, why);
  ASSERT_TRUE(taken) << why;
  EXPECT_EQ(taken->tensor, 3);
  for (const int tensor : replica_sizes(spec.job.model, spec.cluster.fabric)) {
    asked.tensor = tensor;
    EXPECT_EQ(explain_invalid(asked), "");
    const auto other = estimate_inference(asked, why);
    EXPECT_LE(other ? other->output_tokens_per_s : 0, taken->output_tokens_per_s) << tensor;
  }
}

}  // namespace
}  // namespace podsim::replica_sizes_test
