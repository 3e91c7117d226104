// The derived backward program: its FLOPs, what it saves and what it computes again.
#include "workload/model/autodiff.h"

#include <gtest/gtest.h>

#include "tests/workload/models.h"
#include "workload/model/transformer.h"

namespace podsim::testing::autodiff_test {
namespace {

TEST(Backward, matmuls_take_twice_the_forward_flops) {
  const StepProgram program = partition(job_of(llama3_8b(), {{"tensor", 4}}, {"megatron"}));
  for (const Part* part : {&layer_of(program), &head_of(program)}) {
    EXPECT_DOUBLE_EQ(total_flops(part->backward, OpClass::kMatmul),
                     2 * total_flops(part->forward, OpClass::kMatmul));
  }
}

TEST(Backward, data_gradients_swap_n_and_k_and_weight_gradients_contract_tokens) {
  const StepProgram program = partition(job_of(gpt3_175b(), {{"tensor", 8}}, {"megatron"}));
  const ComputeOp& forward = op_named(layer_of(program).forward, "ffn up");
  const ComputeOp& dgrad = op_named(layer_of(program).backward, "ffn up dgrad");
  const ComputeOp& wgrad = op_named(layer_of(program).backward, "ffn up wgrad");
  EXPECT_EQ(std::tuple(dgrad.m, dgrad.n, dgrad.k), std::tuple(forward.m, forward.k, forward.n));
  EXPECT_EQ(std::tuple(wgrad.m, wgrad.n, wgrad.k), std::tuple(forward.k, forward.n, forward.m));
  EXPECT_TRUE(dgrad.backward);
}

TEST(Backward, flash_attention_takes_five_matmuls_against_two_and_unfused_four) {
  Job job = job_of(gpt3_175b(), {}, {});
  const auto ratio = [&] {
    const StepProgram program = partition(job);
    return op_named(layer_of(program).backward, "attention backward").flops /
           op_named(layer_of(program).forward, "attention").flops;
  };
  EXPECT_DOUBLE_EQ(ratio(), 2.5);
  job.stack.attention_kernel = "unfused";
  EXPECT_DOUBLE_EQ(ratio(), 2);
}

TEST(Backward, every_parameter_gets_one_gradient) {
  for (Graph graph : {embedding_graph(job_of(gpt3_175b(), {}, {})), layer_graph(job_of(gpt3_175b(), {}, {})),
                      layer_graph(job_of(palm_540b(), {}, {})), head_graph(job_of(gpt3_175b(), {}, {}))}) {
    const std::size_t forward = graph.tensors.size();
    const Backward backward = differentiate(graph, 4);
    for (std::size_t id = 0; id < forward; ++id) {
      if (!is_parameter(graph.tensors[id])) continue;
      int producers = 0;
      for (const Operation& op : backward.operations) {
        for (const Operand& output : op.outputs) producers += output.tensor == backward.gradient_of[id];
      }
      EXPECT_EQ(producers, 1) << graph.tensors[id].name;
    }
  }
}

TEST(Recompute, stops_before_the_last_projection_only_if_the_stack_does) {
  Job job = job_of(gpt3_175b(), {{"tensor", 8}}, {"megatron_sp"});
  job.recompute = Recompute::kFull;
  const StepProgram early = partition(job);
  EXPECT_TRUE(has_op(layer_of(early).backward, "ffn up recompute"));
  EXPECT_TRUE(has_op(layer_of(early).backward, "attention recompute"));
  EXPECT_FALSE(has_op(layer_of(early).backward, "ffn down recompute"));
  job.stack.recompute_stops_early = false;
  const StepProgram whole = partition(job);
  EXPECT_TRUE(has_op(layer_of(whole).backward, "ffn down recompute"));
  EXPECT_EQ(collectives(layer_of(whole).backward).size(), collectives(layer_of(early).backward).size() + 1);
  EXPECT_DOUBLE_EQ(total_flops(layer_of(whole).backward, OpClass::kMatmul),
                   3 * total_flops(layer_of(whole).forward, OpClass::kMatmul));
}

TEST(Recompute, repeats_the_collectives_of_the_forward) {
  Job job = job_of(gpt3_175b(), {{"tensor", 8}}, {"megatron"});
  job.recompute = Recompute::kFull;
  job.stack.recompute_stops_early = false;
  const StepProgram program = partition(job);
  EXPECT_EQ(collectives(layer_of(program).backward).size(), 4u);
}

TEST(Recompute, selective_repeats_unfused_attention_and_nothing_of_a_fused_one) {
  Job job = job_of(gpt3_175b(), {{"tensor", 8}}, {"megatron_sp"});
  const std::size_t none = layer_of(partition(job)).backward.size();
  job.recompute = Recompute::kSelective;
  EXPECT_EQ(layer_of(partition(job)).backward.size(), none);
  job.stack.attention_kernel = "unfused";
  const StepProgram program = partition(job);
  EXPECT_TRUE(has_op(layer_of(program).backward, "attention recompute"));
  EXPECT_TRUE(has_op(layer_of(program).backward, "attention recompute softmax"));
  EXPECT_FALSE(has_op(layer_of(program).backward, "qkv recompute"));
}

}  // namespace
}  // namespace podsim::testing::autodiff_test
