// The block plan beyond limits and clusters: chips that are bought, carbon, spares, batches, layouts of a
// choice, scenarios of their own, numbers that are not known.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "tests/cli/command.h"
#include "tests/cli/plan/plan_job.h"

namespace podsim::plan_choices_test {
namespace {

using nlohmann::json;

const std::string kWeeks = "reliability { failures: \"llama3_16k_h100\" checkpoint { save_s: 60 } }\n";

CommandResult planned(const std::string& block, const std::string& options = "") {
  return podsim_command("plan --format json " + options + " " +
                        temporary_file("plan.textproto", kPlanJob + block));
}

json answer(const CommandResult& result) {
  EXPECT_FALSE(result.out.empty()) << result.err;
  return result.out.empty() ? json::object() : json::parse(result.out);
}

json rows(const CommandResult& result) {
  json all = answer(result);
  return all.contains("rows") ? all["rows"] : json::array();
}

json assumption(const json& all, const std::string& what) {
  for (const json& each : all["hangs_on"])
    if (each["what"] == what) return each;
  ADD_FAILURE() << what << " is not in " << all["hangs_on"];
  return json::object();
}

const std::string kEight = " choice { chip: \"h100\" chips: \"8\" } }\n";

TEST(PlanOwn, adds_the_contract_to_each_choice_at_the_price_of_its_chip) {
  const auto all =
      rows(planned("plan { target_tokens: 1e10 own { years: 5 interest: 0.1 residual_share: 0.1 utilisation: "
                   "0.5 usd_per_kwh: "
                   "0.1 pue: 1.2 operation_share_per_year: 0.04 chip_usd { chip: \"H100\" usd: 40000 } }\n"
                   "  choice { chip: \"h100\" chips: \"8\" } choice { chip: \"h200\" chips: \"8\" } }\n"));
  ASSERT_EQ(all.size(), 3U) << "h200 has no chip_usd";
  const auto owned = std::ranges::find_if(all, [](const json& row) { return row["price_term"] == "owned"; });
  ASSERT_NE(owned, all.end());
  EXPECT_EQ((*owned)["chip"], "h100");
  // The same as the scenario that says it of its cluster.
  const auto own = rows(podsim_command(
      "plan --format json --tokens 1e10 --chips 8 --price-term owned --set cluster.owned.years=5 --set "
      "cluster.owned.interest=0.1 --set cluster.owned.residual_share=0.1 --set cluster.owned.utilisation=0.5 "
      "--set "
      "cluster.usd_per_kwh=0.1 --set cluster.pue=1.2 --set cluster.owned.operation_share_per_year=0.04 --set "
      "cluster.owned.chip_usd=40000 --set cluster.owned.host_usd=0 --set cluster.owned.network_usd=0 --set "
      "cluster.owned.hall_usd=0 " +
      temporary_file("own.textproto", kPlanJob)));
  ASSERT_EQ(own.size(), 1U);
  EXPECT_DOUBLE_EQ((*owned)["cost_usd"].get<double>(), own[0]["cost_usd"].get<double>());
}

TEST(PlanCarbon, is_that_of_power_and_of_making_the_chips_and_can_be_what_is_least) {
  const auto with = [](const std::string& carbon) {
    return rows(planned("plan { target_tokens: 1e10 objective: carbon carbon { " + carbon + " }" + kEight))
        .at(0);
  };
  const json power = with("kg_per_kwh: 0.5 embodied_kg { chip: \"h100\" kg: 0 }");
  EXPECT_NEAR(power["carbon_t"].get<double>(), power["energy_mwh"].get<double>() * 0.5, 1e-9);
  const double one = with("region: \"us\" embodied_kg { chip: \"h100\" kg: 1000 }")["carbon_t"];
  const double two = with("region: \"us\" embodied_kg { chip: \"h100\" kg: 2000 }")["carbon_t"];
  const double none = with("region: \"us\" embodied_kg { chip: \"h100\" kg: 0 }")["carbon_t"];
  EXPECT_NEAR(two - one, one - none, 1e-9);
  EXPECT_GT(one, none);
  const CommandResult unknown = planned("plan { target_tokens: 1e10 objective: carbon" + kEight);
  EXPECT_EQ(unknown.exit_code, 3);
  EXPECT_NE(unknown.err.find("carbon { region }"), std::string::npos) << unknown.err;
}

TEST(PlanObjectives, decide_in_their_order_among_equals) {
  const std::string choices =
      " choice { chip: \"h100\" chips: \"8,16\" price_term: [\"committed_1y\", \"on_demand\"] } }\n";
  const auto by_chips = rows(planned("plan { target_tokens: 1e10 objective: [chips, usd]" + choices));
  ASSERT_EQ(by_chips.size(), 4U);
  EXPECT_EQ(by_chips[0]["chips"], 8);
  EXPECT_EQ(by_chips[1]["chips"], 8);
  EXPECT_LE(by_chips[0]["cost_usd"], by_chips[1]["cost_usd"]);
  const auto by_regret = rows(planned("plan { target_tokens: 1e10 objective: [regret, usd]" + choices));
  for (std::size_t i = 1; i < by_regret.size(); ++i)
    EXPECT_LE(by_regret[i - 1]["outcome"]["regret"], by_regret[i]["outcome"]["regret"]);
  EXPECT_EQ(rows(planned("plan { target_tokens: 1e10" + choices, "--minimise chips,usd")), by_chips);
}

TEST(PlanReserve, is_what_the_block_reliability_says_of_spares_and_saves) {
  const auto by_block =
      rows(planned("plan { target_tokens: 1e12 reserve { spares: 1 checkpoint: 600 write_gb_per_s: 2 "
                   "bytes_per_parameter: 12 "
                   "repair_s: 86400 } choice { chip: \"h100\" chips: \"8\" failures: \"llama3_16k_h100\" "
                   "failure_factor: 20 } }\n"));
  const auto by_hand =
      rows(planned("reliability { failures: \"llama3_16k_h100\" failure_factor: 20 spares { nodes: 1 } "
                   "checkpoint { interval_s: 600 "
                   "write_gb_per_s: 2 bytes_per_parameter: 12 } repair { time { mean_s: 86400 } } }\n"
                   "plan { target_tokens: 1e12" +
                   kEight));
  ASSERT_EQ(by_block.size(), 1U);
  ASSERT_EQ(by_hand.size(), 1U);
  for (const char* figure : {"days", "cost_usd", "energy_mwh"})
    EXPECT_EQ(by_block[0][figure], by_hand[0][figure]) << figure;
}

// No number of spare nodes that is tried by hand is cheaper.
TEST(PlanReserve, spares_auto_is_the_cheapest_number_of_those_tried) {
  const auto with = [](const std::string& spares) {
    return rows(planned("plan { target_tokens: 1e12 reserve { spares: " + spares +
                        " write_gb_per_s: 2 repair_s: 1e6 } choice { chip: \"h100\" chips: \"16\" failures: "
                        "\"llama3_16k_h100\" failure_factor: 20 } }\n"))
        .at(0);
  };
  const json chosen = with("auto");
  ASSERT_TRUE(chosen.contains("spare_nodes")) << chosen;
  const auto cost = [](const json& row) { return row["outcome"]["cost_usd"]["p50"].get<double>(); };
  EXPECT_EQ(chosen["cost_usd"], with(std::to_string(chosen["spare_nodes"].get<int>()))["cost_usd"]);
  for (const char* spares : {"0", "1", "2"}) EXPECT_LE(cost(chosen), cost(with(spares)) * 1.02) << spares;
}

TEST(PlanReserve, preemption_of_a_choice_is_that_of_its_spot_chips_alone) {
  const auto all =
      rows(planned("plan { target_tokens: 1e12 reserve { write_gb_per_s: 2 } choice { chip: \"h100\" chips: "
                   "\"16\" price_term: "
                   "[\"on_demand\", \"spot\"] preemption { per_1000_node_days: 4000 notice_s: 30 wait { "
                   "mean_s: 3600 } } } }\n"));
  ASSERT_EQ(all.size(), 2U);
  const std::size_t spot = all[0]["price_term"] == "spot" ? 0 : 1;
  EXPECT_GT(all[spot]["days"].get<double>(), 1.05 * all[1 - spot]["days"].get<double>());
}

// A block that names no failure has those of its fabric, and spot has them too.
TEST(PlanReserve, spot_keeps_the_failures_of_the_fabric_beside_its_preemption) {
  const auto all = rows(
      planned("reliability { failure_factor: 100 checkpoint { save_s: 60 } repair { time { mean_s: 86400 "
              "} } }\nplan { target_tokens: 1e12 choice { chip: \"h100\" chips: \"16\" price_term: "
              "[\"on_demand\", \"spot\"] preemption { per_1000_node_days: 0.001 wait { mean_s: 3600 } } "
              "} }\n"));
  ASSERT_EQ(all.size(), 2U);
  const std::size_t spot = all[0]["price_term"] == "spot" ? 0 : 1;
  EXPECT_GT(all[spot]["days"].get<double>(), 0.98 * all[1 - spot]["days"].get<double>());
}

// Chips that cost nothing: dollars would have no spares.
TEST(PlanReserve, spares_auto_is_the_number_of_least_carbon_where_that_is_the_objective) {
  const auto with = [](const std::string& spares) {
    return rows(planned("plan { target_tokens: 1e12 objective: carbon carbon { region: \"none\" } reserve { "
                        "spares: " +
                            spares +
                            " write_gb_per_s: 2 repair_s: 1e6 } choice { chip: \"h100\" chips: \"16\" "
                            "failures: \"llama3_16k_h100\" failure_factor: 20 } }\n",
                        "--set cluster.usd_per_chip_hour=0"))
        .at(0);
  };
  const json chosen = with("auto");
  const auto carbon = [](const json& row) { return row["carbon_t"].get<double>(); };
  for (const char* spares : {"0", "1", "2"}) EXPECT_LE(carbon(chosen), carbon(with(spares)) * 1.02) << spares;
}

TEST(PlanBatches, are_the_nearest_that_the_chips_divide_within_the_range) {
  const auto all =
      rows(planned("plan { target_tokens: 1e10 global_batch_tokens: \"30e3..140e3\"\n"
                   "  choice { chip: \"h100\" chips: \"8,12\" } }\n",
                   "--set space.microbatch=1"));
  std::set<std::pair<int, double>> sequences;
  for (const json& row : all) sequences.insert({row["chips"], row["batch_tokens"].get<double>() / 2048});
  // 30e3, 60e3 and 120e3 tokens, and 140e3, are 14.6, 29.3, 58.6 and 68.4 sequences.
  const std::set<std::pair<int, double>> eight = {{8, 16}, {8, 32}, {8, 56}, {8, 64}};
  for (const auto& each : eight) EXPECT_TRUE(sequences.contains(each)) << each.second;
  for (const auto& [chips, count] : sequences) {
    EXPECT_GE(count * 2048, 30e3);
    EXPECT_LE(count * 2048, 140e3);
    EXPECT_EQ(static_cast<int>(count) % 4, 0) << chips << " " << count;
  }
  EXPECT_EQ(
      rows(planned("plan { target_tokens: 1e10" + kEight, "--batch-tokens 65536")).at(0)["batch_tokens"],
      65536);
  EXPECT_EQ(rows(planned("plan { target_tokens: 1e10" + kEight, "--batch-tokens 30e3")).at(0)["batch_tokens"],
            15 * 2048)
      << "one number is one batch, whatever divides it";
}

TEST(PlanLayouts, of_a_choice_are_in_place_of_those_of_the_plan_and_of_the_space) {
  const auto all = rows(planned(
      "plan { target_tokens: 1e10 layout { tensor: \"2..4x2\" recompute: [\"none\"] sharding: [\"zero1\"] }\n"
      "  choice { name: \"all\" chip: \"h100\" chips: \"8\" }\n"
      "  choice { name: \"wide\" chip: \"h100\" chips: \"8\" layout { tensor: \"8\" "
      "memory_headroom_fraction: 0.2 } } }\n"));
  ASSERT_EQ(all.size(), 2U);
  for (const json& row : all) {
    const std::string layout = row["layout"];
    if (row["name"] == "wide")
      EXPECT_NE(layout.find("tensor 8"), std::string::npos) << layout;
    else
      EXPECT_TRUE(layout.find("tensor 2") != std::string::npos ||
                  layout.find("tensor 4") != std::string::npos)
          << layout;
  }
}

TEST(PlanChoice, of_a_scenario_beside_the_file_has_its_job_and_its_cluster) {
  const std::string file = temporary_file("other.textproto", kPlanJob + "plan { target_tokens: 5 }\n");
  const std::string name = std::filesystem::path(file).filename();
  const auto all = rows(planned("plan { target_tokens: 1e10 choice { name: \"its\" scenario: \"" + name +
                                "\" }\n choice { chip: \"h100\" chips: \"16\" } }\n"));
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0]["chips"], 16) << "as many as the scenario has";
  EXPECT_EQ(all[0]["cost_usd"], all[1]["cost_usd"]);
  const auto fewer =
      rows(planned("plan { target_tokens: 1e10 choice { scenario: \"" + name + "\" chips: \"8\" } }\n"));
  EXPECT_EQ(fewer.at(0)["chips"], 8);
}

TEST(PlanVary, of_the_price_moves_dollars_and_nothing_else) {
  const CommandResult result = planned(
      "plan { target_tokens: 1e11 vary { band: false }\n"
      " vary { path: \"cluster.usd_per_chip_hour\" low: 0.5 high: 2 factor: true }" +
      kEight);
  const json all = answer(result);
  const json row = all["rows"][0];
  const double usd = row["cost_usd"];
  EXPECT_NEAR(row["outcome"]["days"]["p10"].get<double>(), row["days"].get<double>(), 1e-9)
      << "the band is left out";
  EXPECT_NEAR(row["outcome"]["cost_usd"]["p10"].get<double>() / usd, 0.5, 0.03);
  EXPECT_NEAR(row["outcome"]["cost_usd"]["p90"].get<double>() / usd, 2, 0.1);
  const json swing = assumption(all, "cluster.usd_per_chip_hour, times");
  EXPECT_NEAR(swing["first_from"].get<double>(), usd * 0.5, usd * 1e-9);
  EXPECT_NEAR(swing["first_to"].get<double>(), usd * 2, usd * 1e-9);
}

// Any number of the scenario, simulated again at both of its ends.
TEST(PlanVary, of_a_number_of_the_job_is_simulated_at_its_ends) {
  const std::string block =
      "plan { target_tokens: 1e11 vary { path: \"job.stack_override.fixed_step_ms\" low: 1 high: 900 }" +
      kEight;
  const json all = answer(planned(block, "--minimise days"));
  const json swing = assumption(all, "job.stack_override.fixed_step_ms");
  const auto at = [](const std::string& value) {
    return rows(planned("plan { target_tokens: 1e11" + kEight,
                        "--set job.stack_override.fixed_step_ms=" + value))
        .at(0)["days"]
        .get<double>();
  };
  EXPECT_GT(at("900"), 1.2 * at("1"));
  const double band = swing["first_from"].get<double>() / at("1");  // its median, the same at both ends
  EXPECT_NEAR(swing["first_to"].get<double>() / at("900"), band, 1e-3);
}

TEST(PlanVary, on_the_command_line_is_in_place_of_the_block_on_the_same_number) {
  const std::string block =
      "plan { target_tokens: 1e10 vary { path: \"cluster.usd_per_chip_hour\" low: 1 high: 3 }" + kEight;
  const json all =
      answer(planned(block, "--vary cluster.usd_per_chip_hour=2..6 --vary cluster.usd_per_kwh=0.05..0.2"));
  EXPECT_EQ(assumption(all, "cluster.usd_per_chip_hour")["to"], 6);
  EXPECT_EQ(assumption(all, "cluster.usd_per_kwh")["to"], 0.2);
}

TEST(PlanVary, of_failures_is_in_place_of_half_and_twice_as_many) {
  const json all = answer(planned(
      kWeeks + "plan { target_tokens: 1e12 vary { path: \"reliability.failure_factor\" low: 1 high: 30 }" +
          kEight,
      "--minimise days"));
  EXPECT_GT(assumption(all, "reliability.failure_factor")["first_to"],
            assumption(all, "reliability.failure_factor")["first_from"]);
  for (const json& each : all["hangs_on"])
    EXPECT_EQ(each["what"].get<std::string>().find("failures over"), std::string::npos);
}

TEST(PlanReport, has_as_many_rows_and_draws_as_are_asked_for) {
  const std::string choices =
      " choice { chip: \"h100\" chips: \"8,16\" price_term: [\"on_demand\", \"committed_1y\"] } }\n";
  const json two = answer(planned("plan { target_tokens: 1e10 report_choices: 2 draws: 100" + choices));
  const json all = answer(planned("plan { target_tokens: 1e10 draws: 100" + choices));
  ASSERT_EQ(two["rows"].size(), 2U);
  EXPECT_EQ(two["rows_left_out"], 2);
  EXPECT_EQ(two["rows"][0], all["rows"][0]) << "chances are among all of them";
  EXPECT_EQ(answer(planned("plan { target_tokens: 1e10" + choices, "--top 1 --draws 100"))["rows"].size(),
            1U);
}

TEST(PlanReport, in_no_time_has_no_row_or_says_what_is_left_open) {
  const CommandResult result = planned("plan { target_tokens: 1e10 search_seconds: 0.001" + kEight);
  if (result.exit_code == 3)
    EXPECT_NE(result.err.find("give it more seconds"), std::string::npos) << result.err;
  else
    EXPECT_EQ(rows(result).size(), 1U);
  EXPECT_EQ(rows(planned("plan { target_tokens: 1e10 search_seconds: 600" + kEight)),
            rows(planned("plan { target_tokens: 1e10" + kEight)));
}

// The fastest layout takes more memory than is allowed, another one does not.
TEST(PlanLimits, on_figures_are_met_by_a_slower_layout_where_the_fastest_misses_them) {
  const std::string options =
      "--tokens 1e10 --chips 8 --set space.tensor=1,2,4,8 --set space.recompute=none,full ";
  const auto run = [&](const std::string& limit) {
    return podsim_command("plan --format json " + options + limit +
                          temporary_file("plan.textproto", kPlanJob));
  };
  const json fastest = rows(run("")).at(0);
  for (const std::string key : {"memory_gib", "power_kw"}) {
    const double most = 0.97 * fastest[key].get<double>();
    const CommandResult held = run("--at-most " + key + "=" + std::to_string(most) + " ");
    EXPECT_EQ(held.exit_code, 0) << key << held.err;
    const json row = rows(held).at(0);
    EXPECT_LE(row[key].get<double>(), most);
    EXPECT_GT(row["step_time_s"], fastest["step_time_s"]);
    EXPECT_EQ(row["meets"], true);
  }
  const CommandResult none = run("--at-most memory_gib=0.5 ");
  EXPECT_EQ(none.exit_code, 3);
  EXPECT_EQ(rows(none).at(0)["layout"], fastest["layout"]) << "what comes nearest is told of the fastest";
}

TEST(PlanMistakes, are_told_with_their_place_and_the_nearest_name) {
  const auto told = [](const std::string& block) {
    const CommandResult result = planned("plan { target_tokens: 1e10 " + block + kEight);
    EXPECT_EQ(result.exit_code, 2) << block;
    EXPECT_NE(result.err.find("plan.textproto:6:"), std::string::npos) << result.err;
    return result.err;
  };
  const std::pair<const char*, const char*> wrong[] = {
      {"vary { path: \"cluster.usd_per_chip_hours\" low: 1 high: 2 }", "did you mean \"usd_per_chip_hour\"?"},
      {"vary { path: \"cluster.chip\" low: 1 high: 2 }", "is no number"},
      {"vary { path: \"cluster.chips\" low: 1 high: 2 }", "asks for or chooses"},
      {"vary { path: \"cluster.usd_per_kwh\" low: 2 high: 1 }", "must be below high"},
      {"vary { path: \"cluster.usd_per_kwh\" low: 1 high: 200 }", "must be from 0 to 100"},
      {"vary { path: \"cluster.usd_per_kwh\" low: 0 high: 2 shape: lognormal }", "shape: uniform"},
      {"vary { path: \"job.input_core_mb_per_s\" low: 1 high: 2 factor: true }", "to multiply"},
      {"vary { path: \"reliability.failure_factor\" low: 1 high: 2 }", "has no effect"},
      {"vary { path: \"cluster.usd_per_kwh\" low: 1 high: 2 } vary { path: \"cluster.usd_per_kwh\" low: 3 "
       "high: 4 chip: \"h100\" }",
       "given already"},
      {"vary { low: 1 high: 2 }", "plan.vary[0].path is missing"},
      {"vary { band: true path: \"cluster.usd_per_kwh\" }", "no number of the scenario"},
      {"vary { path: \"cluster.usd_per_kwh\" low: 1 high: 2 chip: \"h1000\" }", "h100"},
      {"carbon { region: \"swedn\" }", "sweden"},
      {"carbon { embodied_kg { chip: \"h1000\" kg: 3 } }", "h100"},
      {"own { chip_usd { chip: \"h1000\" usd: 3 } }", "h100"},
      {"own { interest: 8 }", "must be from 0 to 1"},
      {"reserve { spares: auto }", "write_gb_per_s"},
      {"global_batch_tokens: \"many\"", "4e6..16e6"},
      {"layout { tensor: \"0..4\" }", "1..8x2"},
      {"layout { schedule: [\"one_f_two_b\"] }", "one_f_one_b"},
      {"layout { sharding: [\"zero9\"] }", "zero"},
      {"choice { scenario: \"not_there.textproto\" }", "not_there.textproto"},
      {"choice { chip: \"h100\" chips: \"8\" failures: \"llama3_16k_h1000\" }", "llama3_16k_h100"},
      {"choice { chip: \"h100\" chips: \"8\" failures: \"llama3_16k_h100\" }", "reserve"},
      {"objective: euros", "must be one of"},
      {"draws: 3", "must be from 100"},
      {"report_choices: 0", "must be from 1"},
      {"search_seconds: 0", "search_seconds"}};
  for (const auto& [block, part] : wrong) {
    const std::string message = told(block);
    EXPECT_NE(message.find(part), std::string::npos) << block << "\n" << message;
  }
  const CommandResult both =
      planned(kWeeks + "plan { target_tokens: 1e10 reserve { write_gb_per_s: 2 }" + kEight);
  EXPECT_NE(both.err.find("save_s already"), std::string::npos) << both.err;
}

TEST(PlanMistakes, of_options_end_with_2) {
  for (const char* option :
       {"--vary cluster.usd_per_kwh", "--vary cluster.usd_per_kwh=a..b", "--batch-tokens many",
        "--minimise euros", "--draws 3", "--top 0", "--vary cluster.usd_per_kwhs=1..2",
        "--vary cluster.usd_per_kwh=1..2 --vary cluster.usd_per_kwh=3..4"})
    EXPECT_EQ(planned("", std::string("--tokens 1e9 --chips 8 ") + option).exit_code, 2) << option;
}

}  // namespace
}  // namespace podsim::plan_choices_test
