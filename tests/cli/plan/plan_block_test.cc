// The block plan of a scenario: it asks what the options of podsim plan ask, which replace it.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/command.h"
#include "tests/cli/plan/plan_job.h"

namespace podsim::plan_block_test {
namespace {

CommandResult planned(const std::string& block, const std::string& options = "") {
  return podsim_command("plan --format json " + options + " " +
                        temporary_file("plan.textproto", kPlanJob + block));
}

nlohmann::json rows(const CommandResult& result) {
  EXPECT_FALSE(result.out.empty()) << result.err;
  return result.out.empty() ? nlohmann::json::array() : nlohmann::json::parse(result.out)["rows"];
}

TEST(PlanVerb, tries_every_contract_of_the_price_list_as_the_change_that_helps_most) {
  const std::string sheet = temporary_file("prices.csv",
                                           "chip,term,usd_per_chip_hour,kind,minimum_days\n"
                                           "h100,dear,9,on_demand,0\nh100,our_deal,1,on_demand,0\n");
  const CommandResult result =
      planned("", "--tokens 1e11 --chips 8 --budget 2e3 --price-term dear --prices " + sheet);
  ASSERT_EQ(result.exit_code, 3) << result.err;
  const auto helps = nlohmann::json::parse(result.out)["helps_most"];
  EXPECT_EQ(helps["price_term"], "our_deal") << helps;
  EXPECT_EQ(helps["chips"], 8);
}

TEST(PlanVerb, refuses_precisions_that_there_are_not_and_names_that_are_empty) {
  const auto refused = [](const std::string& options) {
    const CommandResult result = planned("", "--tokens 1e11 --chips 8 " + options);
    EXPECT_EQ(result.exit_code, 2) << options;
    return result.err;
  };
  EXPECT_NE(refused("--precision fp7").find("--precision: there is no precision \"fp7\""), std::string::npos);
  EXPECT_NE(refused("--price-term ''").find("--price-term: expected the name of a contract"),
            std::string::npos);
  EXPECT_NE(refused("--price-term spot,").find("--price-term: "), std::string::npos);
  EXPECT_NE(refused("--chip ''").find("--chip: expected the name of a chip"), std::string::npos);
}

TEST(PlanBlock, asks_what_the_options_ask) {
  const CommandResult block = planned(
      "plan { target_tokens: 1e11 deadline { days: 40 probability: 0.8 } budget { usd: 1e6 probability: 0.8 "
      "}\n"
      "  objective: days gap_fraction: 0.02\n"
      "  choice { chip: \"h100\" chips: \"8,16\" price_term: [\"on_demand\", \"committed_1y\"]\n"
      "           available { from_days: 3 } one_off { usd: 500 days: 1 } } }\n");
  const CommandResult options =
      planned("",
              "--tokens 1e11 --days 40 --budget 1e6 --probability 0.8 --minimise days --gap 2% --chip h100 "
              "--chips 8,16 --price-term on_demand,committed_1y --from-day h100=3 --one-off-usd h100=500 "
              "--one-off-days h100=1");
  EXPECT_EQ(block.exit_code, options.exit_code) << block.err;
  EXPECT_EQ(rows(block).size(), 4U);
  EXPECT_EQ(rows(block), rows(options));
}

// How long a run of weeks goes on is said by the tokens of the plan.
TEST(PlanBlock, days_of_the_block_reliability_end_no_run_to_tokens) {
  const auto of = [](const std::string& days) {
    return rows(planned("reliability { " + days +
                        " failures: \"llama3_16k_h100\" checkpoint { save_s: 30 } }\n"
                        "plan { target_tokens: 1e11 choice { chip: \"h100\" chips: \"16\" } }\n"));
  };
  ASSERT_EQ(of("days: 30").size(), 1U);
  EXPECT_EQ(of("days: 30")[0]["days"], of("")[0]["days"]);
}

TEST(PlanBlock, is_replaced_by_what_the_command_line_says) {
  const std::string block =
      "plan { target_tokens: 1e11 choice { chip: \"h200\" chips: \"16\" price_term: \"committed_1y\" } }\n";
  const auto row = rows(planned(block, "--tokens 1e10 --chips 8 --price-term on_demand")).at(0);
  EXPECT_EQ(row["chip"], "h200");
  EXPECT_EQ(row["chips"], 8);
  EXPECT_EQ(row["price_term"], "on_demand");
  EXPECT_EQ(rows(planned(block, "--chip h100 --chips 8")).at(0)["chip"], "h100");
  const auto set = rows(planned(block, "--set plan.target_tokens=2e11")).at(0);
  EXPECT_DOUBLE_EQ(set["days"].get<double>(), 2 * rows(planned(block)).at(0)["days"].get<double>());
}

TEST(PlanBlock, takes_each_choice_on_its_fabric_and_stack_by_its_name) {
  const auto all =
      rows(planned("plan { target_tokens: 1e10\n"
                   "  choice { name: \"ours\" chip: \"h100\" chips: \"8\" }\n"
                   "  choice { name: \"eager\" chip: \"h100\" stack: \"generic_eager\" chips: \"8\" }\n"
                   "  choice { name: \"theirs\" chip: \"tpu_v5e\" fabric: \"v5e_pod\" stack: "
                   "\"maxtext_2025\" chips: \"16\" } }\n"));
  ASSERT_EQ(all.size(), 3U) << all;
  std::map<std::string, std::string> stacks;
  for (const auto& row : all) stacks[row["name"]] = row["stack"];
  EXPECT_EQ(stacks,
            (std::map<std::string, std::string>{
                {"eager", "generic_eager"}, {"ours", "megatron_bridge_2025"}, {"theirs", "maxtext_2025"}}));
}

// Eight chips of a pod in one slice, in two, and in slices of a shape that is named.
TEST(PlanBlock, tries_each_number_and_shape_of_slices_of_a_choice) {
  const auto named = [](const std::string& slices) {
    std::map<std::string, nlohmann::json> found;
    for (const auto& row : rows(planned("plan { target_tokens: 1e10 choice { chip: \"tpu_v5e\" fabric: "
                                        "\"v5e_pod\" stack: \"maxtext_2025\" chips: \"16,32\" " +
                                        slices + " } }\n")))
      found[std::to_string(row["chips"].get<int>()) + " in " + std::to_string(row["slices"].get<int>()) +
            " of " + row["slice_shape"].dump()] = row;
    return found;
  };
  const auto by_number = named("slices: [1, 2]");
  ASSERT_EQ(by_number.size(), 4U);
  EXPECT_LT(by_number.at("32 in 1 of [4,8]")["step_time_s"], by_number.at("32 in 2 of [4,4]")["step_time_s"]);
  const auto by_shape = named("slice_shape: [\"4x4\", \"2x8\"]");
  ASSERT_EQ(by_shape.size(), 4U);
  EXPECT_EQ(by_shape.count("16 in 1 of [2,8]"), 1U);
  EXPECT_EQ(by_shape.count("32 in 2 of [4,4]"), 1U);
  EXPECT_EQ(named("slice_shape: [\"4x4\", \"2x8\"] slices: 2").size(), 2U);
}

TEST(PlanBlock, refuses_shapes_that_make_no_such_number_of_chips) {
  const auto told = [](const std::string& shape) {
    return podsim_command(
        "plan " + temporary_file("plan.textproto", kPlanJob +
                                                       "plan { target_tokens: 1e10 choice { chip: "
                                                       "\"tpu_v5e\" fabric: \"v5e_pod\" stack: "
                                                       "\"maxtext_2025\" chips: \"16\" slice_shape: \"" +
                                                       shape + "\" } }\n"));
  };
  const CommandResult none = told("4x8");
  EXPECT_EQ(none.exit_code, 3);
  EXPECT_NE(none.err.find("the slice shape has 32 chips"), std::string::npos) << none.err;
  const CommandResult wrong = told("4 by 8");
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_NE(wrong.err.find("such as 4x4x8"), std::string::npos) << wrong.err;
}

// A stack that a choice names is not replaced by another one.
TEST(PlanBlock, refuses_a_choice_whose_stack_lacks_the_chip) {
  const CommandResult result = podsim_command(
      "plan " +
      temporary_file("plan.textproto", kPlanJob + "plan { target_tokens: 1e10 choice { chip: \"tpu_v5e\" "
                                                  "stack: \"megatron_bridge_2025\" chips: \"16\" } }\n"));
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_NE(result.err.find("16 tpu_v5e: "), std::string::npos) << result.err;
}

TEST(PlanBlock, holds_limits_on_figures_of_rows_and_reports) {
  const std::string choice = " choice { chip: \"h100\" chips: \"8,16\" } }\n";
  const auto plain = rows(planned("plan { target_tokens: 1e10" + choice));
  ASSERT_EQ(plain.size(), 2U);
  const double less = std::min(plain[0]["power_kw"].get<double>(), plain[1]["power_kw"].get<double>());
  const CommandResult held =
      planned("plan { target_tokens: 1e10 limit { key: \"power_kw\" at_most: " + std::to_string(1.01 * less) +
              " }\n limit { key: \"tokens_per_s\" "
              "at_least: 1 }" +
              choice);
  EXPECT_EQ(held.exit_code, 0) << held.err;
  const auto with_limits = rows(held);
  EXPECT_EQ(with_limits[0]["chips"], 8);
  EXPECT_EQ(with_limits[0]["meets"], true);
  EXPECT_EQ(with_limits[1]["meets"], false);
  EXPECT_EQ(with_limits[1]["limits"][0]["holds"], false);
  EXPECT_EQ(with_limits[1]["limits"][1]["holds"], true);
  EXPECT_EQ(with_limits[1]["outcome"]["best"], 0) << "what misses a limit is never best";
  const CommandResult text =
      podsim_command("plan " + temporary_file("plan.textproto", kPlanJob) +
                     " --tokens 1e10 --chips 8 --at-least memory_per_chip_gib.total=500");
  EXPECT_EQ(text.exit_code, 3) << text.err;
  EXPECT_NE(text.out.find("memory_per_chip_gib.total"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("below 500"), std::string::npos) << text.out;
}

TEST(PlanBlock, mistakes_are_told_with_their_place) {
  const auto told = [](const std::string& block) {
    const CommandResult result = planned(block);
    EXPECT_EQ(result.exit_code, 2) << block;
    EXPECT_NE(result.err.find("plan.textproto:6:"), std::string::npos) << result.err;
    return result.err;
  };
  EXPECT_NE(told("plan { limit { key: \"power_kv\" at_most: 4 } }\n").find("did you mean \"power_kw\"?"),
            std::string::npos);
  EXPECT_NE(told("plan { choice { chip: \"h1000\" chips: \"8\" } }\n").find("of this family"),
            std::string::npos);
  EXPECT_NE(told("plan { choice { chip: \"h100\" fabric: \"dgx_h1000\" chips: \"8\" } }\n").find("dgx_h100"),
            std::string::npos);
  EXPECT_NE(told("plan { choice { chip: \"h100\" chips: \"many\" } }\n").find("64..4096x2"),
            std::string::npos);
  EXPECT_NE(told("plan { limit { key: \"power_kw\" } }\n").find("at_most"), std::string::npos);
  EXPECT_NE(told("plan { limit { key: \"days\" at_most: 1 at_least: 2 } }\n").find("at least and at most"),
            std::string::npos);
  EXPECT_NE(told("plan { deadline { } }\n").find("plan.deadline.days"), std::string::npos);
  const CommandResult missing = planned("plan { objective: days }\n");
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_NE(missing.err.find("target_tokens"), std::string::npos) << missing.err;
}

TEST(PlanBlock, without_effect_is_told_by_other_verbs) {
  const std::string file = temporary_file("plan.textproto", kPlanJob + "plan { target_tokens: 1e10 }\n");
  for (const char* verb : {"run ", "search "}) {
    const CommandResult result = podsim_command(verb + file);
    EXPECT_NE(result.err.find("plan has no effect"), std::string::npos) << verb << result.err;
  }
}

}  // namespace
}  // namespace podsim::plan_block_test
