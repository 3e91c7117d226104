// What layers keep under each policy, what they compute again, and which layers do.
#include "workload/partition/recompute.h"

#include <gtest/gtest.h>

#include "tests/workload/models.h"
#include "workload/model/transformer.h"
#include "workload/partition/model_flops.h"
#include "workload/pipeline/chunk_shape.h"

namespace podsim::testing::recompute_test {
namespace {

using Names = std::vector<std::string>;

constexpr double kTokens = 2048;

Job llama() { return job_of(llama3_8b(), {}, {}); }

Job under(const std::string& policy) {
  Job job = llama();
  const RetentionNames names = retention_policy(policy).value();
  job.recompute = Recompute::kKeepNamed;
  job.recompute_names = names.keep;
  job.offloaded = names.offload;
  return job;
}

// Matmuls and attentions that the backward pass of a layer computes again.
Names again(const Job& job) {
  const std::string suffix = " recompute";
  Names names;
  const StepProgram program = partition(job);
  for (const ProgramOp& op : layer_of(program).backward) {
    const auto* compute = std::get_if<ComputeOp>(&op);
    if (!compute || compute->op_class == OpClass::kMemoryBound || !compute->name.ends_with(suffix)) continue;
    names.push_back(compute->name.substr(0, compute->name.size() - suffix.size()));
  }
  return names;
}

Retention retained(const Job& job, Graph& graph) {
  graph = layer_graph(job);
  const Backward backward = differentiate(graph, 4);
  return retain(job, graph, backward, true);
}

Names names_of(const Graph& graph, const std::vector<TensorId>& ids) {
  Names names;
  for (TensorId id : ids) names.push_back(graph.tensors[static_cast<std::size_t>(id)].name);
  return names;
}
Names stored(const Job& job) {
  Graph graph;
  const Retention retention = retained(job, graph);
  return names_of(graph, retention.stored);
}
Names offloaded(const Job& job) {
  Graph graph;
  const Retention retention = retained(job, graph);
  return names_of(graph, retention.offloaded);
}

TEST(RecomputePolicy, of_maxtext_repeats_the_matmuls_that_its_name_says) {
  EXPECT_EQ(again(under("full")), (Names{"qkv", "attention", "attention out", "ffn up"}));
  EXPECT_EQ(again(under("minimal")), (Names{"attention"}));
  EXPECT_EQ(again(under("minimal_with_context")), (Names{}));
  EXPECT_EQ(again(under("save_dot_except_mlpwi")), (Names{"attention", "ffn up"}));
  EXPECT_EQ(again(under("save_dot_except_mlp")), (Names{"attention", "ffn up"}));
  EXPECT_EQ(again(under("save_qkv_proj")), (Names{"attention", "attention out", "ffn up"}));
  EXPECT_EQ(again(under("save_out_proj")), (Names{"qkv", "attention", "ffn up"}));
  EXPECT_EQ(again(under("qkv_proj_offloaded")), (Names{"attention", "attention out", "ffn up"}));
  EXPECT_EQ(again(under("minimal_offloaded")), (Names{"attention"}));
}

TEST(RecomputePolicy, keeps_what_it_names_and_the_input) {
  EXPECT_EQ(stored(under("full")), (Names{"layer input"}));
  EXPECT_EQ(stored(under("minimal")), (Names{"layer input", "attention out", "q", "kv", "ffn up"}));
  EXPECT_EQ(stored(under("save_qkv_proj")), (Names{"layer input", "q", "kv"}));
  EXPECT_EQ(stored(under("qkv_proj_offloaded")), (Names{"layer input"}));
  EXPECT_EQ(offloaded(under("qkv_proj_offloaded")), (Names{"q", "kv"}));
}

TEST(RecomputePolicy, stores_nothing_that_nobody_needs_again) {
  // The last projection of a layer goes into a sum, and sums need no operand in backward.
  Job job = under("full");
  job.recompute_names = {"mlpwo"};
  EXPECT_EQ(stored(job), (Names{"layer input"}));
  EXPECT_EQ(again(job), again(under("full")));
  job.recompute_names = {"norm 2"};  // stands for the middle of the layer, but its own backward reads that
  EXPECT_EQ(stored(job), (Names{"layer input", "norm 2"}));
}

TEST(RecomputePolicy, takes_tensors_and_words_alike) {
  Job by_word = under("full"), by_tensor = under("full");
  by_word.recompute_names = {"qkv_proj", "mlpwi"};
  by_tensor.recompute_names = {"q", "kv", "ffn up"};
  EXPECT_EQ(stored(by_word), stored(by_tensor));
}

TEST(RecomputePolicy, offloads_the_input_where_that_is_named) {
  Job job = under("save_qkv_proj");
  job.offloaded = {"decoder_layer_input"};
  EXPECT_EQ(stored(job), (Names{"q", "kv"}));
  EXPECT_EQ(offloaded(job), (Names{"layer input"}));
}

TEST(RecomputedModules, of_megatron_are_computed_again_and_all_else_is_kept) {
  Job job = llama();
  const Names all = stored(job);
  job.recompute = Recompute::kRemakeNamed;
  job.recompute_names = {"mlp"};
  EXPECT_EQ(again(job), (Names{"ffn up"}));
  EXPECT_EQ(stored(job).size(), all.size() - 2);  // up projection and its activation
  job.recompute_names = {"layernorm"};
  EXPECT_EQ(again(job), (Names{}));
  EXPECT_EQ(stored(job).size(), all.size() - 2);  // two norms
  job.recompute_names = {"core_attn"};
  EXPECT_EQ(stored(job), all);
}

TEST(RecomputedModules, core_attention_is_the_selective_recompute) {
  Job job = job_of(gpt3_175b(), {{"tensor", 8}}, {"megatron_sp"});
  job.stack.attention_kernel = "unfused";
  job.recompute = Recompute::kSelective;
  const StepProgram selective = partition(job);
  job.recompute = Recompute::kRemakeNamed;
  job.recompute_names = {"core_attn"};
  const StepProgram module = partition(job);
  EXPECT_EQ(module.memory[0].total(), selective.memory[0].total());
  EXPECT_EQ(again(job), (Names{"attention"}));
  EXPECT_EQ(module.flops_per_token.hardware, selective.flops_per_token.hardware);
}

TEST(RecomputedModules, of_experts_discard_their_activation_only) {
  Job job = llama();
  job.model.experts =
      MixtureOfExperts{.experts = 8, .experts_per_token = 2, .expert_ffn = 4096, .gated = true};
  job.recompute = Recompute::kRemakeNamed;
  job.recompute_names = {"moe_act"};
  Graph graph = layer_graph(job, {.experts = true});
  const Backward backward = differentiate(graph, 4);
  const Retention retention = retain(job, graph, backward, true);
  EXPECT_EQ(names_of(graph, retention.remade), (Names{"expert activation"}));
  ASSERT_EQ(retention.again.size(), 1u);
  EXPECT_EQ(retention.again[0].name, "expert activation");
}

// Bytes of one layer: in 16 bits, the input (4096 wide), queries, keys and values (4096 + 2 x 1024), the
// projection (4096), and up and gate (2 x 14336).
TEST(RecomputeMemory, is_the_sum_of_what_is_kept) {
  const auto per_layer = [](Job job) {
    job.stack.fragmentation = 0;
    job.model.layers = 3;
    const double three = partition(job).memory[0].activations.value;
    job.model.layers = 2;
    return (three - partition(job).memory[0].activations.value) / (2 * kTokens);
  };
  EXPECT_DOUBLE_EQ(per_layer(under("full")), 4096);
  EXPECT_DOUBLE_EQ(per_layer(under("save_qkv_proj")), 4096 + 6144);
  EXPECT_DOUBLE_EQ(per_layer(under("save_dot_except_mlpwi")), 4096 + 6144 + 4096);
  EXPECT_DOUBLE_EQ(per_layer(under("minimal")), 4096 + 6144 + 4096 + 28672);
  EXPECT_DOUBLE_EQ(per_layer(under("minimal_offloaded")), 4096);
}

TEST(RecomputeFlops, follow_the_policy_operation_by_operation) {
  const double d = 4096, wide = 14336;
  const double qkv = 2 * d * (4096 + 2 * 1024), out = 2 * d * d, up = 2 * d * 2 * wide,
               scores = 4 * kTokens * d;
  const auto added = [](const Job& job) {
    const ModelProgram model = model_program(job);
    return (flops_per_token(job, model).hardware.value - flops_per_token(job, model).full.value) /
           job.model.layers;
  };
  EXPECT_DOUBLE_EQ(added(llama()), 0);
  EXPECT_NEAR(added(under("full")), qkv + out + up + scores, 10);
  EXPECT_NEAR(added(under("minimal")), scores, 10);
  EXPECT_NEAR(added(under("save_dot_except_mlpwi")), scores + up, 10);
  EXPECT_NEAR(added(under("minimal_with_context")), 0, 10);
}

int layers_that_recompute(const StepProgram& program, int stage, int chunk) {
  int count = 0;
  for (const PartRun& run :
       program.chunks[static_cast<std::size_t>(stage)][static_cast<std::size_t>(chunk)].runs) {
    const Part& part = program.parts[static_cast<std::size_t>(run.part)];
    if (part.layer && has_op(part.backward, "qkv recompute")) count += run.count;
  }
  return count;
}

TEST(RecomputedLayers, are_the_first_of_each_chunk) {
  Job job = llama();
  job.mesh.axes = {{"pipeline", 4}};
  job.pipeline_axis = "pipeline";
  job.schedule = PipelineSchedule::kInterleaved;
  job.chunks_per_stage = 2;
  job.global_batch = 4;
  job.recompute = Recompute::kFull;
  job.recompute_layers = 3;
  const StepProgram program = partition(job);
  for (int stage = 0; stage < 4; ++stage) {
    for (int chunk = 0; chunk < 2; ++chunk) EXPECT_EQ(layers_that_recompute(program, stage, chunk), 3);
  }
  const std::vector<PartRun>& runs = program.chunks[1][0].runs;
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(program.parts[static_cast<std::size_t>(runs[0].part)].name, "layer");
  EXPECT_EQ(program.parts[static_cast<std::size_t>(runs[1].part)].name, "layer, all kept");
  EXPECT_EQ(program.parameters, partition(llama()).parameters);
}

TEST(RecomputedLayers, every_second_takes_the_mean_of_all_and_none) {
  Job job = llama();
  const double none = partition(job).memory[0].activations.value;
  const Flops none_flops = partition(job).flops_per_token.hardware;
  job.recompute = Recompute::kFull;
  const StepProgram all = partition(job);
  job.recompute_every = 2;
  const StepProgram half = partition(job);
  EXPECT_EQ(layers_that_recompute(half, 0, 0), 16);
  // Full recompute also holds one layer's activations while that layer is in backward.
  const double working = none / 32;
  EXPECT_NEAR(half.memory[0].activations.value, (none + all.memory[0].activations.value + working) / 2, 1e8);
  EXPECT_NEAR(half.flops_per_token.hardware.value,
              (none_flops.value + all.flops_per_token.hardware.value) / 2, 1);
}

TEST(RecomputedLayers, as_many_as_a_chunk_has_are_all_of_them) {
  Job job = llama();
  job.recompute = Recompute::kFull;
  const StepProgram all = partition(job);
  job.recompute_layers = 32;
  const StepProgram named = partition(job);
  EXPECT_EQ(named.parts.size(), all.parts.size());
  EXPECT_EQ(named.memory[0].total(), all.memory[0].total());
}

// Position of the first operation of a block with this name; copies have the name of their tensor.
std::size_t position(const Block& block, const std::string& name) {
  for (std::size_t i = 0; i < block.size(); ++i) {
    const auto* compute = std::get_if<ComputeOp>(&block[i]);
    const auto* copy = std::get_if<HostCopy>(&block[i]);
    if ((compute && compute->name == name) || (copy && copy->tensor == name)) return i;
  }
  throw std::out_of_range(name);
}

TEST(Offload, sends_out_after_the_operation_and_fetches_before_the_first_use) {
  const StepProgram program = partition(under("qkv_proj_offloaded"));
  const Block &forward = layer_of(program).forward, &backward = layer_of(program).backward;
  const std::size_t heads = position(forward, "heads");
  EXPECT_EQ(position(forward, "q"), heads + 1);
  EXPECT_EQ(position(forward, "kv"), heads + 2);
  const std::size_t attention = position(backward, "attention recompute");
  EXPECT_EQ(position(backward, "q"), attention - 2);
  EXPECT_EQ(position(backward, "kv"), attention - 1);
  const auto& out = std::get<HostCopy>(forward[heads + 1]);
  const auto& back = std::get<HostCopy>(backward[attention - 2]);
  EXPECT_TRUE(out.to_host);
  EXPECT_FALSE(back.to_host);
  EXPECT_EQ(out.bytes.value, 2 * kTokens * 4096);
  EXPECT_EQ(back.bytes.value, out.bytes.value);
}

TEST(Offload, sends_a_layer_input_out_when_the_layer_begins) {
  Job job = under("full");
  job.offloaded = {"decoder_layer_input"};
  const StepProgram program = partition(job);
  EXPECT_EQ(position(layer_of(program).forward, "layer input"), 0u);
  EXPECT_LT(position(layer_of(program).backward, "layer input"),
            position(layer_of(program).backward, "norm 1 recompute"));
}

// Of queries, keys and values in flight, 6144 wide, two layers' worth is on the chip.
TEST(Offload, holds_two_buffers_on_the_chip) {
  Job job = under("full"), offloading = under("qkv_proj_offloaded");
  job.stack.fragmentation = offloading.stack.fragmentation = 0;
  Graph graph;
  double remade = 0;
  const Retention retention = retained(offloading, graph);
  for (const std::string& name : names_of(graph, retention.remade)) remade += name == "q" || name == "kv";
  EXPECT_EQ(remade, 0);
  const double full = partition(job).memory[0].activations.value;
  const double with_buffers = partition(offloading).memory[0].activations.value;
  // Under full recompute the layer in backward makes them again, once.
  EXPECT_DOUBLE_EQ(with_buffers - full, (2 - 1) * 2 * kTokens * 6144);
}

TEST(Offload, moves_optimizer_state_round_each_update) {
  Job job = llama();
  const StepProgram on_chip = partition(job);
  job.offload_optimizer = true;
  const StepProgram program = partition(job);
  const Block& optimizer = layer_of(program).optimizer;
  ASSERT_EQ(optimizer.size(), 3u);
  EXPECT_FALSE(std::get<HostCopy>(optimizer[0]).to_host);
  EXPECT_TRUE(std::holds_alternative<ComputeOp>(optimizer[1]));
  EXPECT_TRUE(std::get<HostCopy>(optimizer[2]).to_host);
  EXPECT_EQ(std::get<HostCopy>(optimizer[2]).bytes.value, 12 * layer_of(program).parameters);
  // Two buffers of the largest piece, which is a table of 128,256 rows and a final norm.
  EXPECT_DOUBLE_EQ(program.memory[0].optimizer.value, 2 * 12 * head_of(program).parameters);
  EXPECT_DOUBLE_EQ(on_chip.memory[0].optimizer.value, 12 * on_chip.parameters);
}

TEST(LibraryBuffers, count_for_each_group_that_a_chip_is_in) {
  Job job = job_of(llama3_8b(), {{"data", 2}, {"tensor", 4}}, {"data", "megatron"});
  const double none = partition(job).memory[0].buffers.value;
  job.stack.workspace = {1e6};
  job.stack.communicator_buffers = {1e3};
  EXPECT_EQ(partition(job).memory[0].buffers.value - none, 1e6 + 2e3);
}

Job predicting(Recompute recompute) {
  Job job = llama();
  job.model.layers = 4;
  job.model.prediction_layers = 1;
  job.recompute = recompute;
  return job;
}

// Only the transformer layer of a module is computed again: its norm, its logits and its loss are kept as
// those of the model's head.
TEST(PredictionModules, keep_what_stands_behind_their_layer) {
  for (const bool early : {true, false}) {
    Job job = predicting(Recompute::kFull);
    job.stack.recompute_stops_early = early;
    const StepProgram program = partition(job);
    const auto module = std::ranges::find(program.parts, "prediction", &Part::name);
    ASSERT_NE(module, program.parts.end());
    EXPECT_TRUE(has_op(module->backward, "qkv recompute"));
    EXPECT_EQ(has_op(module->backward, "residual add 2 recompute"), !early);
    for (const char* behind : {"final norm recompute", "logits recompute", "loss recompute"})
      EXPECT_FALSE(has_op(module->backward, behind)) << behind;
    Names kept;
    for (const KeptActivation& each : module->kept) kept.push_back(each.tensor);
    EXPECT_EQ(kept, (Names{"prediction input", "prediction output", "final norm"}));
    EXPECT_DOUBLE_EQ(program.memory[0].logits.value, 2 * 6 * kTokens * 128256);
  }
}

TEST(PredictionModules, that_are_told_to_make_their_logits_again_hold_them_in_backward_alone) {
  Job job = predicting(Recompute::kNone);
  const StepProgram all = partition(job);
  job.recompute = Recompute::kRemakeNamed;
  job.recompute_names = {"logits"};
  const StepProgram program = partition(job);
  const auto module = std::ranges::find(program.parts, "prediction", &Part::name);
  EXPECT_TRUE(has_op(module->backward, "logits recompute"));
  const double logits = 6 * kTokens * 128256;
  EXPECT_DOUBLE_EQ((all.memory[0].logits - program.memory[0].logits).value, logits);
  EXPECT_DOUBLE_EQ((program.memory[0].activations - all.memory[0].activations).value, logits);
}

TEST(RetainableNames, are_activations_of_layers_and_known_words) {
  const Names names = retainable_names(model_program(llama()));
  for (const char* name : {"ffn up", "layer input", "mlpwi_0", "core_attn", "scores"})
    EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name;
  for (const char* name : {"logits", "qkv weight", "embedding"})
    EXPECT_EQ(std::find(names.begin(), names.end(), name), names.end()) << name;
}

}  // namespace
}  // namespace podsim::testing::recompute_test
