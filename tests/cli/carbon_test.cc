// Carbon wherever energy is told: run, own, scale, plan and weeks through the binary.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/command.h"

namespace podsim::carbon_test {
namespace {

using nlohmann::json;

constexpr double kSweden = 0.036;  // kg per kWh, of scenarios/economics/grids.csv

json answer(const std::string& arguments) {
  const CommandResult result = podsim_command(arguments + " --format json");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const json answer = json::parse(result.out);
  return answer.is_array() ? answer.front() : answer;
}

json in_sweden(const std::string& verb) {
  return answer(verb + " " + small_scenario() + " --set cluster.grid=sweden");
}

TEST(Carbon, of_a_step_is_its_power_by_the_grid_and_the_making_of_its_chips) {
  const json report = in_sweden("run"), own = answer("own " + small_scenario() + " --region sweden");
  const double power = report["power_carbon_kg_per_hour"], making = report["making_carbon_kg_per_hour"];
  EXPECT_NEAR(power, report["power_kw"].get<double>() * kSweden, 1e-12 * power);
  EXPECT_NEAR(power, own["operational_kg_per_hour"].get<double>(), 1e-9 * power);
  EXPECT_NEAR(making, own["embodied_kg_per_hour"].get<double>(), 1e-9 * making);
  const double tokens_per_hour = report["tokens_per_s"].get<double>() * 3600;
  EXPECT_NEAR(report["carbon_kg_per_million_tokens"].get<double>(), (power + making) / tokens_per_hour * 1e6,
              1e-9 * power);
}

TEST(Carbon, is_told_only_where_the_grid_is_known) {
  EXPECT_FALSE(answer("run " + small_scenario()).contains("carbon_kg_per_million_tokens"));
  const json own = answer("run " + small_scenario() + " --set cluster.kg_per_kwh=0.5");
  EXPECT_NEAR(own["power_carbon_kg_per_hour"].get<double>(), own["power_kw"].get<double>() * 0.5, 1e-9);
  const CommandResult unknown = podsim_command("run " + small_scenario() + " --set cluster.grid=swden");
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_NE(unknown.err.find("did you mean \"sweden\"?"), std::string::npos) << unknown.err;
  const CommandResult both =
      podsim_command("run " + small_scenario() + " --set cluster.grid=sweden --set cluster.kg_per_kwh=1");
  EXPECT_NE(both.err.find("cluster.grid"), std::string::npos) << both.err;
}

TEST(Carbon, is_compared_where_only_some_of_the_scenarios_tell_it) {
  const std::string rows =
      podsim_command("compare " + small_scenario() + " --set cluster.grid=us,sweden --quiet").out;
  const std::size_t row = rows.find("kg CO2e per million tokens");
  ASSERT_NE(row, std::string::npos) << rows;
  EXPECT_NE(rows.substr(row, rows.find('\n', row) - row).find(" - "), std::string::npos)
      << "the first has no grid";
}

TEST(Carbon, of_a_whole_run_is_that_of_its_tokens) {
  const json scale =
      answer("scale " + small_scenario() + " --chips 16 --tokens 1e9 --set cluster.grid=sweden");
  EXPECT_NEAR(scale["whole_run"]["carbon_t"].get<double>(),
              scale["carbon_kg_per_million_tokens"].get<double>() * 1e3 / 1e3, 1e-9);
}

// By accounts of chip-hours and energy, nothing twice.
TEST(Carbon, of_weeks_is_their_energy_by_the_grid_and_the_hours_in_which_chips_are_held) {
  const std::string weeks = "reliability " + std::string(PODSIM_SOURCE_DIR) +
                            "/scenarios/reliability/spares_2048_nodes.textproto --seeds 2";
  const json clean = answer(weeks + " --set cluster.grid=none"),
             dirty = answer(weeks + " --set cluster.kg_per_kwh=1");
  const auto mean = [](const json& of, const char* what) {
    return of["event_simulation"][what]["mean"].get<double>();
  };
  EXPECT_NEAR(mean(dirty, "carbon_t") - mean(clean, "carbon_t"), mean(dirty, "energy_mwh"),
              1e-9 * mean(dirty, "energy_mwh"));
}

TEST(Carbon, of_tokens_that_are_served_is_their_energy_by_the_grid) {
  const std::string served =
      "inference " + std::string(PODSIM_SOURCE_DIR) + "/scenarios/inference/llama2_70b_8_h100.textproto";
  EXPECT_FALSE(answer(served).contains("carbon_kg_per_million_tokens"));
  const json half = answer(served + " --set cluster.kg_per_kwh=0.5"),
             none = answer(served + " --set cluster.kg_per_kwh=0");
  const double by_power = half["j_per_token"].get<double>() / 3.6e6 * 1e6 * 0.5;
  EXPECT_NEAR(
      half["carbon_kg_per_million_tokens"].get<double>() - none["carbon_kg_per_million_tokens"].get<double>(),
      by_power, 1e-9 * by_power);
}

TEST(Carbon, of_a_fleet_is_that_of_the_runs_on_it) {
  const std::string asked = small_scenario() + " --tokens 1e10";
  EXPECT_FALSE(answer("fleet " + asked)["fleets"][0].contains("carbon_t"));
  const json scaled = answer("scale " + asked + " --chips 16 --set cluster.grid=sweden");
  const double run = scaled["whole_run"]["carbon_t"];
  EXPECT_NEAR(answer("fleet " + asked + " --set cluster.grid=sweden")["fleets"][0]["carbon_t"].get<double>(),
              run, 1e-9 * run);
}

}  // namespace
}  // namespace podsim::carbon_test
