// Experts whose weights are sharded over data ranks as well as expert ranks: what a step takes goes with its
// work.
#include <gtest/gtest.h>

#include <string>

#include "prediction/predict.h"
#include "proto/scenario/load.h"

namespace podsim::sharded_experts_test {
namespace {

Spec spec_of(const std::string& model, int expert_ranks, int tokens, const std::string& more = "") {
  const Catalog catalog;
  const LoadResult loaded = load_scenario(
      "experts",
      "cluster { chip: \"h100\" chips: 256 fabric: \"dgx_h100\" }\n"
      "job { model: \"" +
          model +
          "\" stack: \"generic_megatron\"\n"
          "  mesh { name: \"fsdp\" size: rest } mesh { name: \"expert\" size: " +
          std::to_string(expert_ranks) +
          " }\n"
          "  sharding: \"fsdp\" sharding: \"expert\" global_batch_sequences: 512 microbatch_sequences: 1\n"
          "  sequence_tokens: " +
          std::to_string(tokens) + " precision: bf16 recompute: full " + more + "}\n",
      catalog, {});
  EXPECT_TRUE(loaded.spec) << (loaded.problems.empty() ? "" : format_problem(loaded.problems.front()));
  return loaded.spec.value_or(Spec{});
}

double step_s(const Spec& spec) { return predict_step(spec, {}).report.step_time.in_seconds(); }

// A cut that leaves a partial sum of 8.6 GB a layer took 22.6 s, and half as many tokens again 1.9 s.
TEST(ShardedExpertsLaw, a_step_of_more_tokens_takes_longer_and_at_most_as_much_longer) {
  for (const char* model : {"qwen3_30b_a3b", "glm4_5_air"})
    for (const int expert_ranks : {4, 8}) {
      double before = 0;
      int tokens_before = 1;
      for (const int tokens : {2048, 4096, 6144, 8192}) {
        const double step = step_s(spec_of(model, expert_ranks, tokens));
        EXPECT_GT(step, before) << model << ' ' << expert_ranks << ' ' << tokens;
        // Attention alone grows with the square.
        if (before > 0) {
          const double ratio = static_cast<double>(tokens) / tokens_before;
          EXPECT_LT(step, before * ratio * ratio) << model << ' ' << expert_ranks << ' ' << tokens;
        }
        before = step;
        tokens_before = tokens;
      }
    }
}

// Sharded weights are gathered anew for each microbatch, which a search may avoid.
TEST(ShardedExpertsLaw, as_declared_takes_no_more_than_a_quarter_longer_than_a_search_finds) {
  for (const char* model : {"qwen3_30b_a3b", "glm4_5_air"})
    for (const int expert_ranks : {4, 8})
      EXPECT_LT(step_s(spec_of(model, expert_ranks, 4096)),
                1.25 * step_s(spec_of(model, expert_ranks, 4096, "partitioner: search ")))
          << model << ' ' << expert_ranks;
}

}  // namespace
}  // namespace podsim::sharded_experts_test
