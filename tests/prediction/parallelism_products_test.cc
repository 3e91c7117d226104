// Any product of parallelisms is either refused with a reason or simulated: on every mesh of small axes, for
// models of each kind, folded as unfolded, and never below the bound.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/random.h"
#include "prediction/predict.h"
#include "proto/scenario/load.h"
#include "proto/writing/write.h"
#include "workload/model/model_program.h"
#include "workload/partition/step_bound.h"

namespace podsim::parallelism_products_test {
namespace {

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : seed_(seed) {}
  std::size_t below(std::size_t count) {
    return random_bits(seed_, RandomPurpose::kTest, 0, index_++) % count;
  }
  const std::string& of(const std::vector<std::string>& choices) { return choices[below(choices.size())]; }

 private:
  std::uint64_t seed_, index_ = 0;
};

std::string random_model(Draw& draw) {
  std::string model = "model_override { name: \"small\" layers: " + draw.of({"4", "6"}) +
                      " d_model: 512 heads: 8 kv_heads: " + draw.of({"2", "4", "8"}) +
                      " ffn: 1024 gated_ffn: true vocabulary: 1000";
  if (draw.below(2)) {
    model += " experts { experts: " + draw.of({"4", "8"}) + " experts_per_token: 2 expert_ffn: 256";
    model += draw.below(2) ? " shared_ffn: 256 }" : " dense_layers: 1 }";
  }
  if (draw.below(4) == 0) model += " attention_window: 128 full_every: 2";
  return model + " } ";
}

// A mesh of up to 32 chips in any order of axes, on hosts of eight, and the presets that use them.
std::string random_scenario(Draw& draw, bool tpu) {
  std::vector<std::string> axes = {"pipeline", "data",   "fsdp",         "expert",
                                   "context",  "tensor", "expert_tensor"};
  for (std::size_t i = axes.size(); i-- > 1;) std::swap(axes[i], axes[draw.below(i + 1)]);
  std::string mesh;
  int chips = 1;
  for (const std::string& axis : axes) {
    const int size = chips <= 16 && draw.below(2) ? 2 : 1;
    chips *= size;
    if (size > 1) mesh += "mesh { name: \"" + axis + "\" size: 2 } ";
  }
  if (chips < 8) {
    mesh +=
        "mesh { name: \"slices\" size: " + std::to_string(8 / chips) + " } rule { dimension: \"head_dim\" } ";
    chips = 8;
  }
  std::string sharding;
  const auto use = [&](const std::string& preset) { sharding += "sharding: \"" + preset + "\" "; };
  use("data");
  if (draw.below(2)) use("fsdp");
  use(draw.of({"megatron", "megatron_sp", "megatron_experts"}));
  use(draw.of({"context", "ring_context", "ulysses"}));
  if (draw.below(2)) use("expert");
  if (draw.below(2)) use(draw.of({"zero1", "zero2"}));
  std::string text = "question: \"?\" cluster { ";
  text += tpu ? "chip: \"tpu_v5e\" fabric: \"v5e_pod\" " : "chip: \"h100\" fabric: \"dgx_h100\" ";
  text += "chips: " + std::to_string(chips) + " } job { stack: \"" +
          draw.of(tpu ? std::vector<std::string>{"maxtext_2025"}
                      : std::vector<std::string>{"megatron_bridge_2025", "torchtitan"}) +
          "\" " + random_model(draw) + mesh + sharding;
  if (mesh.find("pipeline") != std::string::npos && draw.below(2))
    text += "pipeline { schedule: interleaved chunks_per_stage: 2 } ";
  text += "global_batch_sequences: " + draw.of({"10", "16", "32"}) +
          " microbatch_sequences: 1 sequence_tokens: 512 ";
  if (draw.below(3) == 0) text += "gemm_precision { gemm: \"attention out\" precision: bf16 } ";
  if (!tpu) text += "precision: " + draw.of({"bf16", "fp8"});
  return text + " recompute: " + draw.of({"none", "full"}) + " }";
}

Report predicted(const Spec& spec, bool fold) {
  PredictOptions options;
  options.fold = fold;
  return predict_step(spec, options).report;
}

// The report without what tells how it was computed.
std::string figures(Report report) {
  report.chip_classes = report.group_classes = report.link_classes = 0;
  report.events = report.periods_skipped = 0;
  return report_json(report);
}

TEST(ParallelismProducts, are_refused_with_a_reason_or_simulated_alike_folded_and_unfolded) {
  const Catalog catalog;
  int simulated = 0, refused = 0;
  for (std::uint64_t seed = 1; seed <= 48; ++seed) {
    Draw draw(seed);
    const std::string text = random_scenario(draw, seed % 4 == 0);
    const LoadResult loaded = load_scenario("random", text, catalog, {});
    if (!loaded.spec) {
      ASSERT_FALSE(loaded.problems.empty()) << text;
      for (const Problem& problem : loaded.problems) {
        EXPECT_GT(problem.message.size(), 10u) << text;
        EXPECT_GT(problem.line, 0) << text << "\n" << problem.message;
      }
      ++refused;
      continue;
    }
    ++simulated;
    const Spec& spec = *loaded.spec;
    const Report report = predicted(spec, true);
    EXPECT_GE(report.step_time.in_seconds(),
              shortest_step_s(spec.job, model_program(spec.job), spec.cluster.chip))
        << text;
    EXPECT_TRUE(report.memory.fits) << text;
    EXPECT_EQ(figures(report), figures(predicted(spec, false))) << text;
  }
  EXPECT_GT(simulated, 30);
  EXPECT_GT(refused, 0);
}

// Of frozen tables of embeddings a step reads the rows that its tokens have, and updates none.
TEST(StepBound, leaves_out_weights_that_are_frozen) {
  const Catalog catalog;
  const LoadResult loaded = load_scenario("frozen", R"(
    cluster { chip: "h100" chips: 1 fabric: "dgx_h100" }
    job { model: "dlrm_8_tables" stack: "megatron_bridge_2025" mesh { name: "data" size: 1 }
          global_batch_sequences: 1 sequence_tokens: 1 adapters { rank: 1 } })",
                                          catalog, {});
  ASSERT_TRUE(loaded.spec);
  const Spec& spec = *loaded.spec;
  EXPECT_LE(shortest_step_s(spec.job, model_program(spec.job), spec.cluster.chip),
            predicted(spec, true).step_time.in_seconds());
}

}  // namespace
}  // namespace podsim::parallelism_products_test
