// Mixtures of experts, latent attention and two stacks under shardings: what moves, what is computed, what is
// kept.
#include <gtest/gtest.h>

#include "tests/workload/models.h"
#include "workload/model/model_program.h"
#include "workload/model/transformer_blocks.h"
#include "workload/partition/job_validity.h"
#include "workload/pipeline/chunk_shape.h"
#include "workload/sharding/sharding.h"

namespace podsim::testing::experts_test {
namespace {

Model mixture(double capacity_factor = 1) {
  Model model = llama3_8b();
  model.layers = 4;
  model.experts = MixtureOfExperts{.experts = 16,
                                   .experts_per_token = 2,
                                   .expert_ffn = 1024,
                                   .gated = true,
                                   .capacity_factor = capacity_factor};
  return model;
}

// Experts lie on their own axis, which carries a part of the batch everywhere else.
Job expert_job(const Model& model, const std::vector<MeshAxis>& axes, int sequence = 2048) {
  Job job = job_of(model, axes, {}, sequence);
  job.rules = {{"batch", {"data", "fsdp", "expert"}},
               {"experts", {"expert"}},
               {"param_experts", {"expert"}},
               {"param_embed", {"fsdp"}}};
  for (const char* dimension : {"param_heads", "param_kv_heads", "param_ffn", "param_expert_ffn", "heads",
                                "kv_heads", "ffn", "expert_ffn"})
    job.rules.push_back({dimension, {"tensor"}});
  for (ShardingRule& rule : job.rules)
    std::erase_if(rule.axes, [&](const std::string& axis) { return job.mesh.find(axis) < 0; });
  job.global_batch = batch_shards(job);
  return job;
}

const Part& part(const StepProgram& program, const std::string& name) {
  for (const Part& each : program.parts) {
    if (each.name == name) return each;
  }
  throw std::out_of_range(name);
}

double all_to_all_bytes(const Block& block) {
  return total_bytes(collectives(block, CollectiveKind::kAllToAll, Purpose::kActivation));
}

// What the host takes for experts beyond another layer is the stack's.
TEST(Experts, layers_with_them_have_the_launches_of_other_layers) {
  Model model = mixture();
  const auto launches = [&] {
    return part(partition(expert_job(model, {{"data", 2}})), "expert layer").launches;
  };
  EXPECT_DOUBLE_EQ(launches(), 1);
  model.experts->shared_ffn = 1024;
  EXPECT_DOUBLE_EQ(launches(), 15.0 / 11) << "two matmuls, an activation and a sum more";
}

TEST(Experts, rows_of_their_matmuls_are_those_of_one_expert) {
  Model model = mixture();
  model.experts->expert_ffn = 1028;  // a multiple of 4, and with all experts one of 64
  const StepProgram program = partition(expert_job(model, {{"data", 2}}));
  const Part& layer = part(program, "expert layer");
  EXPECT_EQ(op_named(layer.forward, "expert up").row_alignment, 8);  // gate and up beside each other
  EXPECT_EQ(op_named(layer.forward, "expert down").row_alignment, 4);
  EXPECT_EQ(op_named(layer.backward, "expert down wgrad").row_alignment, 4);
}

TEST(Experts, tokens_go_to_their_experts_and_back_by_all_to_all) {
  for (const double factor : {1.0, 1.25, 2.0}) {
    const Job job = expert_job(mixture(factor), {{"data", 2}, {"expert", 8}});
    ASSERT_TRUE(explain_invalid(job).empty()) << explain_invalid(job).front().message;
    const StepProgram program = partition(job);
    const Part& layer = part(program, "expert layer");
    // tokens of a device x experts per token x capacity factor x d_model x 2 bytes, each way
    const double bytes = 2048 * 2 * factor * 4096 * 2;
    const auto forward = collectives(layer.forward, CollectiveKind::kAllToAll, Purpose::kActivation);
    ASSERT_EQ(forward.size(), 2u);
    for (const CollectiveOp& op : forward) {
      EXPECT_EQ(axis_names(job.mesh, op.axes), "expert");
      EXPECT_DOUBLE_EQ(op.bytes.value, bytes);
    }
    EXPECT_DOUBLE_EQ(all_to_all_bytes(layer.backward), 2 * bytes);
  }
}

TEST(Experts, weights_of_experts_are_reduced_over_the_other_batch_axes_only) {
  const StepProgram program = partition(expert_job(mixture(), {{"data", 2}, {"expert", 8}}));
  const Part& layer = part(program, "expert layer");
  const double of_experts = 16 * 3.0 * 1024 * 4096;
  double over_data = 0;
  for (const CollectiveOp& op : collectives(layer.gradient_reduce)) {
    if (axis_names(program.mesh, op.axes) == "data") over_data += op.bytes.value;
  }
  EXPECT_DOUBLE_EQ(over_data, 4 * of_experts / 8);
  EXPECT_DOUBLE_EQ(layer.local_parameters, layer.parameters - of_experts * 7 / 8);
}

TEST(Experts, devices_compute_every_slot_and_model_flops_count_the_filled_ones) {
  for (const double factor : {1.0, 2.0}) {
    Job job = expert_job(mixture(factor), {{"data", 2}, {"expert", 4}, {"tensor", 2}});
    const StepProgram program = partition(job);
    const Part& layer = part(program, "expert layer");
    const double up = op_named(layer.forward, "expert up").flops.value, devices = job.mesh.devices();
    const double tokens = program.tokens;
    EXPECT_DOUBLE_EQ(up * devices, tokens * 2 * factor * 2 * (2 * 4096.0 * 1024));
    Job dropless = job;
    dropless.model.experts->capacity_factor = 1;
    EXPECT_EQ(program.flops_per_token.full, partition(dropless).flops_per_token.full);
    EXPECT_NEAR(total_flops(layer.backward, OpClass::kMatmul),
                2 * total_flops(layer.forward, OpClass::kMatmul), 1);
  }
}

TEST(Experts, tokens_that_find_no_slot_are_no_work_of_the_model) {
  Job job = expert_job(mixture(), {{"data", 2}, {"expert", 8}});
  job.model.layers = 1;
  const StepProgram whole = partition(job);
  job.model.experts->capacity_factor = 0.5;
  const StepProgram half = partition(job);
  // Half of 2 experts per token, three matrices of 4,096 x 1,024 each, forward and twice backward.
  const double dropped = 3 * (0.5 * 2) * (3 * 2 * 4096.0 * 1024);
  EXPECT_DOUBLE_EQ((whole.flops_per_token.full - half.flops_per_token.full).value, dropped);
  EXPECT_DOUBLE_EQ((whole.flops_per_token.hardware - half.flops_per_token.hardware).value, dropped);
}

TEST(Experts, imbalance_without_drops_widens_slots_as_a_capacity_factor_does) {
  Job even = expert_job(mixture(1.5), {{"data", 2}, {"expert", 8}});
  Job uneven = expert_job(mixture(), {{"data", 2}, {"expert", 8}});
  uneven.model.experts->imbalance = 1.5;
  EXPECT_EQ(op_named(part(partition(even), "expert layer").forward, "expert up").flops,
            op_named(part(partition(uneven), "expert layer").forward, "expert up").flops);
}

TEST(Experts, slots_are_rounded_up_per_sequence) {
  MixtureOfExperts experts{.experts = 256, .experts_per_token = 8, .expert_ffn = 1};
  EXPECT_EQ(expert_capacity(experts, 4096), 128);
  EXPECT_EQ(expert_capacity(experts, 4095), 128);
  EXPECT_EQ(expert_capacity(experts, 1), 1);
  experts.capacity_factor = 1.25;
  EXPECT_EQ(expert_capacity(experts, 4096), 160);
}

TEST(Experts, without_an_expert_axis_nothing_leaves_the_device) {
  const StepProgram program = partition(expert_job(mixture(), {{"data", 8}}));
  EXPECT_TRUE(collectives(part(program, "expert layer").forward).empty());
}

TEST(Experts, every_other_layer_and_the_first_ones_are_dense) {
  Job job = job_of(mixture(), {}, {});
  job.model.layers = 9;
  job.model.experts->dense_layers = 3;
  job.model.experts->every = 2;
  const ModelProgram model = model_program(job);
  std::string order;
  for (int piece : model.sequence) order += model.parts[static_cast<std::size_t>(piece)].name[0];
  EXPECT_EQ(order, "elllleleleh") << "embedding, layers and expert layers, head";
}

TEST(Experts, memory_holds_the_shards_of_experts_and_their_slots) {
  const Job job = expert_job(mixture(), {{"data", 2}, {"expert", 8}});
  const StepProgram program = partition(job);
  double parameters = 0;
  for (const ChunkShape& chunk : program.chunks[0]) {
    for (const PartRun& run : chunk.runs)
      parameters += run.count * program.parts[static_cast<std::size_t>(run.part)].local_parameters;
  }
  EXPECT_DOUBLE_EQ(program.memory[0].weights.value, 2 * parameters);
  Job wide = job;
  wide.model.experts->capacity_factor = 2;
  // Backward reads the slots before and after the experts, and the hidden values of gate, up and product.
  const double more = 4.0 * (2048 * 2) * (2 * 4096 + 3 * 1024) * 2;
  EXPECT_DOUBLE_EQ((partition(wide).memory[0].activations - program.memory[0].activations).value, more);
}

TEST(Experts, that_do_not_fit_their_axes_are_explained_with_numbers) {
  Job job = expert_job(mixture(), {{"data", 1}, {"expert", 3}});
  ASSERT_FALSE(explain_invalid(job).empty());
  EXPECT_EQ(explain_invalid(job).front().message,
            "experts 16 are not divisible by 3, the size of axis expert (rule experts)");
  job = expert_job(mixture(), {{"data", 2}, {"expert", 8}});
  job.model.experts->experts_per_token = 17;
  EXPECT_EQ(explain_invalid(job).front().message, "a token cannot go to 17 of 16 experts");
}

TEST(LatentAttention, keys_are_wider_than_values_and_latents_are_narrow) {
  Model model = llama3_8b();
  model.layers = 2;
  model.kv_heads = model.heads;
  model.latent = LatentAttention{
      .query_rank = 1536, .kv_rank = 512, .plain_dim = 128, .rotary_dim = 64, .value_dim = 128};
  const StepProgram program = partition(job_of(model, {{"tensor", 4}}, {"megatron"}));
  const Part& layer = layer_of(program);
  const ComputeOp& attention = op_named(layer.forward, "attention");
  EXPECT_DOUBLE_EQ(attention.flops.value, 2.0 * (192 + 128) * 8 * 2048 * 2049 / 2);
  EXPECT_EQ(op_named(layer.forward, "q up").n, 192 * 8);
  EXPECT_EQ(op_named(layer.forward, "kv up").n, 256 * 8);
  EXPECT_EQ(op_named(layer.forward, "kv down").n, 576) << "every device makes the whole latent";
}

TEST(AttentionWindow, kernels_compute_what_a_window_sees) {
  Model model = llama3_8b();
  model.attention_window = 256;
  const StepProgram program = partition(job_of(model, {}, {}));
  double pairs = 0;
  for (int query = 0; query < 2048; ++query) pairs += std::min(query + 1, 256);
  EXPECT_DOUBLE_EQ(op_named(layer_of(program).forward, "attention").flops.value, 4.0 * 32 * 128 * pairs);
}

double attention_flops(double block, int window) {
  Model model = llama3_8b();
  model.attention_window = window;
  Job job = job_of(model, {}, {});
  job.stack.attention_block = block;
  return op_named(layer_of(partition(job)).forward, "attention").flops.value / (4.0 * 32 * 128 * 2048);
}

TEST(AttentionBlock, every_edge_of_the_mask_costs_half_a_block_of_keys) {
  const double causal = 2049.0 / 2, local = (2 * 2048 - 255) * 256.0 / (2 * 2048);
  EXPECT_DOUBLE_EQ(attention_flops(0, 0), causal);
  EXPECT_DOUBLE_EQ(attention_flops(512, 0), causal + 256);
  EXPECT_DOUBLE_EQ(attention_flops(4096, 0), 2048) << "one block: nothing is skipped";
  EXPECT_DOUBLE_EQ(attention_flops(512, 256), local + 512);
  EXPECT_DOUBLE_EQ(attention_flops(2048, 256), 2048) << "no more than without the window";
}

Model two_stacks() {
  Model model;
  model.name = "t5";
  model.layers = 3;
  model.d_model = 512;
  model.heads = model.kv_heads = 8;
  model.head_dim = 64;
  model.ffn = 2048;
  model.vocabulary = 32128;
  model.tied_embedding = true;
  model.decoder = Decoder{.layers = 2, .tokens = 128};
  return model;
}

TEST(EncoderDecoder, backward_takes_twice_the_matmuls_and_sums_the_gradient_of_the_memory) {
  const StepProgram program = partition(job_of(two_stacks(), {}, {}, 512));
  for (const char* name : {"encoder layer", "decoder layer"}) {
    const Part& layer = part(program, name);
    EXPECT_DOUBLE_EQ(total_flops(layer.backward, OpClass::kMatmul),
                     2 * total_flops(layer.forward, OpClass::kMatmul));
  }
  EXPECT_TRUE(has_op(part(program, "decoder layer").backward, "memory gradient add"));
  EXPECT_FALSE(has_op(part(program, "encoder layer").backward, "memory gradient add"));
}

TEST(EncoderDecoder, stages_of_the_decoder_hand_on_the_memory_too) {
  Job job = job_of(two_stacks(), {{"pipeline", 5}, {"data", 2}}, {"data"}, 512);
  job.pipeline_axis = "pipeline";
  ASSERT_TRUE(explain_invalid(job).empty());
  const StepProgram program = partition(job);
  EXPECT_DOUBLE_EQ(part(program, "encoder layer").output.value, 2.0 * 512 * 512);
  EXPECT_DOUBLE_EQ(part(program, "joint").output.value, 2.0 * 512 * (512 + 128));
  EXPECT_DOUBLE_EQ(part(program, "decoder layer").output.value, 2.0 * 512 * (512 + 128));
}

TEST(EncoderDecoder, layers_of_the_decoder_do_not_store_the_memory_each) {
  Job job = job_of(two_stacks(), {}, {}, 512);
  const double two = partition(job).memory[0].activations.value;
  job.model.decoder->tokens = 64;
  const double shorter = partition(job).memory[0].activations.value;
  job.model.decoder->layers = 3;
  const double three = partition(job).memory[0].activations.value;
  // Keys and values of the memory, and nothing else of the input's length, are kept by one more layer.
  const double of_targets = (two - shorter) / 2, cross = 2.0 * 512 * 2 * 512;
  EXPECT_NEAR(three - shorter, of_targets + cross, 0.05 * of_targets);
}

TEST(Vision, an_image_is_a_square_of_patches_and_one_token) {
  Model model = bert_large();
  model.vision = Vision{.patch = 16};
  model.vocabulary = 1000;
  model.tied_embedding = false;
  model.learned_positions = 197;
  Job job = job_of(model, {{"data", 4}}, {"data"}, 197);
  EXPECT_TRUE(explain_invalid(job).empty());
  const StepProgram program = partition(job);
  EXPECT_FALSE(has_op(part(program, "embedding").backward, "patch embedding dgrad"))
      << "an image has no gradient";
  EXPECT_EQ(op_named(part(program, "head").forward, "logits").m, 1);
  job.sequence = 190;
  EXPECT_EQ(explain_invalid(job).front().message,
            "sequence of 190 tokens is not a class token and the patches of a square image; 197 would be");
}

TEST(Experts, what_runs_on_slots_is_told_apart_in_both_passes) {
  const Part layer = part(partition(expert_job(mixture(), {{"data", 2}, {"expert", 8}})), "expert layer");
  for (const Block* block : {&layer.forward, &layer.backward}) {
    double matmuls = 0;
    for (const ProgramOp& op : *block) {
      const auto* work = std::get_if<ComputeOp>(&op);
      if (!work) continue;
      const bool named = work->name.find("expert") == 0 || work->name.find("dispatch") == 0 ||
                         work->name.find("combine") == 0 || work->name == "route" ||
                         work->name.find("route ") == 0;
      EXPECT_EQ(work->of_experts, named) << work->name;
      if (work->of_experts && work->op_class == OpClass::kMatmul) {
        EXPECT_EQ(work->repeats, 2) << "experts on the device";
        ++matmuls;
      }
    }
    EXPECT_EQ(matmuls, block == &layer.forward ? 2 : 4);
  }
}

TEST(Experts, traffic_of_their_own_concerns_nothing_else) {
  Job job = expert_job(mixture(), {{"data", 2}, {"expert", 8}});
  const Part plain = part(partition(job), "expert layer");
  job.stack.experts.traffic = 3 * job.stack.elementwise_traffic;
  job.stack.fused.activation = false;  // what is stated was measured with it
  const Part more = part(partition(job), "expert layer");
  EXPECT_DOUBLE_EQ(op_named(more.forward, "dispatch").hbm.value,
                   3 * op_named(plain.forward, "dispatch").hbm.value);
  EXPECT_DOUBLE_EQ(op_named(more.forward, "expert activation").hbm.value,
                   3 * op_named(plain.forward, "expert activation").hbm.value);
  EXPECT_EQ(op_named(more.forward, "norm 1").hbm.value, op_named(plain.forward, "norm 1").hbm.value);
}

// 2 x 2,048 slots, and per slot 1,024 hidden values in 16 bits.
TEST(Experts, activations_that_are_not_fused_keep_and_move_what_those_of_dense_blocks_do) {
  const auto measured = [](bool gated, bool fused) {
    Job job = expert_job(mixture(), {});
    job.model.experts->gated = gated;
    job.stack.fused.activation = fused;
    job.stack.fragmentation = 0;
    const StepProgram program = partition(job);
    return std::pair(program.memory[0].activations.value,
                     op_named(part(program, "expert layer").forward, "expert activation").hbm.value);
  };
  const auto [kept, moved] = measured(true, true);
  EXPECT_EQ(measured(true, false), std::pair(kept + 4 * 2.0 * 4096 * 1024, moved * (10.0 / 6)));
  EXPECT_EQ(measured(false, false), measured(false, true)) << "a plain activation is one kernel";
}

TEST(Experts, traffic_of_permutation_concerns_dispatch_and_combination_alone) {
  Job job = expert_job(mixture(), {{"data", 2}, {"expert", 8}});
  job.stack.experts.traffic = 2;
  const Part plain = part(partition(job), "expert layer");
  job.stack.experts.permutation_traffic = 6;
  const Part more = part(partition(job), "expert layer");
  const auto ratio = [](const Block& changed, const Block& block, const std::string& name) {
    return op_named(changed, name).hbm.value / op_named(block, name).hbm.value;
  };
  EXPECT_DOUBLE_EQ(ratio(more.forward, plain.forward, "dispatch"), 3);
  EXPECT_DOUBLE_EQ(ratio(more.forward, plain.forward, "combine"), 3);
  EXPECT_DOUBLE_EQ(ratio(more.backward, plain.backward, "dispatch backward"), 3);
  EXPECT_DOUBLE_EQ(ratio(more.backward, plain.backward, "combine backward"), 3);
  EXPECT_DOUBLE_EQ(ratio(more.forward, plain.forward, "expert activation"), 1);
  EXPECT_DOUBLE_EQ(ratio(more.forward, plain.forward, "route"), 1);
}

TEST(Experts, a_token_goes_to_a_domain_once_where_the_stack_sends_it_so) {
  Job job = expert_job(mixture(), {{"data", 2}, {"expert", 8}});
  job.model.experts->most_groups = 4;
  const auto fanouts = [&] {
    std::vector<Fanout> found;
    const Part layer = part(partition(job), "expert layer");
    for (const Block* block : {&layer.forward, &layer.backward})
      for (const CollectiveOp& op : collectives(*block, CollectiveKind::kAllToAll, Purpose::kActivation)) {
        EXPECT_TRUE(op.of_experts);
        found.push_back(op.fanout);
      }
    return found;
  };
  EXPECT_EQ(fanouts(), std::vector<Fanout>(4));
  job.stack.experts.once_per_domain = true;
  EXPECT_EQ(fanouts(), std::vector<Fanout>(4, {.copies = 2, .most_blocks = 4}));
}

}  // namespace
}  // namespace podsim::testing::experts_test
