// What the text of a scenario can get wrong, each with its exact message and place.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/proto/scenario.h"

namespace podsim::format_test {
namespace {

TEST(ScenarioText, a_valid_scenario_has_no_problems) { EXPECT_EQ(problems_of(valid_scenario()), Lines{}); }

TEST(ScenarioText, an_unknown_field_is_shown_with_the_nearest_one) {
  EXPECT_EQ(problems_of(valid_but("chips: 512", "chps: 512")),
            Lines{"4:3 unknown field \"chps\" in cluster | did you mean \"chips\"?"});
  EXPECT_EQ(
      problems_of(valid_but("cluster {", "gizmo: 3 cluster {")),
      Lines{"2:1 unknown field \"gizmo\" | its fields: name, question, seed, steps, seeds, cluster, job, "
            "jobs, adversity, reliability, availability, plan, and 1 more"});
}

TEST(ScenarioText, a_wrong_type_is_shown_at_the_value) {
  EXPECT_EQ(problems_of(valid_but("chips: 512", "chips: 512.5")),
            Lines{"4:10 cluster.chips must be a whole number, not 512.5"});
  EXPECT_EQ(problems_of(valid_but("size: 4 }", "size: four }")),
            Lines{"11:31 job.mesh[1].size must be a whole number or rest, not four"});
  EXPECT_EQ(problems_of(valid_but("model: \"llama3_70b\"", "model: llama3_70b")),
            Lines{"8:10 job.model must be text in quotes, not llama3_70b | write model: \"llama3_70b\""});
  EXPECT_EQ(problems_of("seed: -7\n" + valid_scenario()),
            Lines{"1:7 seed must be a whole number, not negative, not -7"});
  EXPECT_EQ(problems_of(valid_but("chips: 512", "chips: 3000000000")),
            Lines{"4:10 cluster.chips is out of range: 3000000000"});
}

TEST(ScenarioText, a_word_that_is_no_truth_value_is_shown_where_it_stands) {
  for (const std::string word : {"yes", "On", "TRUE", "no"})
    EXPECT_EQ(problems_of(valid_but("sequence_tokens: 8192",
                                    "offload_optimizer: " + word + "  # no, yes\n  sequence_tokens: 8192")),
              Lines{"15:22 job.offload_optimizer must be true or false, not " + word});
}

TEST(ScenarioText, a_word_that_begins_as_a_number_is_one_wrong_value) {
  for (const std::string word : {"1,024", "512GPU", "1_000", "0.5k", "1e"})
    EXPECT_EQ(problems_of(valid_but("chips: 512", "chips: " + word)),
              Lines{"4:10 cluster.chips must be a whole number, not " + word});
  EXPECT_EQ(problems_of(valid_but("sequence_tokens: 8192", "sequence_tokens: 8k")),
            Lines{"15:20 job.sequence_tokens must be a whole number, not 8k"});
  EXPECT_EQ(problems_of(valid_but("model: \"llama3_70b\"", "model: 70b")),
            Lines{"8:10 job.model must be text in quotes, not 70b | write model: \"70b\""});
  const Lines schedule =
      problems_of(valid_but("sequence_tokens: 8192", "pipeline { schedule: 1f1b }\n  sequence_tokens: 8192"));
  EXPECT_TRUE(std::ranges::any_of(schedule, [](const std::string& problem) {
    return problem.find("not 1f1b | did you mean one_f_one_b?") != std::string::npos;
  }));
}

TEST(ScenarioText, numbers_in_lists_comments_and_quotes_stay_as_they_are) {
  EXPECT_EQ(
      problems_of("# 1,024 chips, 8k tokens\n" + valid_but("How long is a step?", "1f1b on 512GPU, 1,024?")),
      Lines{});
  EXPECT_EQ(
      problems_of(replaced(valid_but("chips: 512", "slice_shape: [8,8,8]"), "dgx_h100", "v5p_pod")).size(),
      problems_of(replaced(valid_but("chips: 512", "slice_shape: [8, 8, 8]"), "dgx_h100", "v5p_pod")).size());
}

TEST(ScenarioText, a_field_of_another_block_or_of_another_tool_is_told) {
  const Lines misplaced =
      problems_of(valid_but("sequence_tokens: 8192", "usd_per_chip_hour: 2\n  sequence_tokens: 8192"));
  ASSERT_EQ(misplaced.size(), 1u);
  EXPECT_TRUE(misplaced.front().starts_with(
      "15:3 unknown field \"usd_per_chip_hour\" in job | it is a field of cluster"))
      << misplaced.front();
  EXPECT_EQ(problems_of(valid_but("sequence_tokens: 8192", "seq_length: 8192")),
            Lines{"15:3 unknown field \"seq_length\" in job | did you mean \"sequence_tokens\"?"});
}

TEST(ScenarioText, a_whole_number_beyond_its_type_is_out_of_range) {
  EXPECT_EQ(problems_of(valid_but("sequence_tokens: 8192", "sequence_tokens: 99999999999999999999")),
            Lines{"15:20 job.sequence_tokens is out of range: 99999999999999999999"});
}

TEST(ScenarioText, an_unknown_enum_value_is_shown_with_the_nearest_one) {
  EXPECT_EQ(problems_of(valid_but("sequence_tokens: 8192", "precision: bff16\n  sequence_tokens: 8192")),
            Lines{"15:14 job.precision must be one of fp32, bf16, fp16, fp8, fp4, int8, fp8_tensorwise, "
                  "fp8_rowwise, fp8_blockwise, mxfp8, mxfp4, nvfp4, not bff16 | did you "
                  "mean bf16?"});
  EXPECT_EQ(problems_of(valid_but("sequence_tokens: 8192", "precision: 77 sequence_tokens: 8192")),
            Lines{"15:3 job.precision must be one of fp32, bf16, fp16, fp8, fp4, int8, fp8_tensorwise, "
                  "fp8_rowwise, fp8_blockwise, mxfp8, mxfp4, nvfp4"});
}

TEST(ScenarioText, an_enum_value_in_quotes_is_told_without_them) {
  const Lines told =
      problems_of(valid_but("sequence_tokens: 8192", "precision: \"bf16\" sequence_tokens: 8192"));
  ASSERT_EQ(told.size(), 1u);
  EXPECT_NE(told[0].find("not \"bf16\" | write it without quotes"), std::string::npos) << told[0];
}

TEST(ScenarioText, all_problems_are_reported_at_once_in_the_order_of_the_text) {
  std::string text = valid_but("chip: \"h100\"", "chip: \"h10\"");
  text = replaced(text, "chips: 512", "chps: 512");
  text = replaced(text, "model: \"llama3_70b\"", "model: llama3_70b");
  text = replaced(text, "size: 4 }", "size: -4 }");
  text = replaced(text, "  global_batch_sequences: 512\n", "");
  text += "adversity { jitter_coefficient_of_variation: nan }\n";
  EXPECT_EQ(
      problems_of(text),
      (Lines{"3:3 the catalogue has no chip \"h10\" | of this family it has: h100, h100_500w, h100_pcie, "
             "h20, h200, h800",
             "4:3 unknown field \"chps\" in cluster | did you mean \"chips\"?",
             "7:1 job.global_batch_sequences is missing | write, for example, global_batch_sequences: 512",
             "8:10 job.model must be text in quotes, not llama3_70b | write model: \"llama3_70b\"",
             "11:25 job.mesh[1].size must be from 1 to 16,777,216, not -4",
             "16:13 adversity.jitter_coefficient_of_variation must be from 0 to 10, not nan"}));
}

TEST(ScenarioText, at_most_twenty_problems_are_reported) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "stepz: 1\n";
  EXPECT_EQ(problems_of(text).size(), 20u);
}

TEST(ScenarioText, a_syntax_error_is_shown_at_its_place) {
  EXPECT_EQ(problems_of(valid_but("chips: 512", "chips: 512 chips: 8")),
            Lines{"4:14 \"chips\" is given twice"});
  EXPECT_EQ(problems_of("cluster {\n  chips: 8\n"),
            Lines{"3:1 the text ends inside a block | a closing brace is missing"});
  EXPECT_EQ(problems_of("cluster: 5"), Lines{"1:10 expected a block in braces, found 5"});
  EXPECT_EQ(problems_of("steps: }"), Lines{"1:8 expected integer, got: }"});
  EXPECT_EQ(problems_of("name: \"open\nsteps: 1"),
            Lines{"1:12 string literals cannot cross line boundaries"});
  EXPECT_EQ(problems_of(valid_scenario() + "[podsim.extension]: 3"),
            Lines{"17:19 extensions in brackets are not part of this schema"});
}

TEST(ScenarioText, a_wrong_value_before_a_syntax_error_is_still_shown) {
  EXPECT_EQ(problems_of("steps: many\ncluster: 5"),
            (Lines{"1:8 many is not a value of this field", "2:10 expected a block in braces, found 5"}));
}

TEST(ScenarioText, names_and_questions_are_printable_text) {
  EXPECT_EQ(problems_of(valid_but("\"How long is a step?\"", "\"a\\nb\"")),
            Lines{"1:1 question must be printable UTF-8 text"});
  EXPECT_EQ(problems_of(valid_but("\"How long is a step?\"", "\"\\xff\"")),
            Lines{"1:1 question must be printable UTF-8 text"});
  EXPECT_EQ(problems_of(valid_but("How long is a step?", std::string(501, 'a'))),
            Lines{"1:1 question must have at most 500 bytes, not 501"});
  EXPECT_EQ(
      problems_of(valid_but("How long is a step?", "Wie lange dauert ein Schritt f\u00fcr 70 \u00b5s?")),
      Lines{});
}

}  // namespace
}  // namespace podsim::format_test
