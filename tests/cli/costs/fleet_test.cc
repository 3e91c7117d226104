// podsim fleet and podsim inference, as a user runs them.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

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
    EXPECT_EQ(fleet["committed_usd"].is_null(), fleet["committed_usd_per_chip_hour"].is_null());
    return std::pair(fleet["on_demand_usd_per_chip_hour"], fleet["committed_usd_per_chip_hour"]);
  };
  EXPECT_EQ(prices("--prices " + sheet), std::pair(json(2.0), json(1.25)));
  EXPECT_EQ(prices("--set cluster.provider=coreweave"), std::pair(json(6.16), json()));
  EXPECT_EQ(prices("--set cluster.usd_per_chip_hour=1.5"), std::pair(json(1.5), json()));
}

json fleet_with(const std::string& job, const std::string& options) {
  const CommandResult result = podsim_command("fleet " + job + " --quiet --format json " + options);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return json::parse(result.out)["fleets"][0];
}

// What it costs is what podsim run says of an hour: factors, and energy by the kWh.
TEST(FleetVerb, prices_have_the_factors_and_the_energy_of_the_scenario) {
  const std::string job = small_scenario();
  const json plain = fleet_with(job, "--tokens 1e10");
  EXPECT_DOUBLE_EQ(fleet_with(job, "--tokens 1e10 --hypothetical h100:price=2x")["on_demand_usd"],
                   2 * plain["on_demand_usd"].get<double>());
  const std::string power = " --set cluster.usd_per_kwh=2";
  const json step = json::parse(podsim_command("run " + job + " --format json" + power).out);
  const json paid = fleet_with(job, "--tokens 1e10" + power);
  EXPECT_NEAR(paid["on_demand_usd"].get<double>(),
              1e10 / 1e6 * step["cost_usd_per_million_tokens"].get<double>(), 1);
  EXPECT_GT(paid["energy_usd"].get<double>(), 0);
  EXPECT_EQ(fleet_with(job, "--tokens 1e10 --set cluster.price_term=owned")["on_demand_usd_per_chip_hour"],
            plain["on_demand_usd_per_chip_hour"]);
}

// Padded documents take the mean over their shapes, with failures and without.
TEST(FleetVerb, days_of_padded_documents_are_those_of_all_shapes) {
  const std::string text = read_file(small_scenario()), job = temporary_file("padded.textproto", text),
                    weeks = temporary_file("padded_weeks.textproto",
                                           text +
                                               "reliability { failure { component: gpu per_1000_node_days: "
                                               "1e-6 } checkpoint { save_s: 0.001 } }\n");
  const std::string padded =
      "--tokens 1e11 --set job.lengths=long_tail_32k --set job.shapes.bucket_tokens=1024";
  const double by_steps = fleet_with(job, padded)["runs"][0]["end_day"],
               by_weeks = fleet_with(weeks, padded)["runs"][0]["end_day"];
  EXPECT_NEAR(by_steps, by_weeks, 1e-3 * by_weeks) << "medians are of the predicted step";
}

TEST(FleetVerb, spares_of_a_run_are_chips_of_the_fleet) {
  const std::string job = temporary_file(
      "spares.textproto", read_file(small_scenario()) +
                              "reliability { days: 3 failures: \"rsc1\" checkpoint { save_s: 30 } spares { "
                              "nodes: 2 } }\n");
  const json fleet = fleet_with(job, "--tokens 1e10");
  EXPECT_EQ(fleet["chips"], 32);
  EXPECT_EQ(fleet["runs"][0]["spare_chips"], 16);
  EXPECT_NEAR(fleet["on_demand_usd"].get<double>(),
              fleet["runs"][0]["end_day"].get<double>() * 24 * 32 *
                  fleet["on_demand_usd_per_chip_hour"].get<double>(),
              0.01);
}

// Of every option that changes the answer.
TEST(FleetVerb, questions_that_differ_in_an_option_have_another_digest) {
  const auto digest = [](const std::string& command) {
    const CommandResult result = podsim_command(command + " --format json");
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return json::parse(result.out)["scenario_sha256"].get<std::string>();
  };
  const std::string runs = "fleet " + small_scenario() + " --tokens 1e10",
                    serves = "fleet --serve " + kServed + " --tokens-per-s 1000";
  std::set<std::string> digests;
  for (const std::string& command : {runs, runs + " --days 30", runs + " --chips 32", runs + " --chips 64",
                                     serves, serves + " --prompt 100", serves + " --weights fp8",
                                     "inference " + kServed, "inference " + kServed + " --output 100"})
    EXPECT_TRUE(digests.insert(digest(command)).second) << command;
  EXPECT_EQ(digest(runs), digest(runs + " --threads 2"));
  EXPECT_EQ(digest(runs + " --prompt 100"), digest(runs)) << "nothing is served";
}

TEST(FleetVerb, reads_standard_input_once) {
  const std::string job =
      temporary_file("weeks.textproto", read_file(small_scenario()) +
                                            "reliability { failures: \"rsc1\" checkpoint { save_s: 30 } }\n");
  const CommandResult piped = podsim_command("fleet - --tokens 1e10 --quiet <" + job),
                      named = podsim_command("fleet " + job + " --tokens 1e10 --quiet");
  EXPECT_EQ(piped.exit_code, 0) << piped.err;
  EXPECT_EQ(named.exit_code, 0) << named.err;
}

TEST(FleetVerb, numbers_beyond_their_range_are_refused) {
  for (const char* tokens : {"-1e12", "nan", "inf", "0", "1e9,nan"})
    EXPECT_EQ(podsim_command("fleet " + small_scenario() + " " + small_scenario() + " --tokens " + tokens)
                  .exit_code,
              2)
        << tokens;
  for (const char* rate : {"1e15", "nan", "-5", "0", "1e12"})
    EXPECT_EQ(podsim_command("fleet --serve " + kServed + " --tokens-per-s " + rate).exit_code, 2) << rate;
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
  EXPECT_EQ(podsim_command("inference scenarios/resnet50_256_v4.textproto").exit_code, 2);
  EXPECT_EQ(podsim_command("inference " + kServed + " --weights bf16 --tensor 1").exit_code, 3);
}

// An option that is wrong whatever fits ends with 2, what finds no room with 3.
TEST(InferenceVerb, tells_wrong_options_from_what_does_not_fit) {
  const auto ends = [](const std::string& options, int exit_code, const std::string& words) {
    for (const std::string& verb : {"inference " + kServed, "fleet --tokens-per-s 1000 --serve " + kServed}) {
      const CommandResult result = podsim_command(verb + " " + options);
      EXPECT_EQ(result.exit_code, exit_code) << verb << options;
      EXPECT_NE(result.err.find(words), std::string::npos) << result.err;
    }
  };
  ends("--weights fp4", 2, "--weights \"fp4\": h100 computes ");
  ends("--tensor 100", 2, "the nearest that works is 8");
  ends("--tensor 3", 2, "does not divide heads 64 of llama2_70b: the nearest that work are 2 and 4");
  ends("--sequences 900000", 3, "has room for the cache of ");
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

// 32 sequences of 8,192 activations of two bytes, twice in each of 80 layers.
TEST(InferenceVerb, all_reduces_take_as_long_as_podsim_collective_has_them) {
  const json alone = json::parse(
      podsim_command("collective --fabric dgx_h100 --chips 8 --group 0..3 --bytes 512KiB --format json").out);
  const json served =
      json::parse(podsim_command("inference " + kServed + " --tensor 4 --sequences 32 --format json").out);
  EXPECT_DOUBLE_EQ(served["decode_communication_s"].get<double>(),
                   160 * alone["rows"][0]["time_s"].get<double>());
}

// A rack of 72 holds four replicas of sixteen.
TEST(InferenceVerb, tells_how_many_chips_no_replica_uses) {
  const std::string served = "inference scenarios/inference/llama31_405b_72_gb200.textproto";
  const CommandResult uneven = podsim_command(served + " --tensor 16");
  EXPECT_EQ(uneven.exit_code, 0) << uneven.err;
  EXPECT_NE(uneven.err.find("8 of 72 chips are in no replica"), std::string::npos) << uneven.err;
  const CommandResult even = podsim_command(served + " --tensor 8");
  EXPECT_EQ(even.exit_code, 0) << even.err;
  EXPECT_EQ(even.err.find("in no replica"), std::string::npos) << even.err;
}

}  // namespace
}  // namespace podsim::fleet_verb_test
