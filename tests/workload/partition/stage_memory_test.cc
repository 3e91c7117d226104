// Bytes per device against the closed forms of the literature.
#include <gtest/gtest.h>

#include "tests/workload/models.h"
#include "workload/model/model_program.h"
#include "workload/partition/partition_part.h"

namespace podsim::testing::stage_memory_test {
namespace {

// Activation bytes of one layer in units of sequence x batch x d_model, from a two-layer difference on one
// device.
double stored_per_layer(Job job) {
  job.stack.fragmentation = 0;
  job.model.layers = 3;
  const double three = partition(job).memory[0].activations.value;
  job.model.layers = 2;
  return (three - partition(job).memory[0].activations.value) / (2048.0 * job.microbatch * job.model.d_model);
}

Job dropped(Job job) {
  job.model.dropout = true;
  return job;
}

TEST(ActivationMemory, follows_korthikanti_with_dropout_and_leaves_out_its_masks_without) {
  const auto tensor = [](const char* preset) { return job_of(gpt3_175b(), {{"tensor", 8}}, {preset}); };
  EXPECT_NEAR(stored_per_layer(dropped(job_of(gpt3_175b(), {}, {}))), 34, 1e-9);
  EXPECT_NEAR(stored_per_layer(job_of(gpt3_175b(), {}, {})), 34 - 2, 1e-9);
  EXPECT_NEAR(stored_per_layer(dropped(tensor("megatron"))), 10 + 24.0 / 8, 1e-9);
  EXPECT_NEAR(stored_per_layer(tensor("megatron")), 10 - 2 + 24.0 / 8, 1e-9);
  EXPECT_NEAR(stored_per_layer(dropped(tensor("megatron_sp"))), 34 / 8.0, 1e-9);
  EXPECT_NEAR(stored_per_layer(tensor("megatron_sp")), (34 - 2) / 8.0, 1e-9);
}

TEST(ActivationMemory, unfused_scores_are_stored_unless_selected) {
  Job job = job_of(gpt3_175b(), {{"tensor", 8}}, {"megatron_sp"});
  job.stack.attention_kernel = "unfused";
  const double per_score = 96 * 2048.0 / 12288;
  EXPECT_NEAR(stored_per_layer(job), (32 + 2 * per_score) / 8, 1e-9);
  EXPECT_NEAR(stored_per_layer(dropped(job)), (34 + 5 * per_score) / 8, 1e-9);
  job.recompute = Recompute::kSelective;
  EXPECT_NEAR(stored_per_layer(job), 32 / 8.0, 1e-9);
}

// Both blocks of a layer gather their input whole: 2 x 2 bytes, of which an eighth each is there anyhow.
TEST(ActivationMemory, gathered_inputs_stay_where_the_stack_keeps_them) {
  Job job = job_of(gpt3_175b(), {{"tensor", 8}}, {"megatron_sp"});
  const double sharded = stored_per_layer(job);
  job.stack.keeps_gathered = true;
  EXPECT_NEAR(stored_per_layer(job) - sharded, 2 * 2 * (1 - 1.0 / 8), 1e-9);
  EXPECT_LT(
      collectives(layer_of(partition(job)).backward, CollectiveKind::kAllGather, Purpose::kActivation).size(),
      4u)
      << "backward gathers gradients alone";
}

// Llama's layer: 2 norms of the embedding, and an activation as wide as 3.5 embeddings.
TEST(ActivationMemory, unfused_kernels_keep_what_lies_between_them) {
  Job job = job_of(llama3_8b(), {}, {});
  const double fused = stored_per_layer(job);
  job.stack.fused.norm = false;
  EXPECT_NEAR(stored_per_layer(job) - fused, 2 * 6, 1e-9);
  job.stack.fused.activation = false;
  EXPECT_NEAR(stored_per_layer(job) - fused, 2 * 6 + 2 * 3.5, 1e-9);
  job.model.qk_norm = true;  // queries are as wide as the embedding, keys a quarter of it
  job.stack.fused = {};
  const double fused_norms = stored_per_layer(job);
  job.stack.fused.norm = false;
  EXPECT_NEAR(stored_per_layer(job) - fused_norms, 2 * 6 + 6 * 1.25, 1e-9);
  job.recompute = Recompute::kFull;
  EXPECT_NEAR(stored_per_layer(job), 2, 1e-9) << "made again with the layer";
}

// Forward writes a mask of a byte per element; backward reads gradient and mask and writes the dropped
// gradient.
TEST(Dropout, moves_its_masks_through_memory) {
  const Job plain = job_of(gpt3_175b(), {}, {});
  const StepProgram without = partition(plain), with = partition(dropped(plain));
  const double elements = 2048.0 * 12288;
  EXPECT_EQ(op_named(layer_of(with).forward, "residual add 1").hbm.value -
                op_named(layer_of(without).forward, "residual add 1").hbm.value,
            elements);
  EXPECT_EQ(op_named(layer_of(with).backward, "residual add 2 dropout backward").hbm.value, 5 * elements);
  EXPECT_EQ(op_named(embedding_of(with).forward, "embedding dropout").hbm.value, 5 * elements);
  EXPECT_FALSE(has_op(layer_of(without).backward, "residual add 2 dropout backward"));
}

TEST(Dropout, waits_for_whole_sums) {
  const StepProgram program = partition(dropped(job_of(gpt3_175b(), {{"tensor", 8}}, {"megatron"})));
  EXPECT_EQ(collectives(layer_of(program).forward, CollectiveKind::kAllReduce, Purpose::kActivation).size(),
            2u);
  EXPECT_EQ(collectives(layer_of(program).backward, CollectiveKind::kAllReduce, Purpose::kActivation).size(),
            2u);
}

// Inputs of the four matmuls and gradients of their results: M_W of arXiv 2401.10241, section 3.
TEST(ActivationMemory, weight_gradients_alone_need_32_bytes_per_element_of_a_gpt_layer) {
  const Job job = job_of(gpt3_175b(), {}, {});
  const ModelPart layer = model_program(job).parts[1];
  ASSERT_EQ(layer.name, "layer");
  EXPECT_EQ(partition_part(job, SentBytes(), layer, nullptr).footprint.for_weights.value,
            32 * 2048.0 * job.microbatch * job.model.d_model);
}

TEST(GradientMemory, may_be_wider_than_what_is_sent) {
  Job job = job_of(llama3_8b(), {{"data", 2}}, {"data"});
  job.stack.gradient_bytes = 2;
  const StepProgram narrow = partition(job);
  job.stack.gradient_memory_bytes = 4;
  const StepProgram wide = partition(job);
  EXPECT_EQ(wide.memory[0].gradients.value, 2 * narrow.memory[0].gradients.value);
  EXPECT_EQ(total_bytes(collectives(layer_of(wide).gradient_reduce)),
            total_bytes(collectives(layer_of(narrow).gradient_reduce)));
}

TEST(ActivationMemory, full_recompute_keeps_the_layer_input) {
  Job job = job_of(gpt3_175b(), {{"tensor", 8}}, {"megatron_sp"});
  job.recompute = Recompute::kFull;
  EXPECT_NEAR(stored_per_layer(job), 2 / 8.0, 1e-9);
}

TEST(StateMemory, is_eighteen_bytes_per_parameter_divided_by_the_shards) {
  const StepProgram whole = partition(job_of(llama3_8b(), {}, {}));
  const MemoryUse use = whole.memory[0];
  EXPECT_DOUBLE_EQ((use.weights + use.gradients + use.optimizer).value, 18 * whole.parameters);
  EXPECT_EQ(use.buffers.value, 0);
  const MemoryUse sharded = partition(job_of(llama3_8b(), {{"fsdp", 16}}, {"fsdp"})).memory[0];
  EXPECT_DOUBLE_EQ((sharded.weights + sharded.gradients + sharded.optimizer).value,
                   18 * whole.parameters / 16);
}

TEST(StateMemory, zero1_divides_the_optimizer_only) {
  const MemoryUse plain = partition(job_of(gpt3_175b(), {{"data", 16}}, {"data"})).memory[0];
  const MemoryUse sharded = partition(job_of(gpt3_175b(), {{"data", 16}}, {"data", "zero1"})).memory[0];
  EXPECT_EQ(sharded.weights, plain.weights);
  EXPECT_EQ(sharded.gradients, plain.gradients);
  EXPECT_NEAR(sharded.optimizer.value / plain.optimizer.value, 1.0 / 16, 1e-6);
}

TEST(GatheredWeights, two_pieces_are_held_at_a_time) {
  const StepProgram program = partition(job_of(llama3_8b(), {{"fsdp", 16}}, {"fsdp"}));
  EXPECT_DOUBLE_EQ(program.memory[0].buffers.value,
                   2 * (layer_of(program).parameters + head_of(program).parameters));
}

TEST(Logits, count_once_in_bf16_and_once_in_fp32_on_the_head_stage) {
  Job job = job_of(llama3_8b(), {{"pipeline", 2}, {"tensor", 2}}, {"megatron"});
  job.pipeline_axis = "pipeline";
  const StepProgram program = partition(job);
  EXPECT_EQ(program.memory[0].logits.value, 0);
  EXPECT_DOUBLE_EQ(program.memory[1].logits.value, 6.0 * 2048 * 128256 / 2);
}

TEST(PipelineMemory, one_f_one_b_holds_as_many_microbatches_as_stages_remain) {
  Job job = job_of(megatron_530b(), {{"pipeline", 35}, {"tensor", 8}}, {"megatron_sp"});
  job.pipeline_axis = "pipeline";
  job.global_batch = 280;
  const StepProgram program = partition(job);
  const double last = (program.memory[33].activations.value) / 2;
  EXPECT_NEAR(program.memory[0].activations.value, 35 * last, 1);
  job.schedule = PipelineSchedule::kGpipe;
  EXPECT_NEAR(partition(job).memory[0].activations.value, 280 * last, 10);
}

// Of a Llama layer, the two norms and the activation are read again by matmuls only.
TEST(ActivationMemory, casts_are_kept_for_eight_bit_matmuls_where_the_recipe_does) {
  Job job = job_of(llama3_8b(), {}, {});
  const double whole = stored_per_layer(job);
  job.precision.dtype = Dtype::kFp8;
  EXPECT_EQ(stored_per_layer(job), whole);
  job.precision.kept_bytes = 1;
  EXPECT_NEAR(whole - stored_per_layer(job), 2 + 14336.0 / 4096, 1e-9);
  job.precision.dtype = Dtype::kFp4;
  job.precision.kept_bytes = 0.5;
  EXPECT_NEAR(whole - stored_per_layer(job), 1.5 * (2 + 14336.0 / 4096), 1e-9);
}

TEST(GatheredWeights, may_be_single_matrices) {
  Job job = job_of(llama3_8b(), {{"fsdp", 16}}, {"fsdp"});
  job.stack.gathers_layers = false;
  // The output table of the head, before it the up projection of the last layer, and the norm with each.
  EXPECT_DOUBLE_EQ(partition(job).memory[0].buffers.value,
                   2 * (128256.0 * 4096 + 2 * 14336.0 * 4096 + 2 * 4096));
}

TEST(Logits, take_the_bytes_of_the_stack) {
  Job job = job_of(llama3_8b(), {}, {});
  job.stack.logit_bytes = 2;
  EXPECT_DOUBLE_EQ(partition(job).memory[0].logits.value, 2.0 * 2048 * 128256);
}

TEST(Fragmentation, is_a_share_of_everything_else) {
  Job job = job_of(llama3_8b(), {}, {});
  job.stack.fragmentation = 0.1;
  const MemoryUse use = partition(job).memory[0];
  EXPECT_NEAR(use.total().value, 11 * use.fragmentation.value, 1);
}

Job tied_in_stages(PipelineSchedule schedule) {
  Model model = llama3_8b();
  model.layers = 16;
  model.tied_embedding = true;
  Job job = job_of(model, {{"pipeline", 4}}, {});
  job.pipeline_axis = "pipeline";
  job.schedule = schedule;
  job.chunks_per_stage = schedule_traits(schedule).chunks.value_or(2);
  job.global_batch = 16;
  return job;
}

// How often weights, gradients and optimizer state of the table lie in all stages beyond once.
double more_tables(const Job& job) {
  const StepProgram program = partition(job);
  const double copies = job.schedule == PipelineSchedule::kDualPipe ? 2 : 1;  // of every piece
  double bytes = 0;
  for (const MemoryUse& use : program.memory) bytes += (use.weights + use.gradients + use.optimizer).value;
  const double of_parameter = 2 + job.stack.gradient_bytes + job.stack.optimizer_state_bytes;
  return (bytes / of_parameter / copies - program.parameters) / (128256.0 * 4096);
}

TEST(TiedTables, lie_once_on_a_stage_that_has_both_ends_of_the_model) {
  for (const PipelineSchedule schedule :
       {PipelineSchedule::k1F1B, PipelineSchedule::kInterleaved, PipelineSchedule::kZeroBubbleH1})
    EXPECT_NEAR(more_tables(tied_in_stages(schedule)), 1, 1e-9) << schedule_traits(schedule).name;
  for (const PipelineSchedule schedule : {PipelineSchedule::kZeroBubbleV, PipelineSchedule::kDualPipe})
    EXPECT_NEAR(more_tables(tied_in_stages(schedule)), 0, 1e-9) << schedule_traits(schedule).name;
  Job one = tied_in_stages(PipelineSchedule::k1F1B);
  one.mesh.axes[0].size = 1;
  EXPECT_NEAR(more_tables(one), 0, 1e-9);
}

TEST(TiedTables, are_reduced_and_updated_where_they_lie) {
  const auto head = [](PipelineSchedule schedule) {
    Job job = tied_in_stages(schedule);
    job.mesh.axes.push_back({"data", 2});
    job.rules = {{"batch", {"data"}}};
    return head_of(partition(job));
  };
  const Part apart = head(PipelineSchedule::k1F1B), beside = head(PipelineSchedule::kZeroBubbleV);
  const double table = 128256.0 * 4096;
  EXPECT_DOUBLE_EQ(apart.local_state - beside.local_state, table);
  EXPECT_DOUBLE_EQ(
      total_bytes(collectives(apart.gradient_reduce)) - total_bytes(collectives(beside.gradient_reduce)),
      4 * table);
  EXPECT_EQ(apart.weights, beside.weights + 1);
}

// A module that predicts a further token has another copy of both tables where it stands alone.
TEST(TiedTables, of_a_prediction_module_lie_once_beside_their_owners) {
  const auto more = [](PipelineSchedule schedule) {
    Job job = tied_in_stages(schedule);
    job.model.tied_embedding = false;
    job.model.prediction_layers = 1;
    return more_tables(job);
  };
  EXPECT_NEAR(more(PipelineSchedule::k1F1B), 2, 1e-9);
  EXPECT_NEAR(more(PipelineSchedule::kZeroBubbleV), 0, 1e-9);
}

}  // namespace
}  // namespace podsim::testing::stage_memory_test
