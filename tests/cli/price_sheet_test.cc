// --prices beside other options: a sheet of one's own takes the place of the list whatever else is set.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/command.h"
#include "tests/cli/plan/plan_job.h"

namespace podsim::price_sheet_test {
namespace {

using nlohmann::json;

std::string sheet() {
  return temporary_file("our_prices.csv", "chip,term,usd_per_chip_hour\nh100,on_demand,7\n");
}

TEST(PriceSheet, holds_beside_fields_that_are_set) {
  for (const char* set : {"", " --set job.sequence_tokens=1024", " --set seed=3 --set job.recompute=full"}) {
    const CommandResult result =
        podsim_command("run " + small_scenario() + " --format json --prices " + sheet() + set);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_DOUBLE_EQ(json::parse(result.out)["cost_usd_per_hour"].get<double>(), 7.0 * 16) << set;
  }
  const CommandResult planned =
      podsim_command("plan " + temporary_file("plan.textproto", kPlanJob) +
                     " --tokens 1e9 --chips 8 --prices " + sheet() + " --set space.tensor=1 --format json");
  ASSERT_EQ(planned.exit_code, 0) << planned.err;
  const json row = json::parse(planned.out)["rows"][0];
  EXPECT_NEAR(row["cost_usd"].get<double>(), row["days"].get<double>() * 24 * 8 * 7, 1e-6);
}

TEST(PriceSheet, and_another_list_are_refused_together) {
  const CommandResult result =
      podsim_command("run " + small_scenario() + " --prices " + sheet() + " --set cluster.prices=list_2026");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("two lists of prices"), std::string::npos) << result.err;
}

TEST(PriceSheet, whose_name_has_a_comma_is_one_list_and_refused) {
  const std::string named =
      temporary_file("ours,theirs.csv", "chip,term,usd_per_chip_hour\nh100,on_demand,7\n");
  const CommandResult result = podsim_command("run " + small_scenario() + " --prices '" + named + "'");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("whose name has no comma"), std::string::npos) << result.err;
}

TEST(PriceSheet, is_what_compare_changes_where_nothing_is_set) {
  const CommandResult result =
      podsim_command("compare " + small_scenario() + " --format json --prices " + sheet());
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json both = json::parse(result.out);
  ASSERT_EQ(both.size(), 2u);
  EXPECT_NE(both[0]["cost_usd_per_hour"].get<double>(), 112);
  EXPECT_DOUBLE_EQ(both[1]["cost_usd_per_hour"].get<double>(), 112);
}

TEST(PriceSheet, whose_prices_say_no_region_is_told_to_say_none) {
  const CommandResult result =
      podsim_command("run " + small_scenario() + " --set cluster.region=us --prices " + sheet());
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("its prices say no region"), std::string::npos) << result.err;
  EXPECT_EQ(result.err.find(": ,"), std::string::npos) << result.err;
}

CommandResult run_with_sheet(const std::string& rows) {
  const std::string file = temporary_file("rows.csv",
                                          "chip,term,usd_per_chip_hour,low_usd_per_chip_hour,"
                                          "high_usd_per_chip_hour\n" +
                                              rows);
  return podsim_command("run " + small_scenario() + " --format json --prices " + file);
}

TEST(PriceSheet, calls_chips_by_any_of_their_names_and_is_told_of_one_that_is_misspelt) {
  const CommandResult capital = run_with_sheet("H100,on_demand,7,,\n");
  ASSERT_EQ(capital.exit_code, 0) << capital.err;
  EXPECT_DOUBLE_EQ(json::parse(capital.out)["cost_usd_per_hour"].get<double>(), 7.0 * 16);
  const CommandResult misspelt = run_with_sheet("h100,on_demand,7,,\nh100s,on_demand,9,,\n");
  EXPECT_EQ(misspelt.exit_code, 2);
  EXPECT_NE(misspelt.err.find(":3:1: there is no chip \"h100s\""), std::string::npos) << misspelt.err;
  EXPECT_NE(misspelt.err.find("did you mean \"h100\"?"), std::string::npos) << misspelt.err;
}

TEST(PriceSheet, whose_lowest_price_is_above_its_highest_is_refused_at_the_cell) {
  const CommandResult result = run_with_sheet("h100,on_demand,7,9,5\n");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find(":2:18: the lowest price is above the highest"), std::string::npos) << result.err;
}

TEST(PriceSheet, has_no_row_that_is_never_used) {
  const CommandResult owned = run_with_sheet("h100,on_demand,3,,\nh100,owned,1,,\n");
  EXPECT_EQ(owned.exit_code, 2);
  EXPECT_NE(owned.err.find(":3:6: an hour of owned chips is reckoned"), std::string::npos) << owned.err;
  const CommandResult twice = run_with_sheet("h100,on_demand,1,,\nH100,on_demand,2,,\n");
  EXPECT_EQ(twice.exit_code, 2);
  EXPECT_NE(twice.err.find(":3:1: there is a price of this chip, term, provider and region before"),
            std::string::npos)
      << twice.err;
}

}  // namespace
}  // namespace podsim::price_sheet_test
