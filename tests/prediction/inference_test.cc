// What a cluster serves: rooflines by hand, and laws of batch, memory and bandwidth.
#include "prediction/inference.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "collectives/collective.h"
#include "proto/catalog/owning_tables.h"
#include "tests/prediction/scenario.h"

namespace podsim::inference_test {
namespace {

InferenceQuestion question() {
  const Spec spec = testing::load("inference/llama2_70b_8_h100");
  InferenceQuestion question;
  question.cluster = spec.cluster;
  question.job = spec.job;
  question.prompt_tokens = 512;
  question.output_tokens = 128;
  question.weights = Dtype::kFp8;
  question.kv_bytes = 1;
  question.memory_share = usual_serving().memory_share;
  question.activation_bytes = usual_serving().activation_bytes;
  return question;
}

InferenceReport answer(const InferenceQuestion& question) {
  std::string why;
  const auto report = estimate_inference(question, why);
  EXPECT_TRUE(report) << why;
  return report.value_or(InferenceReport{});
}

// 69.0 G parameters at a byte each without the 0.26 G of the embeddings, of which a token reads a row, and 80
// layers of 8 heads of 128 for keys and for values.
TEST(Inference, a_single_sequence_reads_all_weights_for_each_token) {
  InferenceQuestion asked = question();
  asked.tensor = 1;
  asked.sequences = 1;
  asked.cluster.chip.hbm_capacity = Bytes{100e9};
  const InferenceReport report = answer(asked);
  EXPECT_DOUBLE_EQ(report.kv_kib_per_token, 2 * 80 * 8 * 128 / 1024.0);
  const double bytes = 68.98e9 - 32000 * 8192.0 + (512 + 64) * 2 * 80 * 8 * 128.0;
  const Chip& chip = asked.cluster.chip;
  EXPECT_NEAR(report.decode_step_s, bytes / (chip.hbm.value * chip.hbm_efficiency),
              1e-4 * report.decode_step_s);
  EXPECT_FALSE(report.decode_by_compute);
  EXPECT_TRUE(report.prefill_by_compute);
}

// llama3_8b: 8.030e9 parameters, of which 128256 x 4096 are embeddings; matmuls take 2 x 7.505e9 FLOPs, as
// MFU counts them. Where the logits share the table it is read for them.
TEST(Inference, embeddings_are_looked_up_row_by_row) {
  InferenceQuestion asked = question();
  asked.job.model = testing::load("long_context_8b_64_h100").job.model;
  asked.tensor = asked.sequences = 1;
  asked.prompt_tokens = 1000;
  const Chip& chip = asked.cluster.chip;
  const double rate = chip.matmul.at(Dtype::kFp8).peak.value * chip.matmul.at(Dtype::kFp8).sustained;
  const double parameters = 8.030261248e9, table = 128256 * 4096.0;
  const double attention = 4 * 32 * 32 * 128.0 * 500;
  const InferenceReport report = answer(asked);
  EXPECT_NEAR(report.prefill_s, 1000 * (2 * (parameters - table) + attention) / rate,
              1e-4 * report.prefill_s);
  const double bandwidth = chip.hbm.value * chip.hbm_efficiency, cache = 1064 * 2 * 32 * 8 * 128.0;
  EXPECT_NEAR(report.decode_step_s, (parameters - table + 4096 + cache) / bandwidth, 1e-9);
  asked.job.model.tied_embedding = true;
  const InferenceReport tied = answer(asked);
  EXPECT_NEAR(tied.decode_step_s, report.decode_step_s, 1e-12);
  EXPECT_NEAR(tied.prefill_s, report.prefill_s, 1e-12);
  EXPECT_LT(tied.weight_gib_per_chip, report.weight_gib_per_chip);
}

TEST(Inference, modules_of_multi_token_prediction_are_not_loaded) {
  InferenceQuestion asked = question();
  asked.job.model = testing::load("deepseek_v3_2048_h800").job.model;
  asked.cluster.chip.hbm_capacity = Bytes{2e12};
  asked.tensor = asked.sequences = 1;
  asked.job.model.prediction_layers = 0;
  const InferenceReport without = answer(asked);
  asked.job.model.prediction_layers = 1;
  EXPECT_EQ(answer(asked).weight_gib_per_chip, without.weight_gib_per_chip);
  EXPECT_EQ(answer(asked).prefill_s, without.prefill_s);
}

// 46.7 G parameters at a byte each, whichever experts a router prefers, without 0.13 G of embeddings.
TEST(Inference, where_all_experts_take_each_token_all_weights_are_read) {
  const Spec spec = testing::load("inference/mixtral_8x7b_8_h200");
  InferenceQuestion asked = question();
  asked.cluster = spec.cluster;
  asked.job = spec.job;
  asked.tensor = asked.sequences = 1;
  double before = 0;
  for (const int experts_per_token : {2, 7, 8}) {
    asked.job.model.experts->experts_per_token = experts_per_token;
    const InferenceReport report = answer(asked);
    EXPECT_GT(report.decode_step_s, before) << experts_per_token;
    EXPECT_FALSE(report.decode_by_compute) << experts_per_token;
    before = report.decode_step_s;
  }
  const double bytes = 46.7e9 - 32000 * 4096.0 + (512 + 64) * 2 * 32 * 8 * 128.0;
  const Chip& chip = asked.cluster.chip;
  EXPECT_NEAR(before, bytes / (chip.hbm.value * chip.hbm_efficiency * asked.reached), 2e-3 * before);
}

// Of 80 layers every fifth keeps all tokens, the others the last 100.
TEST(Inference, layers_with_a_window_keep_and_read_no_more_than_it) {
  InferenceQuestion asked = question();
  asked.tensor = asked.sequences = 1;
  asked.cluster.chip.hbm_capacity = Bytes{100e9};
  const InferenceReport without = answer(asked);
  asked.job.model.attention_window = 100;
  asked.job.model.full_every = 5;
  const InferenceReport with = answer(asked);
  const double kept = (16 * 640.0 + 64 * 100.0) / 80, read = (16 * 576.0 + 64 * 100.0) / 80;
  EXPECT_NEAR(with.kv_gib_per_chip, without.kv_gib_per_chip * kept / 640, 1e-12);
  EXPECT_DOUBLE_EQ(with.kv_kib_per_token, without.kv_kib_per_token);
  EXPECT_NEAR(with.sequences_that_fit, without.sequences_that_fit * 640 / kept, 640 / kept);
  const Chip& chip = asked.cluster.chip;
  EXPECT_NEAR(without.decode_step_s - with.decode_step_s,
              (576 - read) * 2 * 80 * 8 * 128.0 / (chip.hbm.value * chip.hbm_efficiency),
              1e-9 * without.decode_step_s);
  // 512 tokens that see half of those before them, or at most the window.
  const double flops = 512 * 4 * 80 * 64 * 128.0 * (64 / 80.0) * (256 - (100 - 100 * 100 / 1024.0)),
               rate = chip.matmul.at(Dtype::kFp8).peak.value * chip.matmul.at(Dtype::kFp8).sustained;
  EXPECT_NEAR(without.prefill_s - with.prefill_s, flops / rate, 1e-9 * without.prefill_s);
}

TEST(InferenceLaw, a_window_as_long_as_all_tokens_changes_nothing_and_a_shorter_one_serves_more) {
  InferenceQuestion asked = question();
  const InferenceReport without = answer(asked);
  double before = 0;
  for (const int window : {640, 300, 20}) {
    asked.job.model.attention_window = window;
    const InferenceReport report = answer(asked);
    if (window == 640) {
      EXPECT_DOUBLE_EQ(report.output_tokens_per_s, without.output_tokens_per_s);
    }
    EXPECT_GT(report.output_tokens_per_s, before) << window;
    before = report.output_tokens_per_s;
  }
}

// DeepSeek-V3: 61 layers of 128 heads, 128 + 64 of a key, 128 of a value, latents of 512.
TEST(Inference, latent_attention_expands_a_prompt_and_leaves_the_cache_as_it_is) {
  InferenceQuestion asked = question();
  asked.job.model = testing::load("deepseek_v3_2048_h800").job.model;
  asked.job.model.prediction_layers = 0;
  asked.tensor = asked.sequences = 1;
  Chip& chip = asked.cluster.chip;
  chip.hbm_capacity = Bytes{2e12};
  const double rate = chip.matmul.at(Dtype::kFp8).peak.value * chip.matmul.at(Dtype::kFp8).sustained;
  const auto prefill = [&](int tokens) {
    asked.prompt_tokens = tokens;
    return answer(asked).prefill_s;
  };
  const double squared = prefill(200'000) - 2 * prefill(100'000);
  EXPECT_NEAR(squared, 1e10 * 2 * 61 * 128 * (128 + 64 + 128.0) / rate, 1e-6 * squared);
  chip.hbm = chip.hbm * 1e6;  // so that matmuls decide
  const auto decode = [&](int tokens) {
    asked.prompt_tokens = tokens;
    return answer(asked).decode_step_s;
  };
  const double more = decode(200'000) - decode(100'000);
  EXPECT_NEAR(more, 1e5 * 2 * 61 * 128 * (2 * 512 + 64.0) / rate, 1e-6 * more);
}

// Whatever joins them: a switch that reduces, a mesh, PCIe, a torus.
TEST(Inference, all_reduces_are_those_of_the_network_by_itself) {
  for (const char* name : {"inference/llama2_70b_8_h100", "inference/llama2_70b_8_mi300x",
                           "inference/llama2_70b_8_l40s", "llama3_70b_512_v5p"}) {
    InferenceQuestion asked = question();
    const Spec spec = testing::load(name);
    asked.cluster = spec.cluster;
    asked.weights = Dtype::kBf16;
    asked.tensor = 8;
    asked.cluster.chip.hbm_capacity = Bytes{100e9};
    const Fabric fabric = build_fabric(spec.cluster.fabric);
    std::vector<ChipId> group(8);
    std::iota(group.begin(), group.end(), 0);
    for (const int sequences : {1, 32, 256}) {
      asked.sequences = sequences;
      const Collective sum = {CollectiveKind::kAllReduce, {sequences * 8192 * 2.0}};
      EXPECT_DOUBLE_EQ(answer(asked).decode_communication_s,
                       160 * predict(fabric, plan(fabric, sum, group)).in_seconds())
          << name << " " << sequences;
    }
  }
}

// 64 chips in domains of 8, of which each holds one replica of 7.
TEST(Inference, a_replica_lies_in_one_domain_and_all_chips_are_paid_for) {
  InferenceQuestion asked = question();
  asked.cluster.fabric.chips = 64;
  asked.job.model.heads = asked.job.model.kv_heads = 56;
  asked.tensor = 4;
  const InferenceReport even = answer(asked);
  asked.tensor = 7;
  const InferenceReport uneven = answer(asked);
  EXPECT_EQ(even.replicas, 16);
  EXPECT_EQ(uneven.replicas, 8);
  EXPECT_EQ(uneven.chips, 64);
  EXPECT_NEAR(uneven.usd_per_million_tokens * uneven.output_tokens_per_s,
              even.usd_per_million_tokens * even.output_tokens_per_s, 1e-9);
  const double each = uneven.output_tokens_per_s / 8;
  EXPECT_EQ(chips_to_serve(uneven, 0.9 * each), 8);
  EXPECT_EQ(chips_to_serve(uneven, 4.9 * each), 40);
  EXPECT_EQ(chips_to_serve(even, 2.9 * even.output_tokens_per_s / 16), 12);
}

TEST(Inference, what_does_not_fit_is_told) {
  InferenceQuestion asked = question();
  asked.tensor = 1;
  asked.weights = Dtype::kBf16;
  std::string why;
  EXPECT_FALSE(estimate_inference(asked, why));
  EXPECT_EQ(why, "weights and cache do not fit into the memory of 1 h100");
  asked.tensor = 16;
  why = explain_invalid(asked);
  EXPECT_NE(why.find("beyond the 8"), std::string::npos) << why;
}

// As many as there is room for, and no cap: a gigabyte holds thousands of short ones.
TEST(Inference, more_sequences_than_there_is_room_for_are_told_with_how_many_there_is) {
  InferenceQuestion asked = question();
  asked.tensor = 8;
  asked.prompt_tokens = 8;
  asked.output_tokens = 8;
  const std::int64_t most = answer(asked).sequences_that_fit;
  EXPECT_GT(most, 4096);
  asked.sequences = most;
  EXPECT_EQ(answer(asked).sequences, most);
  asked.sequences = most + 1;
  std::string why;
  EXPECT_FALSE(estimate_inference(asked, why));
  EXPECT_EQ(why, "beside the weights, the memory of 8 h100 has room for the cache of " +
                     std::to_string(most) + " sequences, not of " + std::to_string(most + 1));
}

TEST(InferenceLaw, more_sequences_serve_more_and_each_waits_longer) {
  InferenceQuestion asked = question();
  asked.tensor = 4;
  double served = 0, waited = 0;
  for (const int sequences : {1, 2, 8, 64, 256}) {
    asked.sequences = sequences;
    const InferenceReport report = answer(asked);
    EXPECT_GT(report.output_tokens_per_s, served);
    EXPECT_GT(report.ms_per_token, waited);
    served = report.output_tokens_per_s;
    waited = report.ms_per_token;
  }
}

TEST(InferenceLaw, the_most_sequences_that_are_quick_enough_are_taken) {
  InferenceQuestion asked = question();
  asked.tensor = 8;
  asked.most_ms_per_token = 20;
  const InferenceReport report = answer(asked);
  EXPECT_LE(report.ms_per_token, 20);
  asked.most_ms_per_token = 0;
  asked.sequences = report.sequences + 1;
  EXPECT_GT(answer(asked).ms_per_token, 20);
}

TEST(InferenceLaw, no_part_that_is_better_serves_less) {
  const double before = answer(question()).output_tokens_per_s;
  for (const int part : {0, 1, 2}) {
    InferenceQuestion better = question();
    Chip& chip = better.cluster.chip;
    if (part == 0) chip.hbm = chip.hbm * 1.5;
    if (part == 1) chip.hbm_capacity = Bytes{chip.hbm_capacity.value * 1.5};
    if (part == 2) chip.matmul.at(Dtype::kFp8).sustained *= 1.2;
    EXPECT_GE(answer(better).output_tokens_per_s, before) << part;
  }
}

TEST(Inference, energy_on_top_of_the_price_is_paid_for) {
  InferenceQuestion asked = question();
  asked.cluster.price.usd_per_kwh = 0;
  const InferenceReport within = answer(asked);
  asked.cluster.price.usd_per_kwh = 1;
  const InferenceReport on_top = answer(asked);
  EXPECT_EQ(on_top.j_per_token, within.j_per_token);
  EXPECT_NEAR(on_top.usd_per_million_tokens - within.usd_per_million_tokens, on_top.j_per_token / 3.6e6 * 1e6,
              1e-9);
}

TEST(Inference, whole_replicas_serve_a_rate) {
  const InferenceReport report = answer(question());
  EXPECT_EQ(chips_to_serve(report, report.output_tokens_per_s), report.chips);
  EXPECT_EQ(chips_to_serve(report, 1), report.tensor);
}

}  // namespace
}  // namespace podsim::inference_test
