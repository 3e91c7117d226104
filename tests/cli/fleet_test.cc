// podsim fleet and podsim inference, as a user runs them.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/command.h"

namespace podsim::fleet_verb_test {
namespace {

using nlohmann::json;

const std::string kServed = "scenarios/inference/llama2_70b_8_h100.textproto";

// Two runs of one job take twice the days of one, one after the other, and cost the same as that of `run`.
TEST(FleetVerb, runs_follow_each_other_and_cost_what_their_tokens_do) {
  const std::string job = small_scenario();
  const CommandResult result = podsim_command("fleet " + job + " " + job + " --tokens 1e10 --format json");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json fleet = json::parse(result.out)["fleets"][0];
  const json& runs = fleet["runs"];
  EXPECT_DOUBLE_EQ(runs[1]["begin_day"].get<double>(), runs[0]["end_day"].get<double>());
  const json step = json::parse(podsim_command("run " + job + " --format json").out);
  EXPECT_NEAR(fleet["on_demand_usd"].get<double>(),
              2e10 / 1e6 * step["cost_usd_per_million_tokens"].get<double>(), 1);
  EXPECT_EQ(fleet["best_committed_chips"], 0);
}

// What is served takes its chips of the whole year, which a commitment makes cheaper; the run has others.
TEST(FleetVerb, what_is_served_never_rests_and_is_worth_a_commitment) {
  const CommandResult result = podsim_command("fleet " + small_scenario() + " --tokens 1e10 --serve " +
                                              kServed + " --tokens-per-s 1000 --format json");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json fleet = json::parse(result.out)["fleets"][0];
  const int serving = fleet["runs"][0]["chips"];
  EXPECT_EQ(fleet["chips"], serving + 16);
  EXPECT_EQ(fleet["best_committed_chips"], serving);
  EXPECT_LT(fleet["best_usd"].get<double>(), fleet["on_demand_usd"].get<double>());
}

// Whose prices hold is said by the scenario: its list, its provider, or a price of its own.
TEST(FleetVerb, prices_are_those_that_the_scenario_names) {
  const std::string sheet = temporary_file(
      "our_prices.csv", "chip,term,usd_per_chip_hour\nh100,on_demand,2\nh100,committed_1y,1.25\n");
  const auto prices = [](const std::string& options) {
    const CommandResult result =
        podsim_command("fleet " + small_scenario() + " --tokens 1e10 --format json " + options);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    const json answer = json::parse(result.out);
    const json& fleet = answer["fleets"][0];
    return std::pair(fleet["on_demand_usd_per_chip_hour"].get<double>(),
                     fleet["committed_usd_per_chip_hour"].get<double>());
  };
  EXPECT_EQ(prices("--prices " + sheet), std::pair(2.0, 1.25));
  EXPECT_EQ(prices("--set cluster.provider=coreweave"), std::pair(6.16, 0.0));
  EXPECT_EQ(prices("--set cluster.usd_per_chip_hour=1.5"), std::pair(1.5, 0.0));
}

TEST(FleetVerb, what_is_missing_or_too_large_is_told) {
  EXPECT_EQ(podsim_command("fleet").exit_code, 2);
  EXPECT_EQ(podsim_command("fleet " + small_scenario()).exit_code, 2);
  EXPECT_EQ(podsim_command("fleet --serve " + kServed).exit_code, 2);
  EXPECT_EQ(podsim_command("fleet " + small_scenario() + " --tokens 1e9 --chips 8").exit_code, 3);
}

TEST(InferenceVerb, tells_the_estimate_with_its_limits_and_refuses_other_models) {
  const CommandResult result = podsim_command("inference " + kServed);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  for (const char* part : {"prefill of a prompt", "sequences that fit", "An estimate by rooflines"})
    EXPECT_NE(result.out.find(part), std::string::npos) << part;
  EXPECT_EQ(result.err.find("adversity"), std::string::npos) << result.err;
  EXPECT_EQ(podsim_command("inference scenarios/resnet50_256_v4.textproto").exit_code, 3);
  EXPECT_EQ(podsim_command("inference " + kServed + " --weights bf16 --tensor 1").exit_code, 3);
}

TEST(InferenceVerb, says_that_adversities_have_no_effect) {
  const CommandResult result =
      podsim_command("inference " + kServed +
                     " --set adversity.slow_chip[0].chip=1 --set adversity.slow_chip[0].speed_fraction=0.5");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_NE(result.err.find("adversity has no effect: inference takes chips and links to be as they should"),
            std::string::npos)
      << result.err;
}

}  // namespace
}  // namespace podsim::fleet_verb_test
