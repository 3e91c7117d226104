// podsim shard, as a user runs it.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/command.h"

namespace podsim::shard_test {
namespace {

using nlohmann::json;

const std::string kShipped = "scenarios/sharding/gspmd_cases.json";

std::string matmul(const std::string& lhs_axis) {
  return R"({"format": "gspmd-cases/1", "cases": [
{"id": "mine", "mesh": [["model", 8]], "op": "einsum", "equation": "ik,kj->ij",
 "lhs": {"dims": [64, 128], "sharding": [[], [")" +
         lhs_axis + R"("]]},
 "rhs": {"dims": [128, 32], "sharding": [["model"], []]}, "output": {"dims": [64, 32]}}]})";
}

TEST(ShardVerb, a_table_has_a_line_for_every_case) {
  const CommandResult result = podsim_command("shard " + kShipped + " --only fsdp");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  for (const char* part : {"case", "bytes sent", "dp64-7b", "27562500000", "equal", "zero3-512-70b"})
    EXPECT_NE(result.out.find(part), std::string::npos) << part << "\n" << result.out;
  EXPECT_EQ(result.out.find("embed-dp-tp"), std::string::npos);
}

TEST(ShardVerb, one_case_lists_its_steps) {
  const CommandResult result = podsim_command("shard " + kShipped + " --case xla-conv-halo-reshard");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  for (const char* part : {"all_to_all", "from left, width 3 of dimension 1",
                           "from right, width 2 of dimension 1", "compute", "bytes sent 20987904"})
    EXPECT_NE(result.out.find(part), std::string::npos) << part << "\n" << result.out;
}

TEST(ShardVerb, plans_on_a_fabric_are_told_by_the_entry_of_that_fabric) {
  const auto digest = [](const std::string& fabric) {
    const CommandResult result = podsim_command(
        "shard scenarios/sharding/fabric_choices.json --chips 16 --format json --fabric " + fabric);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return json::parse(result.out)["scenario_sha256"].get<std::string>();
  };
  const std::string told = digest("dgx_h100");
  EXPECT_EQ(digest("dgx_h100"), told);
  EXPECT_NE(digest("dgx_h200"), told);
}

TEST(StandardInput, says_what_the_file_says_to_every_verb_that_reads_files_of_others) {
  const std::string hlo = temporary_file("module.hlo",
                                         "HloModule tiny\n\nENTRY main {\n"
                                         "  a = f32[8,8] parameter(0)\n"
                                         "  ROOT b = f32[8,8] add(a, a)\n}\n");
  const std::string flows = "scenarios/flows/c11_leafspine64_two_jobs_ring.json";
  for (const auto& [verb, file] :
       {std::pair<std::string, std::string>{"shard", kShipped}, {"flows", flows}, {"import", hlo}}) {
    for (const std::string format : {"table", "json"}) {
      const CommandResult named = podsim_command(verb + " --format " + format + " " + file),
                          piped = podsim_command(verb + " --format " + format + " - < " + file);
      EXPECT_EQ(piped.exit_code, named.exit_code) << verb << piped.err;
      if (verb != "import") {
        EXPECT_EQ(piped.out, named.out) << verb;
      } else if (format == "json") {  // it names the file
        EXPECT_EQ(json::parse(piped.out)["scenario_sha256"], json::parse(named.out)["scenario_sha256"]);
      }
    }
  }
  const CommandResult empty = podsim_command("import - < /dev/null");
  EXPECT_EQ(empty.exit_code, 2);
  EXPECT_NE(empty.err.find("standard input: the file is empty"), std::string::npos) << empty.err;
  const CommandResult replay = podsim_command("replay - < " + kShipped);
  EXPECT_EQ(replay.exit_code, 2);
  EXPECT_NE(replay.err.find("not from standard input"), std::string::npos) << replay.err;
}

TEST(ShardVerb, a_file_of_ones_own_needs_no_expected_answer) {
  const std::string path = temporary_file("mine.json", matmul("model"));
  const CommandResult result = podsim_command("shard --format json " + path);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json plan = json::parse(result.out)["cases"][0];
  EXPECT_EQ(plan["id"], "mine");
  EXPECT_EQ(plan["send_bytes"], 2 * 64 * 32 * 2 * 7 / 8);
  EXPECT_EQ(plan["flops_per_device"], 2 * 64 * 16 * 32);
  ASSERT_EQ(plan["steps"].size(), 2u);
  EXPECT_EQ(plan["steps"][0]["op"], "compute");
  EXPECT_EQ(plan["steps"][0]["unreduced_after"], json({"model"}));
  EXPECT_EQ(plan["steps"][1]["op"], "all_reduce");
  EXPECT_EQ(plan["steps"][1]["axes"], json({"model"}));
}

TEST(ShardVerb, other_cases_of_a_file_with_a_mistake_are_planned) {
  const std::string path = temporary_file("mixed.json", R"({"format": "gspmd-cases/1", "cases": [
{"id": "no heads", "mesh": [["c", 8]], "op": "ulysses_attention_fwd", "q": {"dims": [2, 64, 4, 8], "sharding": [[], ["c"], [], []]}},
{"id": "unknown", "mesh": [["c", 8]], "op": "fft"},
{"id": "gathered", "mesh": [["c", 4]], "op": "allgather_attention_fwd", "dtype": "bf16",
 "q": {"dims": [1, 64, 8, 16], "sharding": [[], ["c"], [], []]}, "kv": {"dims": [1, 64, 2, 16], "sharding": [[], ["c"], [], []]}},
{"id": "two", "mesh": [["t", 2]], "op": "sequence", "sizes": {"b": 4, "m": 8, "f": 16}, "dtype": "bf16", "steps": [
 {"name": "up", "equation": "bm,mf->bf", "lhs": [[], []], "rhs": [[], ["t"]], "out": [[], ["t"]]},
 {"name": "down", "equation": "bf,fm->bm", "lhs": [[], ["t"]], "rhs": [["t"], []], "out": [[], []]}]}]})");
  const CommandResult result = podsim_command("shard --format json " + path);
  EXPECT_EQ(result.exit_code, 2);
  for (const char* part : {"\"fft\", which is not planned", "case no heads is not planned: 4 heads cannot"})
    EXPECT_NE(result.err.find(part), std::string::npos) << result.err;
  const json cases = json::parse(result.out)["cases"];
  ASSERT_EQ(cases.size(), 4u);
  EXPECT_TRUE(cases[0].contains("error") && cases[1].contains("error"));
  // Keys and values of 2 heads: 3 of 4 shards each come from others. Scores and products with all keys.
  EXPECT_EQ(cases[2]["send_bytes"], 2 * 64 * 2 * 16 * 2 * 3 / 4);
  EXPECT_EQ(cases[2]["flops_per_device"], 4 * (64 / 4) * 8 * 16 * 64);
  EXPECT_EQ(cases[3]["send_bytes"], 4 * 8 * 2);  // an all-reduce between two devices
  EXPECT_EQ(cases[3]["steps"].back()["tensor"], "down.output");
}

TEST(ShardVerb, a_mistake_is_located_and_nothing_is_printed) {
  const std::string path = temporary_file("typo.json", matmul("modle"));
  const CommandResult result = podsim_command("shard " + kShipped + " " + path);
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_NE(result.err.find("typo.json:3:"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("did you mean \"model\"?"), std::string::npos) << result.err;
}

TEST(ShardVerb, unknown_categories_and_ids_are_said) {
  const CommandResult category = podsim_command("shard " + kShipped + " --only convs");
  EXPECT_EQ(category.exit_code, 2);
  EXPECT_NE(category.err.find("did you mean \"conv\"?"), std::string::npos) << category.err;
  const CommandResult id = podsim_command("shard " + kShipped + " --case ulyses-8");
  EXPECT_EQ(id.exit_code, 2);
  EXPECT_NE(id.err.find("did you mean \"ulysses-8\"?"), std::string::npos) << id.err;
}

TEST(ShardVerb, what_is_not_planned_is_said_and_does_not_fail) {
  const CommandResult result = podsim_command("shard " + kShipped + " --only moe --format json");
  EXPECT_EQ(result.exit_code, 0);
  const json plan = json::parse(result.out)["cases"][0];
  EXPECT_TRUE(plan.contains("error"));
  EXPECT_TRUE(plan["steps"].empty());
}

}  // namespace
}  // namespace podsim::shard_test
