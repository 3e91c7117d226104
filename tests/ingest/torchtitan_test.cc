// Configurations of torchtitan: what follows from a few lines, and what contradicts itself.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "proto/catalog/catalog.h"
#include "proto/scenario/load.h"
#include "tests/ingest/launcher_answer.h"

namespace podsim::torchtitan_test {
namespace {

using nlohmann::json;
using testing::chips;

struct Answer {
  json figures;
  std::vector<std::string> problems;
  Imported imported;
};

Answer answer_of(decltype(&import_megatron) read, const std::string& text, const Stated& stated = {}) {
  testing::LauncherAnswer answer = testing::answer_of(read, text, stated);
  return {json::parse(answer.figures), answer.problems, std::move(answer.imported)};
}

TEST(Torchtitan, refuses_a_table_without_name) {
  for (const char* header : {"[.a]", "[[ ,b]]", "[=]"}) {
    const Answer answer = answer_of(
        import_torchtitan, "x = [\n  [\"a\"],\n]\ns = \"\"\"\n[.\n\"\"\"\n" + std::string(header) + "\n");
    ASSERT_EQ(answer.problems.size(), 1u) << header;
    EXPECT_NE(answer.problems[0].find("file:7:"), std::string::npos) << answer.problems[0];
  }
}

TEST(Torchtitan, takes_the_rest_of_the_chips_for_fsdp) {
  const std::string text = "[parallelism]\ntensor_parallel_degree = 4\n[training]\nlocal_batch_size = 2\n";
  const Answer answer = answer_of(import_torchtitan, text, chips(64));
  EXPECT_EQ(answer.figures["mesh_outer_to_inner"][2], json({"fsdp", 16}));
  EXPECT_EQ(answer.figures["batch"]["global_batch_sequences"], 32);
  EXPECT_NE(answer_of(import_torchtitan, text, chips(6)).problems.at(0).find("6 chips are not a multiple of"),
            std::string::npos);
}

TEST(Torchtitan, finds_settings_in_the_sections_of_earlier_versions) {
  const json read =
      answer_of(import_torchtitan,
                "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nbatch_size = 8\n"
                "data_parallel_shard_degree = -1\ntensor_parallel_degree = 2\ncompile = true\n"
                "[experimental]\npipeline_parallel_degree = 2\npipeline_parallel_microbatches = 4\n"
                "enable_async_tensor_parallel = true\n[float8]\nenable_float8_linear = true\n",
                chips(16))
          .figures;
  EXPECT_EQ(read["mesh_outer_to_inner"],
            json::parse(R"([["pipeline", 2], ["data", 1], ["fsdp", 4], ["context", 1], ["tensor", 2]])"));
  EXPECT_EQ(read["batch"]["microbatch_sequences"], 2);
  EXPECT_EQ(read["pipeline"]["microbatches"], 4);
  EXPECT_EQ(read["precision"], "fp8_tensorwise");
  EXPECT_EQ(read["async_tensor"], true);
  EXPECT_EQ(read["compile"], true);
}

TEST(Torchtitan, parts_names_of_converters_at_commas) {
  const Answer answer =
      answer_of(import_torchtitan,
                "[model]\nname = \"llama3\"\nflavor = \"8B\"\nconverters = \"ignored,float8\"\n[training]\n"
                "local_batch_size = 1\n[parallelism]\ntensor_parallel_degree = 1\n[float8]\nrecipe_name = "
                "\"rowwise\"\n");
  EXPECT_EQ(answer.figures["precision"], "fp8_rowwise");
}

// A job of Llama 3 70B on 64 H100 in two stages, of which `lines` say more.
Imported two_stages(const std::string& lines, const std::string& training = "") {
  Stated stated = chips(64);
  stated.chip = "h100";
  stated.fabric = "dgx_h100";
  return answer_of(import_torchtitan,
                   "[model]\nname = \"llama3\"\nflavor = \"70B\"\n[training]\nlocal_batch_size = 4\n" +
                       training + "[parallelism]\npipeline_parallel_degree = 2\n" + lines,
                   stated)
      .imported;
}

TEST(Torchtitan, takes_a_schedule_that_podsim_has_and_asks_for_another_where_it_has_none) {
  EXPECT_NE(two_stages("").scenario.find("schedule: one_f_one_b }"), std::string::npos);
  EXPECT_NE(two_stages("pipeline_parallel_schedule = \"ZBVZeroBubble\"\n").scenario.find("zero_bubble_v }"),
            std::string::npos);
  const Imported unknown = two_stages("pipeline_parallel_schedule = \"InterleavedZeroBubble\"\n");
  EXPECT_EQ(unknown.scenario, "");
  ASSERT_EQ(unknown.needs_to_run.size(), 1u);
  EXPECT_EQ(unknown.needs_to_run.front().what,
            "a schedule that podsim runs, instead of InterleavedZeroBubble");
}

// 80 layers, with the embedding and the head 82, in pieces of 11: 8 stages, of which a rank has 4.
TEST(Torchtitan, counts_chunks_by_the_layers_of_a_stage) {
  EXPECT_NE(two_stages("pipeline_parallel_schedule = \"Interleaved1F1B\"\n"
                       "pipeline_parallel_layers_per_stage = 11\n")
                .scenario.find("interleaved chunks_per_stage: 4 }"),
            std::string::npos);
}

// FSDP adds the shards up in the format of the weights, 32 bits.
TEST(Torchtitan, reduces_gradients_in_the_format_that_is_asked_for) {
  Stated stated = chips(16);
  stated.chip = "h100", stated.fabric = "dgx_h100";
  const std::string text = "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nlocal_batch_size = 1\n";
  const auto stack = [&](const std::string& line) {
    const Answer answer = answer_of(import_torchtitan, text + line, stated);
    const LoadResult loaded = load_scenario("s", answer.imported.scenario, Catalog(), {});
    EXPECT_TRUE(loaded.spec) << answer.imported.scenario;
    return loaded.spec ? loaded.spec->job.stack : Stack{};
  };
  EXPECT_EQ(stack("").gradient_bytes, 4);
  const Stack reduced = stack("mixed_precision_reduce = \"bfloat16\"\n");
  EXPECT_EQ(reduced.gradient_bytes, 2);
  EXPECT_EQ(reduced.gradient_memory_bytes, 4);
}

TEST(Torchtitan, keeps_rows_scaled_where_only_weight_gradients_are_not_quantised) {
  const Answer answer = answer_of(import_torchtitan,
                                  "[model]\nconverters = [\"float8\"]\n[float8]\n"
                                  "recipe_name = \"rowwise_with_gw_hp\"\n");
  EXPECT_EQ(answer.figures["precision"], "fp8_rowwise");
}

TEST(Torchtitan, names_the_line_where_toml_ends) {
  EXPECT_NE(answer_of(import_torchtitan, "[training]\nseq_len = \n").problems.at(0).find("file:2:"),
            std::string::npos);
}

// A mixture on 16 H100 with FSDP over all of them, and experts over `ranks`.
std::string sharded_mixture(int ranks) {
  Stated stated = chips(16);
  stated.chip = "h100", stated.fabric = "dgx_h100";
  return answer_of(import_torchtitan,
                   "[model]\nname = \"qwen3\"\nflavor = \"30B-A3B\"\n[training]\nlocal_batch_size = 1\n"
                   "[parallelism]\ndata_parallel_shard_degree = 16\nexpert_parallel_degree = " +
                       std::to_string(ranks) + "\n",
                   stated)
      .imported.scenario;
}

TEST(Torchtitan, shards_dense_weights_over_all_ranks_however_many_experts_lie_on) {
  EXPECT_NE(sharded_mixture(1).find("sharding: \"fsdp\""), std::string::npos);
  EXPECT_NE(sharded_mixture(8).find("rule { dimension: \"param_embed\" axis: \"fsdp\" axis: \"expert\" }"),
            std::string::npos);
  EXPECT_NE(sharded_mixture(16).find("rule { dimension: \"param_embed\" axis: \"expert\" }"),
            std::string::npos);
}

TEST(Torchtitan, makes_no_scenario_of_weights_on_the_host) {
  const std::string host = "[training]\nenable_cpu_offload = ";
  const auto needs = [&](const char* is) {
    Stated stated = chips(8);
    stated.model = "llama3_8b", stated.chip = "h100", stated.fabric = "dgx_h100";
    return answer_of(import_torchtitan, "[parallelism]\ntensor_parallel_degree = 1\n" + host + is + "\n",
                     stated)
        .imported.needs_to_run;
  };
  EXPECT_TRUE(needs("false").empty());
  ASSERT_EQ(needs("true").size(), 1u);
  EXPECT_EQ(needs("true")[0].what, "weights on the chips: those on the host are not simulated");
}

TEST(Torchtitan, takes_the_plain_format_and_the_attention_that_stack_and_chip_have) {
  const auto scenario = [](const char* chip, const char* fabric, const char* stack = "") {
    Stated stated = chips(8);
    stated.model = "llama3_8b", stated.chip = chip, stated.fabric = fabric, stated.stack = stack;
    return answer_of(import_torchtitan,
                     "[model]\nconverters = [\"quantize.linear.mx\"]\n[parallelism]\n"
                     "tensor_parallel_degree = 1\n",
                     stated)
        .imported.scenario;
  };
  const std::string own = scenario("b200", "dgx_b200");
  EXPECT_NE(own.find("precision: fp8  #"), std::string::npos) << own;
  EXPECT_EQ(own.find("attention_kernel"), std::string::npos) << own;
  const LoadResult loaded = load_scenario("job.textproto", own, Catalog(), {});
  EXPECT_TRUE(loaded.spec) << (loaded.problems.empty() ? "" : format_problem(loaded.problems.front()));
  EXPECT_NE(scenario("b200", "dgx_b200", "generic_megatron").find("precision: mxfp8  #"), std::string::npos);
  EXPECT_NE(scenario("tpu_v6e", "v6e_pod")
                .find("attention_kernel: \"splash\" }  # assumed: tpu_v6e has no attention kernel flash2"),
            std::string::npos);
}

// 64 H100, 2 stages, FSDP over 32: 128 sequences are one pass of 4 on each.
TEST(Torchtitan, makes_no_scenario_of_a_step_that_passes_the_pipeline_several_times) {
  EXPECT_NE(two_stages("").scenario, "");
  const Imported twice = two_stages("", "global_batch_size = 256\n");
  EXPECT_EQ(twice.scenario, "");
  ASSERT_EQ(twice.needs_to_run.size(), 1u);
  EXPECT_EQ(twice.needs_to_run[0].what,
            "one pass through the pipeline in a step, not 2, each of which empties it");
  EXPECT_EQ(twice.needs_to_run[0].option, "--set training.global_batch_size=128");
}

TEST(Torchtitan, says_that_weights_which_stay_gathered_are_not_simulated) {
  const std::string never = "fsdp_reshard_after_forward = \"never\"\n";
  EXPECT_NE(two_stages(never).scenario.find("# Not simulated: weights that stay gathered until backward"),
            std::string::npos);
  const std::string always = "fsdp_reshard_after_forward = \"always\"\n";
  EXPECT_EQ(two_stages(always).scenario.find("Not simulated"), std::string::npos);
}

TEST(Torchtitan, refuses_a_mode_of_recompute_at_its_own_line) {
  const auto problems = [](const std::string& lines) {
    return answer_of(import_torchtitan, "[activation_checkpoint]\n" + lines, chips(8)).problems;
  };
  const auto mode = problems("mode = \"Full\"\n");
  ASSERT_EQ(mode.size(), 1u);
  EXPECT_NE(mode[0].find("file:2:"), std::string::npos) << mode[0];
  EXPECT_NE(mode[0].find("the mode of recompute is \"Full\""), std::string::npos) << mode[0];
  const auto option = problems("mode = \"selective\"\nselective_ac_option = \"0\"\n");
  ASSERT_EQ(option.size(), 1u);
  EXPECT_NE(option[0].find("file:3:"), std::string::npos) << option[0];
  EXPECT_NE(option[0].find("the option of selective recompute is \"0\""), std::string::npos) << option[0];
}

TEST(Torchtitan, makes_no_scenario_of_a_budget_of_memory) {
  Stated stated = chips(8);
  stated.model = "llama3_8b", stated.chip = "h100", stated.fabric = "dgx_h100";
  const std::string text =
      "[training]\nlocal_batch_size = 1\nseq_len = 4096\n[activation_checkpoint]\nmode = ";
  EXPECT_NE(answer_of(import_torchtitan, text + "\"full\"\n", stated).imported.scenario, "");
  const Imported budget = answer_of(import_torchtitan, text + "\"memory_budget\"\n", stated).imported;
  EXPECT_EQ(budget.scenario, "");
  EXPECT_EQ(budget.needs_to_run.at(0).option, "--set activation_checkpoint.mode=selective");
}

}  // namespace
}  // namespace podsim::torchtitan_test
