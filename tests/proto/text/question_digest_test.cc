// The number of a question: the same for the same question, another for another.
#include "proto/text/question_digest.h"

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <string>

#include "proto/scenario.pb.h"
#include "proto/scenario/load_availability.h"
#include "tests/proto/scenario.h"

namespace podsim::question_digest_test {
namespace {

const std::string kText =
    "name: \"small\"  # a comment\n"
    "cluster { chip: \"h100\" chips: 8 fabric: \"dgx_h100\" }\n"
    "job { model: \"llama3_8b\" stack: \"megatron_bridge_2025\" mesh { name: \"fsdp\" size: 8 } sharding: "
    "\"fsdp\"\n"
    "  global_batch_sequences: 32 microbatch_sequences: 1 sequence_tokens: 4096 recompute: full }\n";
const std::string kJson = R"({
  "job": {"sharding": ["fsdp"], "model": "llama3_8b", "stack": "megatron_bridge_2025",
          "mesh": [{"size": 8, "name": "fsdp"}], "globalBatchSequences": 32, "microbatch_sequences": 1,
          "sequence_tokens": 4096, "recompute": "full"},
  "cluster": {"fabric": "dgx_h100", "chip": "h100", "chips": 8}, "name": "small"})";

std::string digest(const std::string& text, const std::vector<Override>& overrides = {},
                   const std::string& file = "job.textproto") {
  const LoadResult loaded = load(text, overrides, file);
  EXPECT_TRUE(loaded.spec.has_value());
  return loaded.spec ? loaded.spec->sha256 : "";
}

// The scenario of a text as binary protobuf.
std::string binary(const std::string& text) {
  schema::Scenario scenario;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &scenario));
  return scenario.SerializeAsString();
}

TEST(QuestionDigest, is_the_same_in_every_format_and_whatever_the_comments) {
  const std::string expected = digest(kText);
  EXPECT_EQ(expected.size(), 64u);
  EXPECT_EQ(digest("# another\n" + kText), expected);
  EXPECT_EQ(digest(kJson, {}, "job.json"), expected);
  EXPECT_EQ(digest(binary(kText), {}, "job.pb"), expected);
  EXPECT_EQ(digest(kText, {}, "elsewhere/other.textproto"), expected);
}

TEST(QuestionDigest, is_that_of_the_scenario_after_overrides) {
  EXPECT_NE(digest(kText, {{"job.sequence_tokens", "2048"}}), digest(kText));
  EXPECT_EQ(digest(kText, {{"job.sequence_tokens", "2048"}}),
            digest(replaced(kText, "sequence_tokens: 4096", "sequence_tokens: 2048")));
}

TEST(QuestionDigest, knows_what_the_names_mean) {
  Catalog other;
  ASSERT_TRUE(other.set_number(Catalog::Section::kChips, "h100", "hbm_efficiency", 0.5));
  const LoadResult loaded = load_scenario("job.textproto", kText, other, {});
  ASSERT_TRUE(loaded.spec.has_value());
  EXPECT_NE(loaded.spec->sha256, digest(kText));
  ASSERT_TRUE(other.set_number(Catalog::Section::kChips, "h200", "hbm_efficiency", 0.5));
  EXPECT_EQ(load_scenario("job.textproto", kText, other, {}).spec->sha256, loaded.spec->sha256)
      << "an entry that the scenario does not name has no part in it";
}

TEST(QuestionDigest, of_each_field_is_its_own) {
  schema::Scenario scenario;
  scenario.set_name("ab");
  scenario.set_question("c");
  const std::string one = canonical_text(scenario);
  scenario.set_name("a");
  scenario.set_question("bc");
  EXPECT_NE(canonical_text(scenario), one);
  EXPECT_EQ(canonical_text(scenario), "name 1:a\nquestion 2:bc\n");
}

TEST(QuestionDigest, of_numbers_is_in_their_shortest_form) {
  schema::Scenario scenario;
  scenario.set_seed(18446744073709551615u);
  scenario.mutable_adversity()->set_jitter_coefficient_of_variation(0.1);
  scenario.mutable_job()->add_sharding("fsdp");
  scenario.mutable_job()->add_sharding("megatron_sp");
  EXPECT_EQ(canonical_text(scenario),
            "seed 18446744073709551615\njob {\nsharding 4:fsdp\nsharding 11:megatron_sp\n}\nadversity "
            "{\njitter_coefficient_of_variation 0.1\n}\n");
}

TEST(QuestionDigest, of_availability_is_there_too) {
  const auto loaded = load_availability(
      "pod.textproto",
      "cluster { fabric: \"v4_pod\" } availability { slice_chips: 64 host_availability: 0.99 }", built_in(),
      {});
  ASSERT_TRUE(loaded.question.has_value());
  EXPECT_EQ(loaded.question->sha256.size(), 64u);
}

}  // namespace
}  // namespace podsim::question_digest_test
