// Which operations of a backward pass make gradients of weights only: those that may come apart from it.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/workload/models.h"

namespace podsim::testing::weight_gradient_test {
namespace {

double matmul_flops(const Block& block, bool weight_gradient) {
  double flops = 0;
  for (const ComputeOp& op : computes(block, OpClass::kMatmul))
    if (op.weight_gradient == weight_gradient) flops += op.flops.value;
  return flops;
}

TEST(WeightGradient, is_half_of_the_matmuls_of_a_backward_pass) {
  const StepProgram program = partition(job_of(gpt3_175b(), {{"tensor", 8}}, {"megatron_sp"}));
  for (const Part* part : {&layer_of(program), &head_of(program)}) {
    EXPECT_DOUBLE_EQ(matmul_flops(part->backward, true), matmul_flops(part->forward, false));
    EXPECT_DOUBLE_EQ(matmul_flops(part->backward, false), matmul_flops(part->forward, false));
  }
  for (const ComputeOp& op : computes(layer_of(program).backward, OpClass::kAttention))
    EXPECT_FALSE(op.weight_gradient);
}

// Sequence parallel: the two gradients that arrive in shards are gathered for both, the two normalised inputs
// again for the weights only.
TEST(WeightGradient, has_the_collectives_that_only_its_operands_need) {
  const StepProgram program = partition(job_of(gpt3_175b(), {{"tensor", 8}}, {"megatron_sp"}));
  const auto gathers =
      collectives(layer_of(program).backward, CollectiveKind::kAllGather, Purpose::kActivation);
  const auto of_weights = std::count_if(gathers.begin(), gathers.end(),
                                        [](const CollectiveOp& gather) { return gather.weight_gradient; });
  EXPECT_EQ(of_weights, 2);
  for (const CollectiveOp& gather : gathers)
    EXPECT_EQ(gather.weight_gradient, gather.tensor == "norm 1" || gather.tensor == "norm 2")
        << gather.tensor;
}

TEST(WeightGradient, has_the_reductions_of_a_matrix_with_those_of_vectors_that_join_it) {
  const StepProgram program = partition(job_of(llama3_70b(), {{"fsdp", 64}}, {"fsdp"}));
  const Block& backward = layer_of(program).backward;
  const auto reductions = collectives(backward, CollectiveKind::kReduceScatter, Purpose::kGradient);
  EXPECT_FALSE(reductions.empty());
  for (const CollectiveOp& reduction : reductions) EXPECT_TRUE(reduction.weight_gradient);
  for (const CollectiveOp& gather : collectives(backward, CollectiveKind::kAllGather, Purpose::kParameter))
    EXPECT_FALSE(gather.weight_gradient);
}

}  // namespace
}  // namespace podsim::testing::weight_gradient_test
