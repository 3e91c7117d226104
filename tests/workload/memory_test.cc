// Bytes per device against the closed forms of the literature.
#include <gtest/gtest.h>

#include "models.h"

namespace podsim::testing {
namespace {

// Activation bytes of one layer in units of sequence x batch x d_model, from a two-layer difference on one
// device.
double stored_per_layer(Job job) {
  job.stack.fragmentation = 0;
  job.model.layers = 3;
  const double three = partition(job, {}).memory[0].activations.value;
  job.model.layers = 2;
  return (three - partition(job, {}).memory[0].activations.value) /
         (2048.0 * job.microbatch * job.model.d_model);
}

TEST(ActivationMemory, follows_korthikanti_without_the_dropout_masks) {
  // 10 + 24 / t without sequence parallelism, 34 / t with it; 2 of each are dropout masks, which are not
  // kept.
  EXPECT_NEAR(stored_per_layer(job_of(gpt3_175b(), {}, {})), 34 - 2, 1e-9);
  EXPECT_NEAR(stored_per_layer(job_of(gpt3_175b(), {{"tensor", 8}}, {"megatron"})), 10 - 2 + 24.0 / 8, 1e-9);
  EXPECT_NEAR(stored_per_layer(job_of(gpt3_175b(), {{"tensor", 8}}, {"megatron_sp"})), (34 - 2) / 8.0, 1e-9);
}

TEST(ActivationMemory, unfused_scores_are_stored_unless_selected) {
  Job job = job_of(gpt3_175b(), {{"tensor", 8}}, {"megatron_sp"});
  job.stack.attention_kernel = "unfused";
  EXPECT_NEAR(stored_per_layer(job), (32 + 5 * 96 * 2048.0 / 12288) / 8, 1e-9);
  job.recompute = Recompute::kSelective;
  EXPECT_NEAR(stored_per_layer(job), 32 / 8.0, 1e-9);
}

TEST(ActivationMemory, full_recompute_keeps_the_layer_input) {
  Job job = job_of(gpt3_175b(), {{"tensor", 8}}, {"megatron_sp"});
  job.recompute = Recompute::kFull;
  EXPECT_NEAR(stored_per_layer(job), 2 / 8.0, 1e-9);
}

TEST(StateMemory, is_eighteen_bytes_per_parameter_divided_by_the_shards) {
  const StepProgram whole = partition(job_of(llama3_8b(), {}, {}), {});
  const MemoryUse use = whole.memory[0];
  EXPECT_DOUBLE_EQ((use.weights + use.gradients + use.optimizer).value, 18 * whole.parameters);
  EXPECT_EQ(use.buffers.value, 0);
  const MemoryUse sharded = partition(job_of(llama3_8b(), {{"fsdp", 16}}, {"fsdp"}), {}).memory[0];
  EXPECT_DOUBLE_EQ((sharded.weights + sharded.gradients + sharded.optimizer).value,
                   18 * whole.parameters / 16);
}

TEST(StateMemory, zero1_divides_the_optimizer_only) {
  const MemoryUse plain = partition(job_of(gpt3_175b(), {{"data", 16}}, {"data"}), {}).memory[0];
  const MemoryUse sharded = partition(job_of(gpt3_175b(), {{"data", 16}}, {"data", "zero1"}), {}).memory[0];
  EXPECT_EQ(sharded.weights, plain.weights);
  EXPECT_EQ(sharded.gradients, plain.gradients);
  EXPECT_NEAR(sharded.optimizer.value / plain.optimizer.value, 1.0 / 16, 1e-6);
}

TEST(GatheredWeights, two_pieces_are_held_at_a_time) {
  const StepProgram program = partition(job_of(llama3_8b(), {{"fsdp", 16}}, {"fsdp"}), {});
  EXPECT_DOUBLE_EQ(program.memory[0].buffers.value,
                   2 * (layer_of(program).parameters + head_of(program).parameters));
}

TEST(Logits, count_once_in_bf16_and_once_in_fp32_on_the_head_stage) {
  Job job = job_of(llama3_8b(), {{"pipeline", 2}, {"tensor", 2}}, {"megatron"});
  job.pipeline_axis = "pipeline";
  const StepProgram program = partition(job, {});
  EXPECT_EQ(program.memory[0].logits.value, 0);
  EXPECT_DOUBLE_EQ(program.memory[1].logits.value, 6.0 * 2048 * 128256 / 2);
}

TEST(PipelineMemory, one_f_one_b_holds_as_many_microbatches_as_stages_remain) {
  Job job = job_of(megatron_530b(), {{"pipeline", 35}, {"tensor", 8}}, {"megatron_sp"});
  job.pipeline_axis = "pipeline";
  job.global_batch = 280;
  const StepProgram program = partition(job, {});
  const double last = (program.memory[33].activations.value) / 2;
  EXPECT_NEAR(program.memory[0].activations.value, 35 * last, 1);
  job.schedule = PipelineSchedule::kGpipe;
  EXPECT_NEAR(partition(job, {}).memory[0].activations.value, 280 * last, 10);
}

TEST(Fragmentation, is_a_share_of_everything_else) {
  Job job = job_of(llama3_8b(), {}, {});
  job.stack.fragmentation = 0.1;
  const MemoryUse use = partition(job, {}).memory[0];
  EXPECT_NEAR(use.total().value, 11 * use.fragmentation.value, 1);
}

}  // namespace
}  // namespace podsim::testing
