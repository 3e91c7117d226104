// Shapes of scaling that published runs show, predicted with the catalogue's models and stacks. Each test
// names its source, the measured shape, and the band that a prediction must keep to.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "prediction/predict.h"
#include "proto/scenario/load.h"

namespace podsim::scaling_shapes_test {
namespace {

using Axes = std::vector<std::pair<std::string, int>>;

struct TrainingRun {
  std::string chip, fabric, model, stack;
  Axes mesh;
  std::vector<std::string> sharding;
  int batch = 0, microbatch = 0, sequence = 0;
  std::string more = {};     // further fields of the job
  std::string cluster = {};  // and of the cluster
};

Report predicted(const TrainingRun& run) {
  static const Catalog catalog;
  int chips = 1;
  std::string mesh, sharding;
  for (const auto& [axis, size] : run.mesh) {
    if (size == 1) continue;
    chips *= size;
    mesh += " mesh { name: \"" + axis + "\" size: " + std::to_string(size) + " }";
  }
  for (const std::string& preset : run.sharding) sharding += " sharding: \"" + preset + "\"";
  const std::string text = "question: \"How does it scale?\" cluster { chip: \"" + run.chip +
                           "\" chips: " + std::to_string(chips) + " fabric: \"" + run.fabric + "\" " +
                           run.cluster + " } job { model: \"" + run.model + "\" stack: \"" + run.stack +
                           "\"" + mesh + sharding + " global_batch_sequences: " + std::to_string(run.batch) +
                           " microbatch_sequences: " + std::to_string(run.microbatch) +
                           " sequence_tokens: " + std::to_string(run.sequence) + " " + run.more + " }";
  LoadResult loaded = load_scenario("run", text, catalog, {});
  if (!loaded.spec) throw std::runtime_error(format_problem(loaded.problems.at(0)));
  return predict_step(*loaded.spec, {}).report;
}

double step_s(const TrainingRun& run) { return predicted(run).step_time.in_seconds(); }

void expect_between(double value, double low, double high, const char* what) {
  EXPECT_GE(value, low) << what;
  EXPECT_LE(value, high) << what;
}

// MosaicML llm-foundry throughput tables: MPT 7B with 6 sequences per H100 takes 1.155 s on 8 GPUs, 1.173 s
// on 128 (1.016 times) and 1.271 s on 512 (1.100 times). The prediction, 1.07 and 1.19, has hosts wait for
// each other a little more at each doubling, where these runs begin to wait above 128 GPUs, and rings of 512
// gather at NCCL's latency per step, which these runs seem not to pay in full (1.340 s, 5 % off).
TEST(ScalingShape, weak_scaling_of_fsdp_is_nearly_flat) {
  const auto step = [](int gpus) {
    return step_s(
        {"h100", "dgx_h100", "mpt_7b", "llm_foundry", {{"fsdp", gpus}}, {"fsdp"}, 6 * gpus, 6, 2048});
  };
  const double one_host = step(8);
  expect_between(step(128) / one_host, 1.00, 1.08, "16 hosts");
  expect_between(step(512) / one_host, 1.01, 1.20, "64 hosts");
}

// As above within hosts, with replicas between them: the all-reduce of the shards takes the place of gathers
// over the network, which is as flat (no published pair; the band is that of FSDP).
TEST(ScalingShape, weak_scaling_of_hybrid_sharding_is_as_flat) {
  const auto step = [](int gpus) {
    return step_s({"h100",
                   "dgx_h100",
                   "mpt_7b",
                   "llm_foundry",
                   {{"data", gpus / 8}, {"fsdp", 8}},
                   {"hsdp"},
                   6 * gpus,
                   6,
                   2048});
  };
  expect_between(step(512) / step(8), 1.00, 1.12, "64 hosts");
}

TrainingRun megatron_175b(int gpus, int batch) {
  return {"a100_80",
          "dgx_a100",
          "megascale_175b",
          "megatron_2023",
          {{"pipeline", 8}, {"data", gpus / 64}, {"tensor", 8}},
          {"data", "megatron_sp", "zero1"},
          batch,
          1,
          2048,
          "pipeline { schedule: interleaved chunks_per_stage: 6 }"};
}

// MegaScale (arXiv 2402.15627), table 2, Megatron-LM rows: at a batch of 768 sequences four times the GPUs
// are 3.36 times as fast (40.0 s on 256, 11.9 s on 1,024), an efficiency of 84 %. The prediction loses less,
// 9 %: the bubble, the exposed sums of gradients, waiting for the slowest host. Machines that are slow for
// long, which the paper tells of, are adversities of a scenario.
TEST(ScalingShape, strong_scaling_at_a_fixed_batch_falls_as_accumulation_shrinks) {
  const double small = step_s(megatron_175b(256, 768));
  double before = 1;
  for (const int times : {2, 4, 8}) {
    const double efficiency = small / (times * step_s(megatron_175b(256 * times, 768)));
    EXPECT_LT(efficiency, before) << times;
    if (times == 4) expect_between(efficiency, 0.80, 0.94, "1,024 GPUs");
    before = efficiency;
  }
  EXPECT_LT(before, 0.88) << "with 24 microbatches for 8 stages";
}

// The same table at 48 microbatches: 11.9 s on 1,024 GPUs with 768 sequences, 12.24 s on 8,192 with 6,144.
TEST(ScalingShape, weak_scaling_of_three_dimensional_parallelism_is_nearly_flat) {
  expect_between(step_s(megatron_175b(8192, 6144)) / step_s(megatron_175b(1024, 768)), 1.0, 1.06,
                 "8,192 GPUs");
}

// Narayanan et al. (SC21, arXiv 2104.04473), table 2, 175B at a batch of 1,536: ZeRO-3 takes 81.6, 66.7
// and 66.7 s on 384, 768 and 1,536 A100, pipelines with tensor parallelism 76.8 and 39.4 s on 384 and
// 768: 1.06 and 1.69 times. Every GPU moves all weights for ever fewer tokens.
TEST(ScalingShape, fully_sharded_weights_fall_behind_pipelines_as_tokens_per_gpu_shrink) {
  const auto ratio = [](int gpus) {
    const TrainingRun sharded{
        "a100_80", "dgx_a100",  "gpt3_175b", "deepspeed_2021", {{"fsdp", gpus}}, {"fsdp"},
        1536,      1536 / gpus, 2048,        "recompute: full"};
    const TrainingRun pipelined{"a100_80",
                                "dgx_a100",
                                "gpt3_175b",
                                "megatron_2021",
                                {{"pipeline", 12}, {"data", gpus / 96}, {"tensor", 8}},
                                {"data", "megatron"},
                                1536,
                                1,
                                2048,
                                "recompute: full"};
    return step_s(sharded) / step_s(pipelined);
  };
  const double few = ratio(384), some = ratio(768), many = ratio(1536);
  expect_between(few, 1.0, 1.2, "384 GPUs");
  expect_between(some, 1.45, 1.8, "768 GPUs");
  EXPECT_GT(many, 1.4 * some);
}

// Narayanan et al. (SC21), figure 12 and section 5.3.2: 175B on 96 A100 (12 stages, tensor 8); the
// interleaved schedule gains more than 10 % at small batches, and less as the batch grows.
TEST(ScalingShape, interleaving_gains_most_at_small_batches) {
  const auto gain = [](int batch) {
    const auto step = [&](const std::string& schedule) {
      return step_s({"a100_80",
                     "dgx_a100",
                     "gpt3_175b",
                     "megatron_2021",
                     {{"pipeline", 12}, {"tensor", 8}},
                     {"megatron"},
                     batch,
                     1,
                     2048,
                     "recompute: full pipeline { " + schedule + " }"});
    };
    return step("schedule: one_f_one_b") / step("schedule: interleaved chunks_per_stage: 2");
  };
  const double small = gain(12), middle = gain(24), large = gain(60);
  EXPECT_GT(small, 1.10);
  EXPECT_GT(small, middle);
  EXPECT_GT(middle, large);
  EXPECT_GT(large, 1.0);
}

struct Korthikanti {
  std::string model;
  int stages, chunks, batch, microbatch;
  double full_s,
      selective_s;  // steps with full recompute, and with sequence parallelism and selective recompute

  double measured() const { return full_s / selective_s; }
  double rounding() const { return measured() * (0.005 / full_s + 0.005 / selective_s); }  // two decimals
};

double korthikanti_ratio(const Korthikanti& row) {
  const auto step = [&](const std::string& preset, const std::string& recompute) {
    const std::string pipeline =
        row.chunks > 1 ? " pipeline { chunks_per_stage: " + std::to_string(row.chunks) + " }" : "";
    return step_s({"a100_80",
                   "dgx_a100",
                   row.model,
                   "megatron_2022",
                   {{"pipeline", row.stages}, {"tensor", 8}},
                   {preset},
                   row.batch,
                   row.microbatch,
                   2048,
                   "precision: fp16 recompute: " + recompute + pipeline});
  };
  return step("megatron", "full") / step("megatron_sp", "selective");
}

// Korthikanti et al. (arXiv 2205.05198), table 5: 22B, 175B, 530B and 1T gain 29.0, 31.8, 29.7 and 32.1 %.
TEST(ScalingShape, sequence_parallelism_with_selective_recompute_gains_three_tenths) {
  for (const Korthikanti& row : {Korthikanti{"megatron_22b", 1, 1, 4, 4, 1.42, 1.10},
                                 {"gpt3_175b", 8, 3, 64, 1, 18.13, 13.75},
                                 {"megatron_530b", 35, 3, 280, 1, 49.05, 37.83},
                                 {"megatron_1t", 64, 1, 512, 1, 94.42, 71.49}}) {
    EXPECT_NEAR(korthikanti_ratio(row), row.measured(), 0.06 + row.rounding()) << row.model;
  }
}

// Narayanan et al. (SC21), figure 13 and takeaway 1: a GPT of 162B on 64 A100 is fastest with tensor
// parallelism over the 8 GPUs of a host and stages across hosts; less has a longer bubble, more sends
// activations between hosts.
TEST(ScalingShape, tensor_parallelism_pays_up_to_the_gpus_of_a_host) {
  const auto step = [](int tensor) {
    return step_s({"a100_80",
                   "dgx_a100",
                   "gpt3_175b",
                   "megatron_2021",
                   {{"pipeline", 64 / tensor}, {"tensor", tensor}},
                   {"megatron"},
                   32,
                   1,
                   2048,
                   "recompute: full"});
  };
  const double host = step(8);
  EXPECT_GT(step(2), 1.2 * host);
  EXPECT_GT(step(4), host);
  EXPECT_GT(step(16), 1.05 * host);
  EXPECT_GT(step(32), 1.4 * host);
}

// The domain, not the degree: Llama 3 70B on 64 H100 with tensor 16, in NVLink domains of 8 and in one of 64.
TEST(ScalingShape, tensor_parallelism_collapses_beyond_an_nvlink_domain) {
  const auto report = [](int tensor, const std::string& domain) {
    return predicted({"h100",
                      "dgx_h100",
                      "llama3_70b",
                      "megatron_bridge_2025",
                      {{"fsdp", 64 / tensor}, {"tensor", tensor}},
                      {"fsdp", "megatron_sp"},
                      64,
                      1,
                      8192,
                      "",
                      "fabric_override { gpu_cluster { gpus_per_domain: " + domain + " } }"});
  };
  const auto exposed = [](const Report& of) {
    double sum = 0;
    for (const ExposedCommunication& part : of.exposed)
      sum += part.axes == "tensor" ? part.time.in_seconds() : 0;
    return sum;
  };
  const Report hosts = report(16, "8"), domain = report(16, "64");
  EXPECT_GT(exposed(hosts), 1.5 * exposed(domain));
  EXPECT_GT(hosts.step_time.in_seconds(), 1.2 * domain.step_time.in_seconds());
  EXPECT_GT(hosts.step_time.in_seconds(), 1.3 * report(8, "8").step_time.in_seconds());
}

}  // namespace
}  // namespace podsim::scaling_shapes_test
