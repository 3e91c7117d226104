// podsim search: a layout that run reproduces, why not another one, and what nothing answers.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/command.h"

namespace podsim::search_verb_test {
namespace {

const std::string kJob =
    "cluster { chip: \"h100\" chips: 16 fabric: \"dgx_h100\" }\n"
    "job { model: \"llama3_8b\" model_override { layers: 4 } stack: \"megatron_bridge_2025\"\n"
    "  mesh { name: \"data\" size: 16 } sharding: \"data\" sharding: \"zero1\"\n"
    "  global_batch_sequences: 16 microbatch_sequences: 1 sequence_tokens: 2048 precision: bf16 }\n";
const std::string kSpace =
    "space { tensor: [1, 2] context: 1 pipeline: [1, 2] microbatch: 1 sharding: zero1 recompute: none }\n";

TEST(SearchVerb, writes_a_scenario_that_run_reproduces_to_the_last_digit) {
  const std::string file = temporary_file("search.textproto", kJob + kSpace);
  const std::string best = temporary_file("best.textproto", "");
  const CommandResult found = podsim_command("search " + file + " --format json --out " + best);
  ASSERT_EQ(found.exit_code, 0) << found.err;
  const auto answer = nlohmann::json::parse(found.out);
  EXPECT_TRUE(answer["proof"]["proven"]);
  const CommandResult run = podsim_command("run --format json " + best);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto report = nlohmann::json::parse(run.out);
  EXPECT_EQ(report["step_time_s"].get<double>(), answer["layouts"][0]["step_time_s"].get<double>());
  EXPECT_EQ(report["memory_per_chip_gib"]["total"].get<double>(),
            answer["layouts"][0]["memory_gib"].get<double>());
}

TEST(SearchVerb, answer_is_the_same_on_any_number_of_threads_and_space_can_be_set_by_the_command) {
  const std::string file = temporary_file("search.textproto", kJob + kSpace);
  const std::string bare = temporary_file("bare.textproto", kJob);
  const CommandResult one = podsim_command("search " + file + " --format csv --threads 1");
  EXPECT_EQ(one.exit_code, 0) << one.err;
  EXPECT_EQ(podsim_command("search " + file + " --format csv --threads 3").out, one.out);
  EXPECT_EQ(podsim_command(
                "search " + bare +
                " --format csv --set space.tensor=1,2 --set space.context=1 --set space.pipeline=1,2 --set "
                "space.microbatch=1 --set space.sharding=zero1 --set space.recompute=none")
                .out,
            one.out);
}

TEST(SearchVerb, places_of_layouts_stand_below_one_another) {
  const std::string file = temporary_file("search.textproto", kJob);
  const CommandResult found = podsim_command("search " + file + " --top 12");
  ASSERT_EQ(found.exit_code, 0) << found.err;
  for (const char* place : {"\n 1  ", "\n 9  ", "\n12  "})
    EXPECT_NE(found.out.find(place), std::string::npos) << place << found.out;
}

TEST(SearchVerb, says_why_not_another_layout) {
  const std::string file = temporary_file("search.textproto", kJob + kSpace);
  const auto why = [&](const std::string& words) {
    const CommandResult result = podsim_command("search " + file + " --why-not " + words);
    return result.out + result.err;
  };
  EXPECT_NE(why("tensor=2,pipeline=2").find("over the"), std::string::npos);
  EXPECT_NE(why("pipeline=8").find("4 layers are too few for 8 pieces"), std::string::npos);
  EXPECT_NE(why("tensr=2").find("did you mean \"tensor\"?"), std::string::npos) << why("tensr=2");
  EXPECT_NE(why("tensor=3").find("does not divide 16"), std::string::npos) << why("tensor=3");
}

TEST(SearchVerb, why_not_has_the_format_that_is_asked_for) {
  const std::string words = "search " + temporary_file("search.textproto", kJob + kSpace) + " --why-not ";
  const auto answer = nlohmann::json::parse(podsim_command(words + "tensor=2,pipeline=2 --format json").out);
  EXPECT_EQ(answer["why_not"]["fate"], "simulated");
  EXPECT_GT(answer["why_not"]["step_time_s"].get<double>(),
            answer["layouts"][0]["step_time_s"].get<double>());
  const auto illegal = nlohmann::json::parse(podsim_command(words + "pipeline=8 --format json").out);
  EXPECT_EQ(illegal["why_not"]["fate"], "illegal");
  EXPECT_FALSE(illegal["why_not"].contains("step_time_s"));
  EXPECT_EQ(podsim_command(words + "pipeline=8 --format csv").out.rfind("layout,fate,step_time_s,text\n", 0),
            0u);
  const std::string text = podsim_command(words + "pipeline=8 --format textproto").out;
  EXPECT_NE(text.find("fate: \"illegal\""), std::string::npos) << text;
}

TEST(SearchVerb, where_nothing_fits_ends_with_3_and_names_the_nearest_miss_and_what_helps) {
  const std::string file =
      temporary_file("full.textproto",
                     "cluster { chip: \"h100\" chips: 8 fabric: \"dgx_h100\" }\n"
                     "job { model: \"llama3_70b\" stack: \"megatron_bridge_2025\" mesh { name: \"data\" "
                     "size: 8 } sharding: \"data\"\n"
                     "  global_batch_sequences: 8 microbatch_sequences: 1 sequence_tokens: 8192 }\n"
                     "space { context: 1 pipeline: 1 recompute: full sharding: zero1 }\n");
  const CommandResult result = podsim_command("search " + file);
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.out, "");
  EXPECT_NE(result.err.find("no layout fits in memory. tensor 8"), std::string::npos) << result.err;
}

TEST(SearchVerb, space_without_any_legal_layout_is_told_with_its_values) {
  const std::string file = temporary_file("empty.textproto", kJob + "space { tensor: 3 }\n");
  const CommandResult result = podsim_command("search " + file);
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("tensor 3; context 1, 2, 4, 8, 16"), std::string::npos) << result.err;
}

TEST(SearchVerb, check_takes_a_file_with_a_space_for_the_search_that_it_is_meant_for) {
  const CommandResult good = podsim_command("check " + temporary_file("search.textproto", kJob + kSpace));
  EXPECT_EQ(good.exit_code, 0);
  EXPECT_EQ(good.err, "");
  EXPECT_NE(good.out.find("valid: layouts of llama3_8b on 16 h100"), std::string::npos) << good.out;
  const CommandResult bad = podsim_command(
      "check " + temporary_file("slow.textproto", kJob + kSpace + "adversity { jitter: \"typical\" }\n"));
  EXPECT_EQ(bad.exit_code, 2);
  EXPECT_NE(bad.err.find("a search compares layouts of a healthy cluster"), std::string::npos) << bad.err;
}

TEST(SearchVerb, space_in_which_no_schedule_can_run_is_told_and_not_said_to_be_stopped) {
  const std::string file =
      temporary_file("none.textproto",
                     kJob + "space { tensor: 1 context: 1 pipeline: 2 microbatch: 2 schedule: dualpipe }\n");
  const CommandResult search = podsim_command("search " + file);
  EXPECT_EQ(search.exit_code, 2);
  EXPECT_NE(search.err.find("no layout of the space is one"), std::string::npos) << search.err;
  const CommandResult plan = podsim_command("plan " + file + " --tokens 1e9 --chips 16");
  EXPECT_EQ(plan.exit_code, 3);
  EXPECT_NE(plan.err.find("16 h100: no layout of the space has a schedule"), std::string::npos) << plan.err;
}

TEST(SearchVerb, part_that_is_none_is_refused) {
  const std::string file = temporary_file("search.textproto", kJob + kSpace);
  for (const char* part : {"0/3", "4/3", "2", "x/3", "1/", "-1/2"}) {
    const CommandResult result = podsim_command("search " + file + " --shard=" + part);
    EXPECT_EQ(result.exit_code, 2) << part;
    EXPECT_NE(result.err.find("such as 3/8"), std::string::npos) << part << result.err;
  }
}

TEST(SearchVerb, space_is_told_to_have_no_effect_on_a_run_and_on_weeks) {
  const std::string file = temporary_file(
      "search.textproto",
      kJob + kSpace + "reliability { days: 1 failures: \"rsc1\" checkpoint { save_s: 30 } }\n");
  for (const std::string verb : {"run ", "reliability --seeds 1 "}) {
    const CommandResult result = podsim_command(verb + file);
    EXPECT_EQ(result.exit_code, 0) << verb << result.err;
    EXPECT_NE(result.err.find("space has no effect"), std::string::npos) << verb << result.err;
  }
  EXPECT_EQ(podsim_command("check " + file).err.find("space"), std::string::npos);
}

}  // namespace
}  // namespace podsim::search_verb_test
