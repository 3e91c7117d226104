// Every verb's happy path, through the binary.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/cli/command.h"
#include "workload/job/job.h"

namespace podsim::verbs_test {
namespace {

using nlohmann::json;

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(RunVerb, prints_a_report_that_repeats_the_question) {
  const CommandResult result = podsim_command("run " + small_scenario());
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("How long is a step of Llama 3 8B on 16 H100?"), std::string::npos);
  EXPECT_NE(result.out.find("A step takes "), std::string::npos);
  EXPECT_EQ(result.err, "");
}

TEST(RunVerb, json_has_the_stable_keys) {
  const CommandResult result = podsim_command("run --format json " + small_scenario());
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json report = json::parse(result.out);
  for (const char* key : {"scenario",
                          "question",
                          "chip",
                          "chips",
                          "step_time_s",
                          "step_time_p99_s",
                          "compute_s",
                          "exposed_communication_s",
                          "pipeline_bubble_s",
                          "straggler_delay_s",
                          "optimizer_s",
                          "input_stall_s",
                          "offload_wait_s",
                          "skew_wait_s",
                          "evaluation_s",
                          "model_flops_per_token_causal",
                          "model_flops_per_token_full",
                          "mfu_causal",
                          "mfu_full",
                          "hfu_full",
                          "tokens_per_s",
                          "tokens_per_s_per_chip",
                          "memory_per_chip_gib",
                          "fits",
                          "cost_usd_per_million_tokens",
                          "cost_usd_per_hour",
                          "energy_j_per_token",
                          "power_kw",
                          "link_utilisation"}) {
    EXPECT_TRUE(report.contains(key)) << key;
  }
  EXPECT_EQ(report["scenario"], "small");
  EXPECT_EQ(report["chips"], 16);
}

TEST(RunVerb, parts_of_the_step_sum_to_its_time_to_the_picosecond) {
  const CommandResult result = podsim_command(
      "run --format json scenarios/llama3_70b_512_h100.textproto scenarios/one_slow_chip_512.textproto");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  // Below 9,000 s twelve decimals of a double round to the picosecond that was written.
  const auto ps = [](const json& seconds) { return std::llround(seconds.get<double>() * 1e12); };
  for (const json& report : json::parse(result.out)) {
    long long exposed = 0;
    for (const json& part : report["exposed_communication_s"]["by"]) exposed += ps(part["time_s"]);
    EXPECT_EQ(exposed, ps(report["exposed_communication_s"]["total"]));
    EXPECT_EQ(ps(report["compute_s"]) + exposed + ps(report["pipeline_bubble_s"]) +
                  ps(report["straggler_delay_s"]) + ps(report["optimizer_s"]) + ps(report["input_stall_s"]) +
                  ps(report["offload_wait_s"]) + ps(report["skew_wait_s"]) + ps(report["evaluation_s"]),
              ps(report["step_time_s"]));
  }
}

TEST(RunVerb, jobs_that_share_a_cluster_are_a_table) {
  const CommandResult result = podsim_command("run scenarios/two_jobs_oversubscribed.textproto");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("How much do two jobs slow each other down"), std::string::npos);
  EXPECT_NE(result.out.find("Job llama70b suffers most"), std::string::npos);
}

TEST(RunVerb, jobs_that_share_a_cluster_have_stable_keys) {
  const CommandResult result =
      podsim_command("run --format json scenarios/two_jobs_oversubscribed.textproto");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json report = json::parse(result.out);
  for (const char* key : {"scenario", "question", "chip", "chips", "fabric", "seed", "jobs"})
    EXPECT_TRUE(report.contains(key)) << key;
  ASSERT_EQ(report["jobs"].size(), 2u);
  for (const json& job : report["jobs"]) {
    for (const char* key :
         {"name", "first_chip", "chips", "step_time_alone_s", "step_time_together_s", "slowdown",
          "exposed_communication_alone_s", "exposed_communication_together_s", "alone", "together"})
      EXPECT_TRUE(job.contains(key)) << key;
    EXPECT_EQ(job["alone"]["step_time_s"], job["step_time_alone_s"]);
    EXPECT_EQ(job["together"]["step_time_s"], job["step_time_together_s"]);
    EXPECT_GT(job["slowdown"], 1.0);
  }
}

TEST(RunVerb, jobs_that_share_a_cluster_stand_beside_others) {
  const std::string files = small_scenario() + " scenarios/two_jobs_oversubscribed.textproto";
  EXPECT_EQ(count(podsim_command("run --format csv " + files).out, "\n"), 4u);
  EXPECT_EQ(json::parse(podsim_command("run --format json " + files).out).size(), 2u);
}

TEST(CompareAndScale, say_that_they_take_one_job) {
  const std::string file = "scenarios/two_jobs_oversubscribed.textproto";
  for (const std::string& verb :
       {"compare " + file + " " + small_scenario(), "scale --chips 256,512 " + file}) {
    const CommandResult result = podsim_command(verb);
    EXPECT_EQ(result.exit_code, 2) << verb;
    EXPECT_EQ(result.out, "") << verb;
    EXPECT_NE(result.err.find("two_jobs_oversubscribed has jobs that share a cluster"), std::string::npos)
        << result.err;
  }
}

TEST(RunVerb, several_files_give_a_json_array_in_their_order) {
  const std::string file = small_scenario();
  const CommandResult result = podsim_command("run --format json --threads 2 " + file + " " + file);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(json::parse(result.out).size(), 2u);
}

TEST(RunVerb, output_does_not_depend_on_the_number_of_threads) {
  const std::string files = small_scenario() + " scenarios/llama3_70b_512_h100.textproto " + small_scenario();
  const CommandResult one = podsim_command("run --format json --threads 1 " + files);
  EXPECT_EQ(one.exit_code, 0) << one.err;
  EXPECT_EQ(podsim_command("run --format json --threads 4 " + files).out, one.out);
}

TEST(RunVerb, csv_is_a_header_and_a_line_per_file) {
  const std::string file = small_scenario();
  const CommandResult result = podsim_command("run --format csv " + file + " " + file);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(count(result.out, "\n"), 3u);
}

TEST(RunVerb, set_and_seed_override_the_scenario) {
  const CommandResult result =
      podsim_command("run --format json --seed 7 --set job.global_batch_sequences=64 " + small_scenario());
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(json::parse(result.out)["tokens_per_step"], 64 * 4096);
  EXPECT_EQ(json::parse(result.out)["seed"], 7);
}

TEST(RunVerb, reads_standard_input) {
  const CommandResult result = podsim_command("run --format json - <" + small_scenario());
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(json::parse(result.out)["scenario"], "small");
}

TEST(RunVerb, out_writes_a_file_or_one_file_per_scenario) {
  const std::string file = small_scenario(), folder = std::filesystem::path(file).parent_path().string();
  ASSERT_EQ(podsim_command("run --format json --out " + folder + "/one.json " + file).exit_code, 0);
  EXPECT_EQ(json::parse(read_file(folder + "/one.json"))["scenario"], "small");
  const CommandResult many =
      podsim_command("run --format textproto --out " + folder + "/many/ " + file + " " + file);
  EXPECT_EQ(many.exit_code, 0) << many.err;
  EXPECT_EQ(many.out, "");
  EXPECT_NE(read_file(folder + "/many/small.textproto").find("step_time_ps"), std::string::npos);
  EXPECT_EQ(read_file(folder + "/many/small.textproto"), read_file(folder + "/many/small-2.textproto"));
}

TEST(RunVerb, dump_prints_each_stage_instead_of_the_report) {
  for (const char* stage : {"fabric", "program", "placement", "plan", "system", "schedule", "timeline"}) {
    const CommandResult result = podsim_command("run --dump " + std::string(stage) + " " + small_scenario());
    EXPECT_EQ(result.exit_code, 0) << stage << ": " << result.err;
    EXPECT_GT(result.out.size(), 20u) << stage;
    EXPECT_EQ(result.out.find("A step takes"), std::string::npos) << stage;
  }
}

// 1 GFLOP a token and 64 x 1,024 tokens in half a millisecond on eight chips of 1 PFLOP/s.
TEST(RunVerb, measured_layers_that_are_faster_than_the_chip_are_told) {
  const std::string file = temporary_file("too_fast.textproto", R"(
      cluster { chip: "h100" chips: 8 fabric: "dgx_h100" }
      job {
        measured_layers { layer { name: "block" forward_us: 500 } model_gflop_per_token: 1 }
        mesh { name: "data" size: 8 } sharding: "data" global_batch_sequences: 64 sequence_tokens: 1024
      })");
  const std::string told = "of the chip's peak is not possible";
  EXPECT_NE(podsim_command("run " + file).err.find(told), std::string::npos);
  const std::string slower = " --set job.measured_layers.layer.block.forward_us=500000";
  EXPECT_EQ(podsim_command("run " + file + slower).err.find(told), std::string::npos);
}

// An axis that fills no whole dimensions of the torus is as quick to predict as one that does.
TEST(RunVerb, axes_across_dimensions_of_a_torus_take_few_events) {
  const std::string file = temporary_file("across.textproto", R"(
      cluster { chip: "tpu_v5p" chips: 4608 fabric: "v5p_pod" slice_shape: [12, 16, 24] }
      job {
        model: "llama3_70b" stack: "maxtext_2025"
        mesh { name: "fsdp" size: 1152 } mesh { name: "tensor" size: 4 }
        sharding: "fsdp" sharding: "megatron_sp"
        global_batch_sequences: 1152 sequence_tokens: 8192 precision: bf16 recompute: full
      })");
  const CommandResult result = podsim_command("run --format json " + file);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_LT(json::parse(result.out)["events"], 100'000);
}

TEST(CollectiveVerb, both_fidelities_agree_where_no_link_is_shared) {
  const std::string command =
      "collective --fabric v5p_pod --shape 8x8x8 --bytes 1GB --format json --fidelity ";
  const json fluid = json::parse(podsim_command(command + "fluid").out)["rows"];
  const json stepwise = json::parse(podsim_command(command + "stepwise").out)["rows"];
  EXPECT_EQ(fluid[0]["algorithm"], "torus");
  EXPECT_EQ(stepwise[0]["algorithm"], "torus");
  EXPECT_EQ(fluid[0]["time_s"], stepwise[0]["time_s"]);
}

TEST(CollectiveVerb, prints_one_row_per_size) {
  const CommandResult result = podsim_command(
      "collective --fabric dgx_h100 --chips 64 --kind all-reduce --bytes 1MiB..16MiB --format json");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json rows = json::parse(result.out)["rows"];
  ASSERT_EQ(rows.size(), 5u);
  for (std::size_t row = 1; row < rows.size(); ++row) EXPECT_GE(rows[row]["time_s"], rows[row - 1]["time_s"]);
  for (const json& row : rows) EXPECT_GE(row["time_s"], row["lower_bound_s"]);
}

TEST(CollectiveVerb, takes_a_shape_a_group_and_an_algorithm) {
  const CommandResult torus =
      podsim_command("collective --fabric v5p_pod --shape 4x4x4 --kind all_gather --bytes 1GiB");
  EXPECT_EQ(torus.exit_code, 0) << torus.err;
  EXPECT_NE(torus.out.find("busbw GB/s"), std::string::npos);
  const CommandResult rail =
      podsim_command("collective --fabric dgx_h100 --chips 64 --group 0..56+8 --algorithm ring --bytes 1GiB");
  EXPECT_EQ(rail.exit_code, 0) << rail.err;
  EXPECT_NE(rail.out.find("among 8 of 64 chips"), std::string::npos);
}

TEST(DrawVerb, writes_graphviz_text_or_figures) {
  const CommandResult drawn = podsim_command("draw --fabric v5p_pod --shape 4x4x4");
  EXPECT_EQ(drawn.exit_code, 0) << drawn.err;
  EXPECT_NE(drawn.out.find("graph"), std::string::npos);
  const CommandResult measured = podsim_command("draw --metrics " + small_scenario());
  EXPECT_EQ(measured.exit_code, 0) << measured.err;
  EXPECT_NE(measured.out.find("bisection"), std::string::npos);
}

TEST(CheckVerb, says_which_files_are_valid) {
  const CommandResult result = podsim_command("check " + small_scenario());
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("valid: llama3_8b on 16 h100"), std::string::npos);
}

TEST(Help, every_verb_has_examples) {
  for (const char* verb : {"run", "compare", "scale", "collective", "catalog", "draw", "check"}) {
    const CommandResult help = podsim_command(std::string(verb) + " --help");
    EXPECT_EQ(help.exit_code, 0) << verb;
    EXPECT_NE(help.out.find("Example"), std::string::npos) << verb;
  }
}

TEST(ValidateVerb, prints_every_row_and_the_summary) {
  const CommandResult result = podsim_command("validate scenarios/measurements/nccl_allreduce.csv");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(count(result.out, "\nH100-SXM"), 46u);
  EXPECT_NE(result.out.find("1 MiB and more"), std::string::npos);
  EXPECT_NE(result.out.find("Left out of the summary"), std::string::npos);
}

TEST(ValidateVerb, json_has_rows_and_summary) {
  const CommandResult result =
      podsim_command("validate scenarios/measurements/nccl_allreduce.csv --only 1984 --format json");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json report = json::parse(result.out);
  ASSERT_EQ(report["rows"].size(), 1u);
  const json& row = report["rows"][0];
  EXPECT_EQ(row["id"], "H200-SXM 1984 NVLink4 + 8x400G IB all-reduce default 536870912");
  EXPECT_NEAR(row["error_pct"].get<double>(),
              100 * (row["predicted_time_s"].get<double>() / row["measured_time_s"].get<double>() - 1), 1e-9);
  EXPECT_EQ(report["summary"]["all"]["rows"], 1);
}

TEST(ValidateVerb, nccl_tests_output_needs_a_fabric_and_ranks) {
  const std::string log = temporary_file("perf.log",
                                         "# out-of-place in-place\n# size count type redop root time algbw "
                                         "busbw\n 1048576 262144 float sum -1 28.5 36.8 "
                                         "64.4 0\n");
  const CommandResult bare = podsim_command("validate " + log);
  EXPECT_EQ(bare.exit_code, 2);
  EXPECT_NE(bare.err.find("say where it ran with --fabric NAME --gpus N"), std::string::npos);
  const CommandResult told = podsim_command("validate " + log + " --fabric dgx_h100 --gpus 8 --format csv");
  ASSERT_EQ(told.exit_code, 0) << told.err;
  EXPECT_NE(told.out.find("8 all-reduce 1048576"), std::string::npos);
}

TEST(ValidateVerb, mistakes_are_told_with_file_line_and_column) {
  const std::string table = temporary_file(
      "t.csv", "system,gpus,network,collective,bytes,time_us\nH100-SXM,x,NVLink4,all_reduce,8,5\n");
  const CommandResult result = podsim_command("validate " + table);
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("t.csv:2:10: gpus is \"x\""), std::string::npos) << result.err;
  EXPECT_EQ(podsim_command("validate README.md").exit_code, 2);
  EXPECT_EQ(podsim_command("validate no_such.csv").exit_code, 2);
}

TEST(ExplainVerb, says_where_shardings_come_from_and_which_plans_lost) {
  const CommandResult result = podsim_command("explain " + small_scenario() + " --op \"ffn up\"");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  for (const char* part : {"ffn up (einsum)", "ffn up dgrad", "ffn up wgrad", "rule batch", "lost: ", "sent"})
    EXPECT_NE(result.out.find(part), std::string::npos) << part;
  EXPECT_EQ(result.out.find("attention"), std::string::npos);
}

TEST(ExplainVerb, json_has_the_stable_keys) {
  const CommandResult result = podsim_command("explain --format json " + small_scenario());
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json operations = json::parse(result.out).at("operations");
  ASSERT_GT(operations.size(), 20u);
  for (const json& op : operations) {
    for (const char* key : {"part", "name", "kind", "backward", "cut", "flops_per_device", "time_s",
                            "operands", "results", "collectives", "alternatives"})
      EXPECT_TRUE(op.contains(key)) << key;
    for (const json& tensor : op.at("operands")) {
      EXPECT_EQ(tensor.at("global_shape").size(), tensor.at("dimensions").size());
      EXPECT_EQ(tensor.at("local_shape").size(), tensor.at("dimensions").size());
    }
  }
}

TEST(ExplainVerb, lists_the_operations_when_none_is_meant) {
  const CommandResult result = podsim_command("explain " + small_scenario() + " --op nothing");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("no operation is called \"nothing\""), std::string::npos);
  EXPECT_NE(result.err.find("ffn up"), std::string::npos);
}

TEST(ShardVerb, plans_by_time_on_a_fabric) {
  const std::string cases = std::string(PODSIM_SOURCE_DIR) + "/scenarios/sharding/fabric_choices.json";
  const CommandResult servers =
      podsim_command("shard " + cases + " --case tokens_or_experts --fabric dgx_h100 --chips 16");
  ASSERT_EQ(servers.exit_code, 0) << servers.err;
  EXPECT_NE(servers.out.find("predicted time"), std::string::npos);
  const CommandResult wrong = podsim_command("shard " + cases + " --fabric dgx_h100 --chips 32");
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_NE(wrong.err.find("a mesh of 16 devices, but the fabric has 32 chips"), std::string::npos);
}

}  // namespace
}  // namespace podsim::verbs_test
