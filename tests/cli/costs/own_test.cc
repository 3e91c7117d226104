// podsim own: buying against renting through the binary.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/command.h"

namespace podsim::own_test {
namespace {

using nlohmann::json;

json owned(const std::string& options) {
  const CommandResult result =
      podsim_command("own " + small_scenario() + " --quiet --format json " + options);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return json::parse(result.out);
}

TEST(OwnVerb, at_the_break_even_use_an_hour_costs_what_it_does_rented) {
  const json first = owned("");
  EXPECT_EQ(first["chip"], "h100");
  for (const json& rent : first["renting"]) {
    if (rent["break_even_utilisation"].is_null()) continue;
    const double use = rent["break_even_utilisation"];
    const json there = owned("--utilisation " + std::to_string(use));
    EXPECT_NEAR(there["usd_per_used_chip_hour"], rent["usd_per_chip_hour"].get<double>(),
                2e-5 * rent["usd_per_chip_hour"].get<double>());
    break;
  }
  double sum = 0;
  for (const char* part : {"capital", "operation", "busy_energy", "idle_energy"})
    sum += first["usd_per_chip_year"][part].get<double>();
  EXPECT_NEAR(sum, first["usd_per_chip_year"]["sum"], 1e-6);
}

TEST(OwnVerb, carbon_is_that_of_the_grid_and_of_making_the_chips) {
  const json sweden = owned("--region sweden"), free = owned("--region none --embodied-kg 0");
  EXPECT_NEAR(sweden["operational_kg_per_hour"], sweden["power_kw"].get<double>() * 0.036, 1e-9);
  EXPECT_GT(sweden["embodied_kg_per_hour"], 0);
  EXPECT_EQ(free["kg_per_million_tokens"], 0);
  EXPECT_NEAR(owned("--site-kw 1000 --pue 1.5")["site_chips"],
              owned("--site-kw 1500 --pue 2.25")["site_chips"].get<double>(), 1e-9);
}

// Watts of an H100 are known to 15 %: power, dollars of power and what a site feeds have both ends.
TEST(OwnVerb, power_has_a_low_and_a_high_end) {
  const json own = owned("");
  const double power = own["power_kw"];
  EXPECT_NEAR(own["power_low_kw"].get<double>(), 0.85 * power, 1e-9 * power);
  EXPECT_NEAR(own["power_high_kw"].get<double>(), 1.15 * power, 1e-9 * power);
  const json& year = own["usd_per_chip_year"];
  const double energy = year["busy_energy"].get<double>() + year["idle_energy"].get<double>();
  const double used_hours = year["sum"].get<double>() / own["usd_per_used_chip_hour"].get<double>();
  EXPECT_NEAR(
      own["high_usd_per_used_chip_hour"].get<double>() - own["low_usd_per_used_chip_hour"].get<double>(),
      0.3 * energy / used_hours, 1e-9);
}

TEST(OwnVerb, what_is_not_known_is_asked_for) {
  const std::string v5p = std::string(PODSIM_SOURCE_DIR) + "/scenarios/llama3_70b_512_v5p.textproto";
  const CommandResult unknown = podsim_command("own " + v5p);
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_NE(unknown.err.find("no price of a tpu_v5p that is bought is known"), std::string::npos)
      << unknown.err;
  EXPECT_EQ(podsim_command("own " + v5p + " --chip-usd 12000 --quiet").exit_code, 0);
  const CommandResult region = podsim_command("own " + small_scenario() + " --region swden");
  EXPECT_EQ(region.exit_code, 2);
  EXPECT_NE(region.err.find("did you mean \"sweden\"?"), std::string::npos) << region.err;
}

// An hour of a job on owned chips costs what podsim own says, power at work included.
TEST(OwnVerb, a_step_on_owned_chips_costs_what_owning_them_does) {
  for (const char* terms : {"", "--utilisation 0.5 --years 6 --residual 0.1"}) {
    const bool usual = std::string(terms).empty();
    const std::string set = usual ? ""
                                  : " --set cluster.owned.utilisation=0.5 --set cluster.owned.years=6 --set "
                                    "cluster.owned.residual_share=0.1";
    const CommandResult run =
        podsim_command("run " + small_scenario() + " --set cluster.price_term=owned --format json" + set);
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const json step = json::parse(run.out), own = owned(terms);
    EXPECT_NEAR(step["cost_usd_per_hour"].get<double>(),
                own["usd_per_used_chip_hour"].get<double>() * own["chips"].get<double>(), 1e-9)
        << terms;
  }
}

// What the scenario says of grid, power and owning holds, and options stand in its place.
TEST(OwnVerb, takes_what_the_scenario_says_and_options_first) {
  const json plain = owned("");
  const json run =
      json::parse(podsim_command("run " + small_scenario() + " --format json --set cluster.grid=sweden").out);
  EXPECT_NEAR(owned("--set cluster.grid=sweden")["operational_kg_per_hour"],
              run["power_carbon_kg_per_hour"].get<double>(), 1e-9);
  EXPECT_EQ(owned("--set cluster.grid=sweden --region world")["carbon_kg_per_kwh"],
            plain["carbon_kg_per_kwh"]);
  EXPECT_EQ(owned("--set cluster.kg_per_kwh=0.5")["carbon_kg_per_kwh"], 0.5);
  const std::pair<const char*, const char*> same[] = {
      {"--set cluster.usd_per_kwh=0.3", "--usd-per-kwh 0.3"},
      {"--set cluster.embodied_kg=5000", "--embodied-kg 5000"},
      {"--set cluster.owned.utilisation=0.3 --set cluster.owned.chip_usd=50000",
       "--utilisation 0.3 --chip-usd 50000"},
      {"--set cluster.owned.years=8 --years 5", "--years 5"}};
  for (const auto& [scenario, options] : same) {
    json by_scenario = owned(scenario), by_options = owned(options);
    for (json* answer : {&by_scenario, &by_options})
      answer->erase("scenario_sha256");  // asked in other words
    EXPECT_EQ(by_scenario, by_options) << scenario;
    EXPECT_NE(by_options, plain) << options;
  }
  const CommandResult told = podsim_command("own " + small_scenario() + " --set cluster.owned.years=8");
  EXPECT_EQ(told.err.find("no effect"), std::string::npos) << told.err;
}

TEST(OwnVerb, a_sheet_of_prices_takes_the_place_of_all_lists) {
  const std::string sheet =
      temporary_file("our_prices.csv", "chip,term,usd_per_chip_hour\nh100,on_demand,7\n");
  const json renting = owned("--prices " + sheet)["renting"];
  ASSERT_EQ(renting.size(), 1u) << renting;
  EXPECT_EQ(renting[0]["usd_per_chip_hour"], 7.0);
}

TEST(OwnVerb, the_price_of_owned_chips_is_called_so_once) {
  const CommandResult run =
      podsim_command("run " + small_scenario() + " --set cluster.price_term=owned --format json");
  EXPECT_EQ(json::parse(run.out)["price"], "owned") << run.err;
}

// A chip that nobody sells is owned for its factor times the price, and rented for that too.
TEST(OwnVerb, takes_the_factors_of_a_hypothetical_chip) {
  const json plain = owned(""), dear = owned("--hypothetical h100:price=2x"),
             hungry = owned("--hypothetical h100:power=2x");
  EXPECT_DOUBLE_EQ(dear["capital_usd_per_chip"], 2 * plain["capital_usd_per_chip"].get<double>());
  ASSERT_EQ(dear["renting"].size(), plain["renting"].size());
  EXPECT_DOUBLE_EQ(dear["renting"][0]["usd_per_chip_hour"],
                   2 * plain["renting"][0]["usd_per_chip_hour"].get<double>());
  EXPECT_EQ(hungry["capital_usd_per_chip"], plain["capital_usd_per_chip"]);
  EXPECT_EQ(hungry["renting"].size(), plain["renting"].size());
  const json step = json::parse(podsim_command("run " + small_scenario() +
                                               " --set cluster.price_term=owned --hypothetical "
                                               "h100:price=2x,power=2x --format json")
                                    .out);
  const json both = owned("--hypothetical h100:price=2x,power=2x");
  EXPECT_NEAR(step["cost_usd_per_hour"].get<double>(),
              both["usd_per_used_chip_hour"].get<double>() * both["chips"].get<double>(), 1e-9);
}

// The rent that the scenario states is the first that buying is held against.
TEST(OwnVerb, a_price_of_the_scenario_is_among_the_rents) {
  const json listed = owned("")["renting"];
  const json priced = owned("--set cluster.usd_per_chip_hour=50")["renting"];
  ASSERT_EQ(priced.size(), listed.size() + 1);
  EXPECT_EQ(priced[0]["term"], "own price");
  EXPECT_EQ(priced[0]["usd_per_chip_hour"], 50.0);
  ASSERT_FALSE(priced[0]["break_even_utilisation"].is_null());
  const double use = priced[0]["break_even_utilisation"];
  EXPECT_NEAR(owned("--utilisation " + std::to_string(use))["usd_per_used_chip_hour"], 50, 50 * 1e-4);
  EXPECT_EQ(priced[1], listed[0]);
}

}  // namespace
}  // namespace podsim::own_test
