// What models and stacks say of experts: units, defaults, and values that are refused.
#include <gtest/gtest.h>

#include "tests/proto/scenario.h"

namespace podsim::expert_fields_test {
namespace {

std::string with(const std::string& fields) {
  return valid_but("  sequence_tokens: 8192\n", "  sequence_tokens: 8192\n  " + fields + "\n");
}

Job job_of(const std::string& fields) {
  const auto result = load(with(fields));
  EXPECT_EQ(problems_of(result), Lines{});
  return result.spec.value_or(Spec{}).job;
}

Lines problems_of_model(const std::string& fields) {
  return problems_of(with("model_override { experts { " + fields + " } }"));
}

Lines problems_of_stack(const std::string& fields) {
  return problems_of(with("stack_override { " + fields + " }"));
}

TEST(ExpertFields, of_a_stack_are_read) {
  const Stack stack =
      job_of(
          "stack_override { sink_attention: 0.5 experts { gemm_factor: 0.75 traffic: 2 kernels: 30 "
          "permutation_traffic: 6 kernels_per_expert: 4 synchronises: true exchange_hidden: 0.25 "
          "once_per_domain: true "
          "tile_rows: 128 tile: 256 } }")
          .stack;
  EXPECT_EQ(stack.sink_attention, 0.5);
  EXPECT_EQ(stack.experts.gemm_factor, 0.75);
  EXPECT_EQ(stack.experts.traffic, 2);
  EXPECT_EQ(stack.experts.permutation_traffic, 6);
  EXPECT_EQ(stack.experts.kernels, 30);
  EXPECT_EQ(stack.experts.kernels_per_expert, 4);
  EXPECT_TRUE(stack.experts.synchronises);
  EXPECT_EQ(stack.experts.exchange_hidden, 0.25);
  EXPECT_TRUE(stack.experts.once_per_domain);
  EXPECT_EQ(stack.experts.tile_rows, 128);
  EXPECT_EQ(stack.experts.tile, 256);
}

TEST(ExpertFields, of_a_stack_out_of_range_are_told) {
  EXPECT_EQ(problems_of_stack("sink_attention: 0"),
            Lines{"16:20 job.stack_override.sink_attention must be from 0.001 to 10, not 0"});
  EXPECT_EQ(problems_of_stack("experts { gemm_factor: 0 traffic: 0 kernels: -1 kernels_per_expert: -1 }"),
            (Lines{"16:30 job.stack_override.experts.gemm_factor must be from 0.001 to 10, not 0",
                   "16:45 job.stack_override.experts.traffic must be above 0 and at most 100, not 0",
                   "16:56 job.stack_override.experts.kernels must be from 0 to 100,000, not -1",
                   "16:68 job.stack_override.experts.kernels_per_expert must be from 0 to 100,000, not -1"}));
  EXPECT_EQ(problems_of_stack("experts { exchange_hidden: 2 tile_rows: -1 tile: -1 }"),
            (Lines{"16:30 job.stack_override.experts.exchange_hidden must be from 0 to 1, not 2"
                   " | a share: 2 % is 0.02",
                   "16:49 job.stack_override.experts.tile_rows must be from 0 to 100,000, not -1",
                   "16:63 job.stack_override.experts.tile must be from 0 to 100,000, not -1"}));
}

TEST(ExpertFields, of_a_model_out_of_range_are_told) {
  const std::string experts = "job.model_override.experts.";
  EXPECT_EQ(problems_of_model("experts: 0 experts_per_token: 0 expert_ffn: 0"),
            (Lines{"16:30 " + experts + "experts must be from 1 to 100,000, not 0",
                   "16:41 " + experts + "experts_per_token must be from 1 to 1,000, not 0",
                   "16:62 " + experts + "expert_ffn must be from 1 to 10,000,000, not 0"}));
  const std::string valid = "experts: 8 experts_per_token: 2 expert_ffn: 14336 ";
  EXPECT_EQ(problems_of_model(valid + "shared_ffn: -1 dense_layers: -1 every: 0"),
            (Lines{"16:80 " + experts + "shared_ffn must be from 0 to 10,000,000, not -1",
                   "16:95 " + experts + "dense_layers must be from 0 to 10,000, not -1",
                   "16:112 " + experts + "every must be from 1 to 10,000, not 0"}));
  EXPECT_EQ(problems_of_model(valid + "capacity_factor: 0 imbalance: 0.5 most_groups: -1"),
            (Lines{"16:80 " + experts + "capacity_factor must be from 0.01 to 1,000, not 0",
                   "16:99 " + experts + "imbalance must be from 1 to 1,000, not 0.5",
                   "16:114 " + experts + "most_groups must be from 0 to 100,000, not -1"}));
}

}  // namespace
}  // namespace podsim::expert_fields_test
