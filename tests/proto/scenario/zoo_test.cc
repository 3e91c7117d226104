// The models of the catalogue: parameters and FLOPs, counted from their graphs, against published figures.
#include <gtest/gtest.h>

#include <string>

#include "proto/catalog.pb.h"
#include "proto/catalog/catalog_entries.h"
#include "proto/catalog/convert.h"
#include "tests/proto/scenario.h"
#include "workload/model/model_program.h"
#include "workload/partition/job_validity.h"
#include "workload/partition/model_flops.h"

namespace podsim::zoo_test {
namespace {

const schema::Model& entry(const std::string& name) {
  const schema::Model* found = find_model(built_in().entries(), name);
  if (!found) throw std::invalid_argument(name);
  return *found;
}

// One sequence on one device.
Job job_of(const std::string& name, int sequence) {
  Job job;
  job.model = to_model(entry(name));
  job.stack.attention_kernel = "flash2";
  job.mesh.axes = {{"data", 1}};
  job.global_batch = job.microbatch = 1;
  job.sequence = sequence;
  return job;
}

// A length that every model of the catalogue accepts: a vision transformer needs one of its own.
Job job_of(const std::string& name) {
  const Model model = to_model(entry(name));
  return job_of(name, model.vision ? model.learned_positions : 512);
}

double billions(const std::string& name) { return parameter_count(model_program(job_of(name))) / 1e9; }
double active_billions(const std::string& name) {
  const Job job = job_of(name);
  return active_parameters(job, model_program(job)) / 1e9;
}
double embedding_billions(const std::string& name) {
  const Model model = to_model(entry(name));
  return double(model.vocabulary) * model.d_model / 1e9;
}
double gigaflops(const std::string& name, int sequence, bool causal) {
  const Job job = job_of(name, sequence);
  const FlopsPerToken flops = flops_per_token(job, model_program(job));
  return (causal ? flops.causal : flops.full).value / 1e9;
}

TEST(Zoo, every_model_counts_the_parameters_that_its_file_quotes) {
  for (const std::string& name : built_in().names(Catalog::Section::kModels)) {
    const schema::Model& model = entry(name);
    if (!model.has_parameters_billion() || !model.has_layers()) continue;
    const double published = model.parameters_billion();
    // Published figures are rounded: "600B" and "1.2T" to one and two digits.
    const bool coarse = name == "gshard_600b" || name == "glam_64b_64e";
    const double tolerance = coarse ? 0.04 : 0.01;
    EXPECT_TRUE(explain_invalid(job_of(name)).empty())
        << name << ": " << explain_invalid(job_of(name)).front().message;
    EXPECT_NEAR(billions(name) / published, 1, tolerance) << name << " counts " << billions(name);
  }
}

TEST(Zoo, a_token_passes_the_active_parameters_that_are_published) {
  EXPECT_NEAR(active_billions("mixtral_8x7b"), 12.9, 0.05);
  EXPECT_NEAR(active_billions("mixtral_8x22b"), 39, 0.5);
  EXPECT_NEAR(active_billions("qwen3_30b_a3b"), 3.3, 0.1);
  EXPECT_NEAR(active_billions("qwen3_235b_a22b"), 22, 0.5);
  EXPECT_NEAR(active_billions("glam_64b_64e"), 96.6, 0.5);
  EXPECT_NEAR(active_billions("deepseek_v3"), 37, 0.7);
  // The model card counts the output table and not the input embedding.
  EXPECT_NEAR(active_billions("gpt_oss_20b") - embedding_billions("gpt_oss_20b"), 3.61, 0.01);
  EXPECT_NEAR(active_billions("gpt_oss_120b") - embedding_billions("gpt_oss_120b"), 5.13, 0.01);
}

TEST(Zoo, totals_are_published_to_the_digit) {
  EXPECT_NEAR(billions("mixtral_8x7b"), 46.7, 0.05);
  EXPECT_NEAR(billions("gpt_oss_20b"), 20.91, 0.01);
  EXPECT_NEAR(billions("gpt_oss_120b"), 116.83, 0.01);
  EXPECT_NEAR(billions("deepseek_v3"), 671.0, 0.5);
  EXPECT_NEAR(billions("qwen3_235b_a22b"), 235.1, 0.1);
  EXPECT_NEAR(billions("qwen3_30b_a3b"), 30.53, 0.01);
  EXPECT_NEAR(billions("glam_64b_64e"), 1162, 1);
  EXPECT_NEAR(billions("t5_large"), 0.7377, 0.0002);
  EXPECT_NEAR(billions("vit_h_14"), 0.6320, 0.0005);
  EXPECT_NEAR(billions("bert_large"), 0.3362, 0.0005);
}

TEST(Zoo, the_prediction_module_of_deepseek_v3_adds_11_and_a_half_billion_of_its_own) {
  const double module = billions("deepseek_v3_mtp") - billions("deepseek_v3");
  EXPECT_NEAR(module, 11.5, 0.15);
  // The release stores both tables once more: 685 in all.
  EXPECT_NEAR(billions("deepseek_v3_mtp") + 2 * embedding_billions("deepseek_v3"), 684.5, 0.5);
}

TEST(Zoo, flops_per_token_agree_with_published_ones) {
  // "250 GFLOPS per token" of training at 4,096 tokens: arXiv 2505.09343, Table 2.
  EXPECT_NEAR(gigaflops("deepseek_v3", 4096, true), 250, 5);
  // 180 GFLOP per token of inference: GLaM, arXiv 2112.06905, Table 1; matmuls of active parameters alone
  // give 189.
  EXPECT_NEAR(gigaflops("glam_64b_64e", 1024, true) / 3, 180, 18);
  // 61.6 billion multiply-adds for an image of 224 pixels: released checkpoints of arXiv 2010.11929.
  EXPECT_NEAR(gigaflops("vit_l_16", 197, false) * 197 / 6, 61.6, 0.1);
  EXPECT_NEAR(gigaflops("vit_h_14", 257, false) * 257 / 6, 167.3, 0.3);
}

TEST(Zoo, training_flops_are_six_per_active_parameter_and_the_scores) {
  struct Case {
    const char* name;
    double key_width, value_width;
  };
  for (const Case& each :
       {Case{"mixtral_8x7b", 128, 128}, {"qwen3_235b_a22b", 128, 128}, {"deepseek_v3", 192, 128}}) {
    const Model model = to_model(entry(each.name));
    const double scores = 6.0 * 4096 * model.heads * (each.key_width + each.value_width) * model.layers / 1e9;
    const double active =
        active_billions(each.name) - embedding_billions(each.name);  // looked up, not multiplied
    EXPECT_NEAR(gigaflops(each.name, 4096, false) / (6 * active + scores), 1, 1e-4) << each.name;
    EXPECT_NEAR(gigaflops(each.name, 4096, true) / (6 * active + scores / 2), 1, 1e-4) << each.name;
  }
}

TEST(Zoo, a_window_bounds_the_scores_of_local_layers) {
  // Half of the layers see all keys, half 4,096 at most.
  const Model model = to_model(entry("gemma2_27b"));
  const auto scores = [&](int sequence) {
    return gigaflops("gemma2_27b", sequence, false) - gigaflops("gemma2_27b", 1, false);
  };
  const double per_key = 12.0 * model.heads * model.head_dim * model.layers / 1e9;
  EXPECT_NEAR(scores(4096), per_key * 4095, 1e-6);
  EXPECT_NEAR(scores(16384), per_key * ((16384 + 4096) / 2.0 - 1), 1e-6);
  // Causal: a query within the first window sees half of it on average, the others all.
  const double causal = gigaflops("mistral_7b", 8192, true), full = gigaflops("mistral_7b", 8192, false);
  EXPECT_NEAR(full - causal, 12.0 * 32 * 128 * 32 * 4096 * 4096 / (2 * 8192) / 1e9, 1e-6);
}

TEST(Zoo, an_encoder_decoder_counts_both_stacks_per_input_token) {
  const Job job = job_of("t5_11b", 512);
  const ModelProgram model = model_program(job);
  const Model& t5 = job.model;
  const double d = t5.d_model, width = double(t5.heads) * t5.head_dim, share = 114.0 / 512;
  const double attention = 8 * d * width, ffn = 4 * d * t5.ffn;  // forward FLOPs per token
  const double encoder = attention + ffn + 4 * 512 * width;
  // Queries and outputs of cross attention on targets, keys and values on inputs.
  const double decoder =
      share * (attention + ffn + 4 * 114 * width + 4 * d * width + 4 * 512 * width) + 4 * d * width;
  const double logits = share * 2 * d * t5.vocabulary;
  EXPECT_NEAR(flops_per_token(job, model).full.value / (3 * (24 * encoder + 24 * decoder + logits)), 1, 1e-9);
}

}  // namespace
}  // namespace podsim::zoo_test
