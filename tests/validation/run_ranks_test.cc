// Rows of tables of runs: how experts and shared state lie on their ranks.
#include <gtest/gtest.h>

#include "tests/validation/example_run.h"

namespace podsim::run_ranks_test {
namespace {

bool has(const RunScenario& run, const std::string& text) { return run.text.find(text) != std::string::npos; }

TEST(RunRanks, experts_that_tensor_ranks_do_not_cut_lie_on_these_ranks_too) {
  Cells mixture = {{"pp", "1"},         {"vp", "1"}, {"dp", "16"},  {"arch", "moe"},
                   {"n_experts", "16"}, {"ep", "8"}, {"topk", "2"}, {"ffn_hidden", "1024"}};
  EXPECT_EQ(mesh_of(spec_of(scenario(mixture))), (Axes{{"data", 2}, {"expert", 8}, {"tensor", 4}}));
  mixture["etp"] = "1";
  const RunScenario whole = scenario(mixture);
  EXPECT_EQ(mesh_of(spec_of(whole)), (Axes{{"data", 8}, {"expert", 2}, {"tensor", 4}}));
  EXPECT_TRUE(has(whole, "sharding: \"megatron_experts\""));
}

// Of 64 GPUs without a pipeline, with `changes`.
Cells mixture_of_16(const Cells& changes) {
  Cells cells = {{"pp", "1"},         {"vp", "1"}, {"dp", "16"},  {"arch", "moe"},
                 {"n_experts", "16"}, {"ep", "8"}, {"topk", "2"}, {"ffn_hidden", "1024"}};
  for (const auto& [column, text] : changes) cells[column] = text;
  return cells;
}

TEST(RunRanks, an_expert_is_cut_by_as_many_ranks_as_the_row_says) {
  const Cells wide = {{"tp", "8"}, {"dp", "8"}, {"hidden", "8192"}};
  const auto with = [&](const Cells& changes) {
    Cells cells = mixture_of_16(wide);
    for (const auto& [column, text] : changes) cells[column] = text;
    return scenario(cells);
  };
  EXPECT_EQ(mesh_of(spec_of(with({{"etp", "2"}}))),
            (Axes{{"data", 4}, {"expert", 2}, {"tensor", 4}, {"expert_tensor", 2}}));
  const RunScenario copied = with({{"ep", "1"}, {"etp", "1"}});
  EXPECT_EQ(mesh_of(spec_of(copied)), (Axes{{"data", 8}, {"tensor", 8}}));
  EXPECT_TRUE(has(copied, "rule { dimension: \"expert_groups\" axis: \"data\" axis: \"tensor\" }"));
  EXPECT_EQ(with({{"ep", "4"}, {"etp", "1"}}).skipped,
            "experts over 4 ranks are no multiple of the 8 tensor-parallel ranks, which do not cut them");
}

TEST(RunRanks, state_of_dense_weights_is_cut_over_all_ranks_that_hold_them_whatever_the_experts) {
  for (const char* ep : {"2", "4", "8"})
    EXPECT_TRUE(has(scenario(mixture_of_16({{"ep", ep}})),
                    "rule { dimension: \"state_param_embed\" axis: \"data\" axis: \"expert\" }"))
        << ep;
  EXPECT_TRUE(has(scenario(mixture_of_16({{"ep", "16"}})),
                  "rule { dimension: \"state_param_embed\" axis: \"expert\" }"));
  EXPECT_TRUE(has(scenario(mixture_of_16({{"dp_sharding", "zero3"}})),
                  "rule { dimension: \"param_embed\" axis: \"fsdp\" axis: \"expert\" }"));
  EXPECT_TRUE(has(scenario(mixture_of_16({{"dp_sharding", "zero3"}, {"ep", "16"}})),
                  "rule { dimension: \"param_embed\" axis: \"expert\" }"));
}

TEST(RunRanks, hsdp_shards_over_the_ranks_of_a_server_that_hold_the_same_part) {
  const Cells hybrid = {{"pp", "1"}, {"vp", "1"}, {"dp_sharding", "hsdp"}};
  const auto with = [&](const char* tensor, const char* ranks) {
    Cells cells = hybrid;
    cells["tp"] = tensor, cells["dp"] = ranks;
    return mesh_of(spec_of(scenario(cells)));
  };
  EXPECT_EQ(with("2", "32"), (Axes{{"data", 8}, {"fsdp", 4}, {"tensor", 2}}));
  EXPECT_EQ(with("4", "16"), (Axes{{"data", 8}, {"fsdp", 2}, {"tensor", 4}}));
  EXPECT_EQ(with("8", "8"), (Axes{{"data", 8}, {"tensor", 8}}));
}

}  // namespace
}  // namespace podsim::run_ranks_test
