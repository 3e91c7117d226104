// Parameters and FLOPs: definitions against published counts, and executed work against definitions.
#include <gtest/gtest.h>

#include "tests/workload/models.h"
#include "workload/partition/model_flops.h"
#include "workload/sharding/presets.h"
#include "workload/sharding/sharding.h"

namespace podsim::testing::flops_test {
namespace {

double parameters_in_billions(const Model& model) {
  return partition(job_of(model, {}, {}, 512)).parameters / 1e9;
}

TEST(Parameters, agree_with_published_counts) {
  EXPECT_NEAR(parameters_in_billions(gpt3_175b()), 174.6, 0.1);
  EXPECT_NEAR(parameters_in_billions(llama2_70b()), 68.98, 0.01);
  EXPECT_NEAR(parameters_in_billions(llama3_8b()), 8.03, 0.01);
  EXPECT_NEAR(parameters_in_billions(llama3_70b()), 70.55, 0.01);
  EXPECT_NEAR(parameters_in_billions(llama31_405b()), 405.85, 0.01);
  EXPECT_NEAR(parameters_in_billions(palm_540b()), 540.35, 0.05);
  EXPECT_NEAR(parameters_in_billions(bloom_176b()), 176.25, 0.05);
  EXPECT_NEAR(parameters_in_billions(bert_large()), 0.335, 0.005);
  EXPECT_NEAR(parameters_in_billions(megatron_22b()), 22, 0.5);
  EXPECT_NEAR(parameters_in_billions(megatron_530b()), 530, 1);
  EXPECT_NEAR(parameters_in_billions(megatron_1t()), 1008, 2);
}

Flops flops_per_token(const Model& model, int sequence, bool causal) {
  const Job job = job_of(model, {}, {}, sequence);
  const FlopsPerToken flops = flops_per_token(job, model_program(job));
  return causal ? flops.causal : flops.full;
}

TEST(ModelFlops, llama3_70b_at_8k_takes_481_gigaflops_full_and_449_causal) {
  EXPECT_NEAR(flops_per_token(llama3_70b(), 8192, false).value / 1e9, 481, 0.5);
  EXPECT_NEAR(flops_per_token(llama3_70b(), 8192, true).value / 1e9, 449, 0.5);
}

// 3 x [layers x (projections + feed-forward + scores) + logits], to the last bit.
TEST(ModelFlops, follow_the_closed_form_of_a_dense_transformer) {
  for (const Model& model : {gpt3_175b(), llama3_8b(), llama31_405b(), palm_540b(), bert_large()}) {
    for (int sequence : {512, 384}) {
      const double d = model.d_model, h = model.head_dim;
      const double projections = 2 * d * h * (2.0 * model.heads + 2.0 * model.kv_heads);
      const double ffn = 2 * (model.gated_ffn ? 3 : 2) * d * model.ffn;
      const double scores = 4.0 * sequence * model.heads * h;
      const double logits = 2 * d * model.vocabulary;
      EXPECT_EQ(flops_per_token(model, sequence, false).value,
                3 * (model.layers * (projections + ffn + scores) + logits));
      EXPECT_EQ(flops_per_token(model, sequence, true).value,
                3 * (model.layers * (projections + ffn + scores * (model.causal ? 0.5 : 1)) + logits));
    }
  }
}

// A third of the model FLOPs of a step, whatever the sequence.
TEST(ModelFlops, of_a_forward_pass_without_scores_are_two_for_each_weight_of_a_matmul) {
  const Model model = llama3_8b();
  for (const int sequence : {512, 8192}) {
    const Job job = job_of(model, {}, {}, sequence);
    const double d = model.d_model, h = model.head_dim;
    EXPECT_EQ(forward_flops_without_scores(job, model_program(job)).value,
              2 * d *
                  (model.layers * (h * (2.0 * model.heads + 2.0 * model.kv_heads) + 3.0 * model.ffn) +
                   model.vocabulary));
  }
}

TEST(ModelFlops, an_encoder_has_no_causal_discount) {
  EXPECT_EQ(flops_per_token(bert_large(), 512, true), flops_per_token(bert_large(), 512, false));
}

TEST(HardwareFlops,
     full_recompute_adds_one_forward_of_the_layers_less_the_last_projection_if_it_stops_early) {
  Job job = job_of(gpt3_175b(), {}, {});
  const double model = flops_per_token(job, model_program(job)).full.value;
  const double d = job.model.d_model, logits = 6 * d * job.model.vocabulary;
  EXPECT_EQ(flops_per_token(job, model_program(job)).hardware.value, model);
  job.recompute = Recompute::kFull;
  job.stack.recompute_stops_early = false;
  const double forward = (model - logits) / 3;
  EXPECT_NEAR(flops_per_token(job, model_program(job)).hardware.value, model + forward, 1e-6 * model);
  job.stack.recompute_stops_early = true;
  EXPECT_NEAR(flops_per_token(job, model_program(job)).hardware.value, model + forward - 96 * 2 * 4 * d * d,
              1e-6 * model);
}

TEST(HardwareFlops, selective_recompute_adds_unfused_scores_only) {
  Job job = job_of(gpt3_175b(), {}, {});
  job.recompute = Recompute::kSelective;
  const double model = flops_per_token(job, model_program(job)).full.value;
  EXPECT_EQ(flops_per_token(job, model_program(job)).hardware.value, model);
  job.stack.attention_kernel = "unfused";
  EXPECT_NEAR(flops_per_token(job, model_program(job)).hardware.value, model + 96 * 4.0 * 2048 * 12288,
              1e-9 * model);
}

TEST(ModelFlops, of_documents_lie_between_those_without_scores_and_those_of_whole_sequences) {
  const Job job = job_of(llama3_8b(), {}, {}, 8192);
  const auto documents = [&, whole = flops_per_token(job, model_program(job))](double attention) {
    return of_documents(whole, std::vector<double>{attention});
  };
  const FlopsPerToken whole = flops_per_token(job, model_program(job)), none = documents(0),
                      half = documents(0.5);
  EXPECT_DOUBLE_EQ(documents(1).full.value, whole.full.value);
  EXPECT_DOUBLE_EQ(documents(1).causal.value, whole.causal.value);
  EXPECT_DOUBLE_EQ(documents(1).hardware.value, whole.hardware.value);
  EXPECT_EQ(none.full, whole.without_scores);
  EXPECT_EQ(none.causal, whole.without_scores);
  EXPECT_EQ(none.hardware, whole.hardware_without_scores);
  EXPECT_DOUBLE_EQ(half.full.value, whole.causal.value);
}

// Matmul and attention FLOPs of all devices in one step.
double executed(const Job& job) {
  const StepProgram program = partition(job);
  double device = 0;
  for (OpClass op_class : {OpClass::kMatmul, OpClass::kAttention}) {
    for (const auto* block : {&layer_of(program).forward, &layer_of(program).backward}) {
      device += job.model.layers * total_flops(*block, op_class);
    }
    for (const auto* block : {&head_of(program).forward, &head_of(program).backward})
      device += total_flops(*block, op_class);
  }
  return device * job.mesh.devices() * microbatches(job);
}

TEST(ExecutedFlops, equal_the_definition_when_nothing_is_replicated_or_padded) {
  for (const std::vector<std::string>& presets : {std::vector<std::string>{"data", "megatron"},
                                                  {"fsdp", "megatron_sp"},
                                                  {"data", "zero1", "megatron_sp"}}) {
    Job job = job_of(llama3_70b(), {{"data", 2}, {"fsdp", 2}, {"tensor", 4}}, {"fsdp"});
    for (const std::string& preset : presets) {
      const auto rules = preset_rules(preset, job.mesh);
      job.rules.insert(job.rules.end(), rules->begin(), rules->end());
    }
    job.stack.attention_kernel = "unfused";  // every position attends to every position
    job.global_batch = 3 * batch_shards(job);
    const double tokens = static_cast<double>(job.global_batch) * job.sequence;
    const double defined = tokens * flops_per_token(job, model_program(job)).full.value;
    EXPECT_NEAR(executed(job) / defined, 1, 1e-12);
  }
}

TEST(ExecutedFlops, an_unused_axis_repeats_all_work) {
  Job job = job_of(llama3_8b(), {{"spare", 4}}, {});
  const double four = executed(job);
  job.mesh.axes[0].size = 1;
  EXPECT_DOUBLE_EQ(four, 4 * executed(job));
}

TEST(ExecutedFlops, fewer_key_value_heads_than_shards_are_replicated) {
  const StepProgram program = partition(job_of(llama3_70b(), {{"tensor", 16}}, {"megatron"}));
  const ComputeOp& qkv = op_named(layer_of(program).forward, "qkv");
  EXPECT_EQ(qkv.n, (64 / 16 + 1 + 1) * 128);
}

}  // namespace
}  // namespace podsim::testing::flops_test
