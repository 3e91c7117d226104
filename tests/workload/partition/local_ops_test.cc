// Local sizes, FLOPs and HBM bytes of single operations.
#include <gtest/gtest.h>

#include "tests/workload/models.h"
#include "workload/job/job.h"

namespace podsim::testing::local_ops_test {
namespace {

TEST(LocalShapes, matmuls_have_the_megatron_shapes) {
  const Job job = job_of(llama3_70b(), {{"data", 8}, {"tensor", 8}}, {"data", "megatron_sp"}, 4096);
  const StepProgram program = partition(job);
  const auto shape = [&](const std::string& name) {
    const ComputeOp& op = op_named(layer_of(program).forward, name);
    return std::tuple(op.m, op.n, op.k);
  };
  EXPECT_EQ(shape("qkv"), std::tuple(4096, (64 + 16) * 128 / 8, 8192));
  EXPECT_EQ(shape("attention out"), std::tuple(4096, 8192, 8192 / 8));
  EXPECT_EQ(shape("ffn up"), std::tuple(4096, 2 * 28672 / 8, 8192));
  EXPECT_EQ(shape("ffn down"), std::tuple(4096, 8192, 28672 / 8));
}

TEST(LocalShapes, uneven_shards_are_padded_to_the_largest) {
  const StepProgram program = partition(job_of(gpt3_175b(), {{"tensor", 8}}, {"megatron"}));
  EXPECT_EQ(op_named(head_of(program).forward, "logits").n, 6283);  // 50257 / 8 rounded up
}

TEST(LocalShapes, a_layer_that_normalises_what_blocks_add_has_two_more_norms_like_the_others) {
  Job job = job_of(llama3_8b(), {}, {});
  EXPECT_FALSE(has_op(layer_of(partition(job)).forward, "post norm 1"));
  const double before = partition(job).parameters;
  job.model.post_norms = true;
  const StepProgram program = partition(job);
  const Block& layer = layer_of(program).forward;
  EXPECT_EQ(op_named(layer, "post norm 1").hbm, op_named(layer, "norm 1").hbm);
  EXPECT_EQ(op_named(layer, "post norm 2").hbm, op_named(layer, "norm 2").hbm);
  EXPECT_EQ(program.parameters - before, 32 * 2 * 4096);
}

TEST(Matmul, reads_both_operands_and_writes_the_result_once) {
  const StepProgram program = partition(job_of(gpt3_175b(), {}, {}));
  const ComputeOp& op = op_named(layer_of(program).forward, "ffn down");
  EXPECT_DOUBLE_EQ(op.hbm.value, 2 * (op.m * op.k + op.k * op.n + op.m * op.n));
  const ComputeOp& wgrad =
      op_named(layer_of(program).backward, "ffn down wgrad");  // its result is an fp32 gradient
  EXPECT_DOUBLE_EQ(wgrad.hbm.value, 2 * (wgrad.m * wgrad.k + wgrad.k * wgrad.n) + 4 * wgrad.m * wgrad.n);
}

TEST(Matmul, rows_are_features_and_as_aligned_as_the_least_of_them) {
  const StepProgram program = partition(job_of(gpt3_175b(), {{"data", 2}}, {"data"}, 1001));
  const auto alignment = [&](const Block& block, const std::string& name) {
    return op_named(block, name).row_alignment;
  };
  EXPECT_EQ(alignment(head_of(program).forward, "logits"), 1);  // 50,257 of them
  EXPECT_EQ(alignment(head_of(program).backward, "logits dgrad"), 1);
  EXPECT_EQ(alignment(head_of(program).backward, "logits wgrad"), 1);
  EXPECT_EQ(alignment(layer_of(program).forward, "ffn down"), 64);  // whatever the number of tokens
  EXPECT_EQ(alignment(layer_of(program).backward, "ffn down wgrad"), 64);
}

TEST(Matmul, low_precision_covers_the_layers_and_leaves_logits_and_attention_in_bf16) {
  Job job = job_of(llama3_8b(), {}, {});
  job.precision = {.name = "fp8", .dtype = Dtype::kFp8, .cast_bytes = 4};
  const StepProgram program = partition(job);
  for (const ComputeOp& op : computes(layer_of(program).forward, OpClass::kMatmul))
    EXPECT_EQ(op.dtype, Dtype::kFp8) << op.name;
  EXPECT_EQ(op_named(layer_of(program).forward, "attention").dtype, Dtype::kBf16);
  EXPECT_EQ(op_named(head_of(program).forward, "logits").dtype, Dtype::kBf16);
  const ComputeOp& down = op_named(layer_of(program).forward, "ffn down");
  EXPECT_DOUBLE_EQ(op_named(layer_of(program).forward, "ffn down cast").hbm.value,
                   4 * (down.m * down.k + down.k * down.n));
  EXPECT_FALSE(has_op(head_of(program).forward, "logits cast"));
}

TEST(Attention, a_fused_causal_kernel_skips_the_masked_half) {
  Job job = job_of(gpt3_175b(), {{"tensor", 8}}, {"megatron"});
  const ComputeOp fused = op_named(layer_of(partition(job)).forward, "attention");
  EXPECT_DOUBLE_EQ(fused.flops.value, 4.0 * 2048 * (2048 + 1) / 2 * 12 * 128);
  EXPECT_TRUE(fused.causal);
  job.stack.attention_kernel = "unfused";
  const StepProgram program = partition(job);
  const ComputeOp& full = op_named(layer_of(program).forward, "attention");
  EXPECT_DOUBLE_EQ(full.flops.value, 4.0 * 2048 * 2048 * 12 * 128);
  EXPECT_FALSE(full.causal);
  EXPECT_DOUBLE_EQ(op_named(layer_of(program).forward, "attention softmax").hbm.value,
                   10.5 * 12 * 2048 * 2048);
}

// Bytes forward of the memory-bound operations of one layer, fitted on published runs; see
// docs/theory/model.md.
double fitted_layer_bytes(const Model& model, double tokens, double tensor, bool sequence_parallel) {
  const double heads = model.heads * model.head_dim, kv = model.kv_heads * model.head_dim;
  return 2 * tokens *
         (10 * model.d_model / (sequence_parallel ? tensor : 1) +
          (model.gated_ffn ? 3 : 1.5) * (heads + 2 * kv) / tensor +
          model.ffn * (model.gated_ffn ? 3 : 2) / tensor);
}

TEST(MemoryBound, traffic_of_a_layer_agrees_with_the_fitted_formula) {
  for (const Model& model : {gpt3_175b(), llama3_8b(), llama3_70b(), llama31_405b()}) {
    for (const char* preset : {"megatron", "megatron_sp"}) {
      Job job = job_of(model, {{"tensor", 8}}, {preset});
      const StepProgram program = partition(job);
      const double fitted = fitted_layer_bytes(model, job.sequence, 8, std::string(preset) == "megatron_sp");
      EXPECT_NEAR(total_hbm(layer_of(program).forward, OpClass::kMemoryBound) / fitted, 1, 0.2)
          << model.name << preset;
      EXPECT_NEAR(total_hbm(layer_of(program).backward, OpClass::kMemoryBound) / (1.5 * fitted), 1, 0.2)
          << model.name << preset;
    }
  }
}

TEST(MemoryBound, traffic_scales_with_the_stack) {
  Job job = job_of(llama3_8b(), {}, {});
  const double once = total_hbm(layer_of(partition(job)).forward, OpClass::kMemoryBound);
  job.stack.elementwise_traffic = 1.5;
  EXPECT_DOUBLE_EQ(total_hbm(layer_of(partition(job)).forward, OpClass::kMemoryBound), 1.5 * once);
}

TEST(MemoryBound, kernels_that_are_not_fused_move_what_lies_between_them) {
  Job job = job_of(llama3_8b(), {}, {});
  const auto moved = [&](const char* name) { return op_named(layer_of(partition(job)).forward, name).hbm; };
  const Bytes norm = moved("norm 1"), heads = moved("heads"), activation = moved("activation"),
              sum = moved("residual add 1");
  job.model.dropout = true;
  const Bytes dropped = moved("residual add 1");
  job.stack.fused = {false, false, false, false};
  EXPECT_DOUBLE_EQ(moved("norm 1") / norm, 34.0 / 4);
  EXPECT_DOUBLE_EQ(moved("heads") / heads, 36.0 / 12);
  EXPECT_DOUBLE_EQ(moved("activation") / activation, 10.0 / 6);
  EXPECT_DOUBLE_EQ(moved("residual add 1") / dropped, 11.0 / 7);
  job.model.dropout = false;
  EXPECT_EQ(moved("residual add 1"), sum) << "a sum without dropout is one kernel";
  job.model = bert_large();
  job.stack.fused.rotary = true;
  const Bytes plain = moved("heads");
  job.stack.fused.rotary = false;
  EXPECT_EQ(moved("heads"), plain) << "a model with a table of positions turns no heads";
}

// Of 32 + 2 x 8 heads in a row of Llama's 32 queries and 8 keys are normed, 34 bytes where one pass moves 4.
TEST(MemoryBound, norms_of_queries_and_keys_that_are_not_fused_move_what_other_norms_do) {
  Job job = job_of(llama3_8b(), {}, {});
  const auto moved = [&] { return op_named(layer_of(partition(job)).forward, "heads").hbm; };
  const Bytes plain = moved();
  job.stack.fused.norm = false;
  EXPECT_EQ(moved(), plain) << "a model without them";
  job.model.qk_norm = true;
  EXPECT_DOUBLE_EQ(moved() / plain, 1 + 34.0 / 4 * 40 / 48);
  job.stack.fused.norm = true;
  EXPECT_EQ(moved(), plain);
}

TEST(Launches, of_a_layer_are_in_proportion_to_its_operations) {
  const auto launches = [](const Job& job) { return layer_of(partition(job)).launches; };
  Job job = job_of(llama3_8b(), {}, {});
  EXPECT_DOUBLE_EQ(launches(job), 1);
  EXPECT_DOUBLE_EQ(launches(job_of(gpt3_175b(), {}, {})), 1);
  EXPECT_DOUBLE_EQ(launches(job_of(gpt3_175b(), {{"tensor", 8}}, {"megatron"})), 1) << "cut or not";
  job.model.post_norms = true;
  EXPECT_DOUBLE_EQ(launches(job), 13.0 / 11);
  job.model.post_norms = false;
  job.model.qk_norm = true;
  EXPECT_DOUBLE_EQ(launches(job), 1) << "fused with the turning of heads";
  job.stack.fused.norm = false;
  EXPECT_DOUBLE_EQ(launches(job), (11 + 2 * 2.5 + 2 * 3.5) / 11) << "two norms of the layer, two of heads";
  job.model.qk_norm = false;
  job.stack.fused = {.norm = true, .rotary = false};
  EXPECT_DOUBLE_EQ(launches(job), 15.0 / 11);
}

// 10 bytes per gradient element and microbatch, in the pass of the weight gradients.
TEST(MemoryBound, gradients_that_no_matmul_adds_up_are_added_by_a_kernel_of_their_own) {
  Job job = job_of(llama3_8b(), {{"fsdp", 8}}, {"fsdp"});
  EXPECT_FALSE(has_op(layer_of(partition(job)).backward, "layer gradient sum"));
  job.stack.gradient_add_bytes = 10;
  const StepProgram program = partition(job);
  const ComputeOp& sum = op_named(layer_of(program).backward, "layer gradient sum");
  EXPECT_DOUBLE_EQ(sum.hbm.value, 10 * layer_of(program).local_gradients);
  EXPECT_TRUE(sum.weight_gradient);
}

TEST(Loss, forward_and_backward_together_move_the_bytes_of_the_stack) {
  const Job job = job_of(llama3_8b(), {{"tensor", 2}}, {"megatron"});
  const StepProgram program = partition(job);
  const double both = (op_named(head_of(program).forward, "loss").hbm +
                       op_named(head_of(program).backward, "loss backward").hbm)
                          .value;
  EXPECT_NEAR(both, 13.0 * 2048 * 128256 / 2, 1);
}

TEST(Optimizer, reads_and_writes_each_state_byte_once) {
  const StepProgram program = partition(job_of(llama3_8b(), {{"fsdp", 8}}, {"fsdp"}));
  ASSERT_EQ(layer_of(program).optimizer.size(), 1u);
  const auto& op = std::get<ComputeOp>(layer_of(program).optimizer[0]);
  EXPECT_EQ(op.op_class, OpClass::kOptimizer);
  EXPECT_DOUBLE_EQ(op.hbm.value, 24 * layer_of(program).parameters / 8);
}

TEST(Optimizer, an_update_of_several_kernels_moves_as_many_times_more) {
  Job job = job_of(llama3_8b(), {{"fsdp", 8}}, {"fsdp"});
  job.stack.optimizer_traffic = 3;
  const StepProgram program = partition(job);
  const auto& op = std::get<ComputeOp>(layer_of(program).optimizer[0]);
  EXPECT_DOUBLE_EQ(op.hbm.value, 3 * 24 * layer_of(program).parameters / 8);
}

// A layer of Llama: two norms, qkv, attention out, up and down.
TEST(Optimizer, updates_every_weight_of_a_piece) {
  const StepProgram program = partition(job_of(llama3_8b(), {{"fsdp", 8}}, {"fsdp"}));
  EXPECT_EQ(layer_of(program).weights, 6);
  EXPECT_EQ(embedding_of(program).weights, 1);
}

TEST(UpdatedWeights, go_out_together_or_each_from_its_owner) {
  Job job = job_of(llama3_8b(), {{"data", 8}}, {"data", "zero1"});
  const auto gathers = collectives(layer_of(partition(job)).parameter_gather);
  ASSERT_EQ(gathers.size(), 1u);
  job.stack.gathers_by_owner = true;
  const StepProgram program = partition(job);
  const auto sends =
      collectives(layer_of(program).parameter_gather, CollectiveKind::kBroadcast, Purpose::kParameter);
  EXPECT_EQ(static_cast<int>(sends.size()), layer_of(program).weights);
  EXPECT_DOUBLE_EQ(total_bytes(sends), total_bytes(gathers));
}

}  // namespace
}  // namespace podsim::testing::local_ops_test
