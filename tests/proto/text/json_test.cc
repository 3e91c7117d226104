// JSON and binary scenarios: the same fields, the same problems.
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include "proto/scenario.pb.h"
#include "tests/proto/scenario.h"

namespace podsim::json_test {
namespace {

constexpr const char* kJson = R"({
  "question": "How long is a step?",
  "seed": 18446744073709551615,
  "cluster": {"chip": "h100", "chips": 512, "fabric": "dgx_h100"},
  "job": {
    "model": "llama3_70b", "stack": "megatron_bridge_2025",
    "mesh": [{"name": "fsdp", "size": 128},
             {"name": "tensor", "size": 4}],
    "sharding": ["fsdp", "megatron_sp"],
    "globalBatchSequences": 5.12e2,
    "sequence_tokens": "8192",
    "precision": "fp8",
    "recompute": null
  }
}
)";

TEST(JsonScenario, loads_with_either_spelling_of_field_names) {
  const auto result = load(kJson, {}, "job.json");
  ASSERT_EQ(problems_of(result), Lines{});
  EXPECT_EQ(result.spec->seed, UINT64_MAX);
  EXPECT_EQ(result.spec->job.global_batch, 512);
  EXPECT_EQ(result.spec->job.sequence, 8192);
  EXPECT_EQ(result.spec->job.precision.dtype, Dtype::kFp8);
  EXPECT_EQ(result.spec->job.mesh.devices(), 512);
}

TEST(JsonScenario, is_recognised_without_its_suffix) {
  EXPECT_EQ(problems_of(std::string("\n  ") + kJson, {}, "standard input"), Lines{});
}

TEST(JsonScenario, problems_are_shown_at_the_key) {
  std::string text = replaced(kJson, "\"chips\": 512", "\"chps\": 512");
  text = replaced(text, "\"fp8\"", "\"fp-8\"");
  text = replaced(text, "\"size\": 4", "\"size\": -4");
  text = replaced(text, "\"model\": \"llama3_70b\"", "\"model\": 70");
  EXPECT_EQ(problems_of(text, {}, "job.json"),
            (Lines{"4:31 unknown field \"chps\" in cluster | did you mean \"chips\"?",
                   "6:5 job.model must be text in quotes, not 70 | write model: \"70\"",
                   "8:33 job.mesh[1].size must be from 1 to 16,777,216, not -4",
                   "12:5 job.precision must be one of fp32, bf16, fp16, fp8, fp4, int8, fp8_tensorwise, "
                   "fp8_rowwise, fp8_blockwise, mxfp8, mxfp4, nvfp4, not \"fp-8\" | did "
                   "you mean fp8?"}));
}

TEST(JsonScenario, values_of_another_shape_are_refused) {
  EXPECT_EQ(problems_of(replaced(kJson, "\"chips\": 512", "\"chips\": [512]"), {}, "job.json"),
            Lines{"4:31 cluster.chips must be a whole number, not a list"});
  EXPECT_EQ(
      problems_of(replaced(kJson, "\"chips\": 512", "\"chips\": {\"a\": {\"b\": [1, 2]}}"), {}, "job.json"),
      Lines{"4:31 cluster.chips must be a whole number, not an object"});
  EXPECT_EQ(problems_of(replaced(kJson, "[\"fsdp\", \"megatron_sp\"]", "\"fsdp\""), {}, "job.json"),
            Lines{"9:5 job.sharding must be a list | write [ ... ]"});
  EXPECT_EQ(problems_of(replaced(kJson, "\"chips\": 512", "\"chips\": 512, \"chips\": 8"), {}, "job.json"),
            Lines{"4:45 cluster.chips is given twice"});
  EXPECT_EQ(problems_of("[1]", {}, "job.json"),
            Lines{"1:1 the JSON text must be an object with the fields of a scenario"});
}

TEST(JsonScenario, a_syntax_error_is_shown_at_its_place) {
  const Lines problems = problems_of("{\n  \"steps\": 3,\n}", {}, "job.json");
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].substr(0, 54), "3:1 syntax error while parsing object key - unexpected");
}

TEST(BinaryScenario, loads_what_was_written) {
  schema::Scenario scenario;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(valid_scenario(), &scenario));
  const auto named = load(scenario.SerializeAsString(), {}, "job.pb");
  ASSERT_EQ(problems_of(named), Lines{});
  EXPECT_EQ(named.spec->job.model.name, "llama3_70b");
  EXPECT_EQ(problems_of(scenario.SerializeAsString(), {}, "standard input"), Lines{});
}

TEST(BinaryScenario, problems_name_the_field_without_a_line) {
  schema::Scenario scenario;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(valid_scenario(), &scenario));
  scenario.mutable_cluster()->set_chips(-1);
  EXPECT_EQ(problems_of(scenario.SerializeAsString(), {}, "job.pb"),
            Lines{"job.pb cluster.chips must be from 1 to 16,777,216, not -1"});
  scenario.GetReflection()->MutableUnknownFields(&scenario)->AddVarint(999, 1);
  EXPECT_EQ(problems_of(scenario.SerializeAsString(), {}, "job.pb"),
            Lines{"job.pb this binary file has fields that a Scenario does not have | a scenario is protobuf "
                  "text format "
                  "(name: \"...\"), JSON or binary protobuf"});
}

}  // namespace
}  // namespace podsim::json_test
