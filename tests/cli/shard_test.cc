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
