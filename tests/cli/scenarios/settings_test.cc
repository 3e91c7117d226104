// --set with several values: a table on run, scale, reliability and compare; and one file against itself
// changed.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/cli/command.h"
#include "tests/text_lines.h"

namespace podsim::settings_test {
namespace {

using testing::lines_of;

using nlohmann::json;

TEST(RunSettings, a_table_has_a_row_for_each_combination) {
  const CommandResult result = podsim_command(
      "run " + small_scenario() + " --set job.recompute=none,full --set job.sequence_tokens=1024,2048");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::vector<std::string> lines = lines_of(result.out);
  ASSERT_EQ(lines.size(), 9u) << result.out;  // name, blank, headings, four rows, blank, the best
  EXPECT_EQ(lines[0], "small");
  EXPECT_EQ(lines[2].rfind("job.recompute  job.sequence_tokens  step s", 0), 0u) << lines[2];
  EXPECT_EQ(lines[4].rfind("none                          2048", 0), 0u) << lines[4];
  EXPECT_EQ(lines[5].rfind("full                          1024", 0), 0u) << lines[5];
  EXPECT_NE(lines[8].find("The most tokens per second that fit in memory: job.recompute="),
            std::string::npos);
}

TEST(RunSettings, json_and_csv_have_the_figures_of_single_runs) {
  const std::string file = small_scenario();
  const json all =
      json::parse(podsim_command("run " + file + " --set job.microbatch_sequences=1,2 --format json").out);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[1]["set"], (json{{"job.microbatch_sequences", "2"}}));
  EXPECT_EQ(all[1]["scenario"], "small job.microbatch_sequences=2");
  const json one =
      json::parse(podsim_command("run " + file + " --set job.microbatch_sequences=2 --format json").out);
  EXPECT_FALSE(one.contains("set"));
  for (const char* key : {"step_time_s", "mfu_causal", "memory_per_chip_gib"})
    EXPECT_EQ(all[1][key], one[key]) << key;
  const std::vector<std::string> csv =
      lines_of(podsim_command("run " + file + " --set job.microbatch_sequences=1,2 --format csv").out);
  ASSERT_EQ(csv.size(), 3u);
  EXPECT_EQ(csv[0].rfind("job.microbatch_sequences,scenario,", 0), 0u) << csv[0];
  EXPECT_EQ(csv[2].rfind("2,small job.microbatch_sequences=2,", 0), 0u) << csv[2];
}

TEST(RunSettings, lists_and_texts_with_commas_stay_one_value) {
  const CommandResult list =
      podsim_command("run " + small_scenario() + " --set job.sharding=data,fsdp --format json");
  ASSERT_EQ(list.exit_code, 0) << list.err;
  EXPECT_TRUE(json::parse(list.out).is_object());
  const CommandResult text =
      podsim_command("run " + small_scenario() + " --set 'question=How long, and why?'");
  EXPECT_NE(text.out.find("How long, and why?"), std::string::npos) << text.err;
  const CommandResult words =
      podsim_command("run " + small_scenario() + " --set 'question=Hello, world' --format json");
  EXPECT_EQ(json::parse(words.out)["question"], "Hello, world") << words.err;
  const CommandResult lists =
      podsim_command("run " + small_scenario() + " --set 'job.sharding=[fsdp],[fsdp,zero1]' --format csv");
  ASSERT_EQ(lists.exit_code, 0) << lists.err;
  EXPECT_NE(lists.out.find("\n\"[fsdp,zero1]\",\"small job.sharding=[fsdp,zero1]\","), std::string::npos)
      << lists.out;
}

TEST(RunSettings, values_that_cannot_be_are_told_and_left_out) {
  const CommandResult result =
      podsim_command("run " + small_scenario() + " --set job.global_batch_sequences=32,33 --format json");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(json::parse(result.out).size(), 1u);
  EXPECT_NE(result.err.find("with job.global_batch_sequences=33 is left out"), std::string::npos)
      << result.err;
  const CommandResult none =
      podsim_command("run " + small_scenario() + " --set job.global_batch_sequences=33,35");
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_EQ(none.out, "");
  EXPECT_NE(none.err.find("can have none of these settings"), std::string::npos) << none.err;
}

TEST(RunSettings, what_is_wrong_whatever_the_settings_is_told_once) {
  const std::string file = ::testing::TempDir() + "typo.textproto";
  std::ofstream(file) << "qestion: \"x\"\n" << read_file(small_scenario());
  const CommandResult result = podsim_command("run " + file + " --set job.microbatch_sequences=1,2,x");
  EXPECT_EQ(result.exit_code, 2);
  const std::size_t told = result.err.find("unknown field \"qestion\"");
  ASSERT_NE(told, std::string::npos) << result.err;
  EXPECT_EQ(result.err.find("unknown field", told + 1), std::string::npos) << result.err;
  EXPECT_EQ(result.err.find("left out"), std::string::npos) << result.err;
}

TEST(RunSettings, exit_with_2_where_none_fits_in_memory) {
  const std::string chips = " --set cluster.chip_override.hbm_capacity_gib=";
  EXPECT_EQ(podsim_command("run " + small_scenario() + chips + "2,79").exit_code, 0);
  const CommandResult none = podsim_command("run " + small_scenario() + chips + "2,3");
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_NE(none.out.find("None of these settings fits in memory."), std::string::npos) << none.out;
}

TEST(RunSettings, a_thousand_combinations_are_the_most) {
  std::string values = "1";
  for (int i = 2; i <= 40; ++i) values += "," + std::to_string(i);
  const CommandResult result =
      podsim_command("run " + small_scenario() + " --set seed=" + values + " --set steps=" + values);
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("more than 1000 combinations"), std::string::npos) << result.err;
}

TEST(ScaleSettings, efficiency_is_to_the_first_of_each_setting) {
  const json rows =
      json::parse(podsim_command("scale " + small_scenario() +
                                 " --chips 16,32 --set job.sequence_tokens=1024,4096 --format json")
                      .out);
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0]["scaling_efficiency"], 1.0);
  EXPECT_EQ(rows[2]["scaling_efficiency"], 1.0);
  EXPECT_EQ(rows[3]["set"], (json{{"job.sequence_tokens", "4096"}}));
  EXPECT_NEAR(rows[3]["scaling_efficiency"].get<double>(),
              rows[3]["tokens_per_s_per_chip"].get<double>() / rows[2]["tokens_per_s_per_chip"].get<double>(),
              1e-12);
  const CommandResult table =
      podsim_command("scale " + small_scenario() + " --chips 16,32 --set job.sequence_tokens=1024,4096");
  EXPECT_NE(table.out.find("\njob.sequence_tokens=4096: From 16 to 32 chips"), std::string::npos)
      << table.out;
}

TEST(ScaleSettings, the_axis_of_size_rest_follows_the_chips) {
  const CommandResult result = podsim_command(
      "scale " + small_scenario() + " --chips 16..64x2 --set job.mesh.fsdp.size=rest --format json");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(json::parse(result.out).size(), 3u);
}

const std::string kWeeks = "scenarios/reliability/llama3_54_days_16384_h100.textproto --seeds 3";

TEST(ReliabilitySettings, a_row_for_each_value_holds_the_figures_of_its_run) {
  const std::string set = " --set reliability.days=9,54";
  const CommandResult table = podsim_command("reliability " + kWeeks + set);
  ASSERT_EQ(table.exit_code, 0) << table.err;
  EXPECT_EQ(lines_of(table.out).size(), 3u) << table.out;
  const json all = json::parse(podsim_command("reliability " + kWeeks + set + " --format json").out);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0]["set"], (json{{"reliability.days", "9"}}));
  json one =
      json::parse(podsim_command("reliability " + kWeeks + " --set reliability.days=9 --format json").out);
  json first = all[0];
  for (json* report : {&one, &first}) {
    report->erase("set");
    report->erase("scenario");
  }
  EXPECT_EQ(first, one);
  const std::vector<std::string> csv =
      lines_of(podsim_command("reliability " + kWeeks + set + " --format csv").out);
  ASSERT_EQ(csv.size(), 3u);
  EXPECT_EQ(csv[0].rfind("reliability.days,scenario,", 0), 0u) << csv[0];
}

TEST(CompareSettings, one_file_is_compared_with_itself_changed) {
  const std::string file = small_scenario();
  const CommandResult changed = podsim_command("compare " + file + " --set job.recompute=none --format json");
  ASSERT_EQ(changed.exit_code, 0) << changed.err;
  const json reports = json::parse(changed.out);
  ASSERT_EQ(reports.size(), 2u);
  EXPECT_EQ(reports[0]["scenario"], "small");
  EXPECT_EQ(reports[1]["scenario"], "small job.recompute=none");
  EXPECT_LT(reports[1]["step_time_s"], reports[0]["step_time_s"]);
  const json several = json::parse(
      podsim_command("compare " + file + " --set job.sequence_tokens=1024,2048 --format json").out);
  ASSERT_EQ(several.size(), 3u);
  EXPECT_EQ(several[2]["scenario"], "small job.sequence_tokens=2048");
  EXPECT_EQ(podsim_command("compare - --set seed=2 < " + file).exit_code, 2);
}

// Over links as they are and NVLink without latency the search prefers to gather weights over more chips,
// which the step does not.
TEST(CompareSettings, a_step_that_grows_for_what_is_chosen_on_the_changed_cluster_is_told) {
  const std::string file = temporary_file("choices.textproto", R"(
      cluster { chip: "l40s" chips: 32 fabric: "l40s_pcie" fabric_override { library: "ideal" } }
      job {
        model: "t5_large" model_override { layers: 2 } stack: "torchtitan"
        mesh { name: "data" size: 8 } mesh { name: "tensor" size: 4 } sharding: ["zero1", "megatron"]
        global_batch_sequences: 16 microbatch_sequences: 1 sequence_tokens: 512 precision: bf16 partitioner: search
      })");
  const std::string compared = "compare " + file + " --set cluster.fabric_override.gpu_cluster.";
  const std::string told = "with the shardings and algorithms that are chosen on the cluster of choices";
  const CommandResult no_latency = podsim_command(compared + "nic.latency_us=0");
  ASSERT_EQ(no_latency.exit_code, 0) << no_latency.err;
  EXPECT_NE(no_latency.err.find(told), std::string::npos) << no_latency.err;
  const CommandResult slower = podsim_command(compared + "nic.bandwidth_gb_per_s=12");
  ASSERT_EQ(slower.exit_code, 0) << slower.err;
  EXPECT_EQ(slower.err.find(told), std::string::npos) << slower.err;
}

TEST(OtherVerbs, say_who_takes_several_values) {
  const CommandResult result =
      podsim_command("explain " + small_scenario() + " --set job.sequence_tokens=1024,2048");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("run, scale, reliability and compare take several values"), std::string::npos)
      << result.err;
}

TEST(CheckVerb, warns_where_memory_does_not_fit_and_calls_the_file_valid) {
  const std::string small_chip = " --set cluster.chip_override.hbm_capacity_gib=2";
  const CommandResult result = podsim_command("check " + small_scenario() + small_chip);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_NE(result.out.find("valid: llama3_8b on 16 h100"), std::string::npos);
  EXPECT_NE(result.err.find("small does not fit in memory: a chip of stage 0 needs"), std::string::npos)
      << result.err;
  const json run = json::parse(podsim_command("run " + small_scenario() + small_chip + " --format json").out);
  const std::string needed = std::to_string(run["memory_per_chip_gib"]["total"].get<double>()).substr(0, 4);
  EXPECT_NE(result.err.find("needs " + needed), std::string::npos) << result.err << needed;
  EXPECT_EQ(podsim_command("check " + small_scenario()).err, "");
}

}  // namespace
}  // namespace podsim::settings_test
