// podsim plan: what a scenario says of its own chip and its own contract is of no other, and what is equal
// has equal chances.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/command.h"
#include "tests/cli/plan/plan_job.h"

namespace podsim::plan_prices_test {
namespace {

// The job with more said of its cluster.
std::string job_with(const std::string& cluster) {
  std::string job = kPlanJob;
  return job.insert(job.find("chip:"), cluster + " ");
}

// Rows by "CHIP CONTRACT", and what is told beside them.
struct Planned {
  std::map<std::string, nlohmann::json> rows;
  std::string out, err;
};
Planned planned(const std::string& job, const std::string& options) {
  const CommandResult plan = podsim_command("plan " + temporary_file("prices.textproto", job) +
                                            " --tokens 1e10 --chips 8 --format json " + options);
  EXPECT_EQ(plan.exit_code, 0) << plan.err;
  Planned result{{}, plan.out, plan.err};
  const nlohmann::json answer = nlohmann::json::parse(plan.out);
  for (const nlohmann::json& row : answer["rows"])
    result.rows[row["chip"].get<std::string>() + " " + row["price_term"].get<std::string>()] = row;
  return result;
}

TEST(PlanPrices, of_the_chip_of_the_scenario_are_those_of_no_other) {
  const std::string chips = "--chip h100,h200";
  const Planned listed = planned(job_with("grid: \"us\""), chips),
                own = planned(job_with("grid: \"us\" usd_per_chip_hour: 1 contract { minimum_days: 1 } "
                                       "embodied_kg: 1000 chip_override { power_busy_w: 500 }"),
                              chips);
  const nlohmann::json &h200 = own.rows.at("h200 on_demand"), &h100 = own.rows.at("h100 on_demand");
  for (const char* figure : {"cost_usd", "carbon_t", "power_kw", "days"})
    EXPECT_EQ(h200[figure], listed.rows.at("h200 on_demand")[figure]) << figure;
  EXPECT_NE(h100["cost_usd"], listed.rows.at("h100 on_demand")["cost_usd"]);
  EXPECT_NE(h100["carbon_t"], listed.rows.at("h100 on_demand")["carbon_t"]);
  for (const char* field : {"contract", "usd_per_chip_hour", "embodied_kg", "chip_override"})
    EXPECT_NE(own.err.find("cluster." + std::string(field) + " is of h100, and left out for h200"),
              std::string::npos)
        << own.err;
  EXPECT_EQ(own.err.find("left out for h100"), std::string::npos) << own.err;
}

TEST(PlanPrices, of_a_choice_on_another_chip_and_fabric_are_those_of_the_list) {
  const std::string choice = "plan { choice { chip: \"h200\" fabric: \"dgx_h200\" chips: \"8\" } }";
  const Planned listed = planned(kPlanJob + choice, ""),
                own = planned(job_with("usd_per_chip_hour: 1") + choice, "");
  EXPECT_EQ(own.rows.at("h200 on_demand")["cost_usd"], listed.rows.at("h200 on_demand")["cost_usd"]);
}

TEST(PlanPrices, of_ones_own_are_of_one_contract_of_rented_chips) {
  const std::string terms = "--price-term on_demand,owned,committed_1y";
  const Planned listed = planned(kPlanJob, terms), own = planned(job_with("usd_per_chip_hour: 1"), terms);
  EXPECT_EQ(own.rows.size(), 2U);
  EXPECT_EQ(own.rows.at("h100 owned")["cost_usd"], listed.rows.at("h100 owned")["cost_usd"]);
  EXPECT_LT(own.rows.at("h100 on_demand")["cost_usd"], listed.rows.at("h100 on_demand")["cost_usd"]);
  EXPECT_NE(own.out.find("cluster.usd_per_chip_hour is the price of one contract, here of on_demand"),
            std::string::npos)
      << own.out;
  EXPECT_NE(own.err.find("left out for those that are owned"), std::string::npos) << own.err;
  const Planned alone = planned(job_with("usd_per_chip_hour: 1"), "--price-term committed_1y");
  EXPECT_EQ(alone.rows.count("h100 committed_1y"), 1U);
}

TEST(PlanPrices, are_of_the_contract_that_the_cluster_names_where_nobody_says_another) {
  const std::string job = job_with("price_term: \"committed_1y\"");
  const Planned named = planned(job, "");
  EXPECT_EQ(named.rows.size(), 1U);
  EXPECT_EQ(named.rows.at("h100 committed_1y")["cost_usd"],
            planned(kPlanJob, "--price-term committed_1y").rows.at("h100 committed_1y")["cost_usd"]);
  EXPECT_EQ(planned(job, "--price-term on_demand").rows.count("h100 on_demand"), 1U);
}

// Under all contracts a run is done on the same day: which is best is told by the dollars, in any order.
TEST(PlanPrices, decide_among_rows_that_are_done_on_the_same_day_whatever_their_order) {
  for (const char* objective : {"days", "chips", "days,usd"}) {
    const std::string minimise = std::string(" --minimise ") + objective;
    const Planned one = planned(kPlanJob, "--chip h100,h200 --price-term on_demand,owned" + minimise),
                  other = planned(kPlanJob, "--chip h200,h100 --price-term owned,on_demand" + minimise);
    ASSERT_EQ(one.rows.size(), 4U);
    double sum = 0;
    for (const auto& [name, row] : one.rows) {
      EXPECT_EQ(row["outcome"]["best"], other.rows.at(name)["outcome"]["best"]) << objective << " " << name;
      sum += row["outcome"]["best"].get<double>();
    }
    EXPECT_NEAR(sum, 1, 1e-9);
    const auto first = nlohmann::json::parse(one.out)["rows"][0];
    EXPECT_GT(first["outcome"]["best"].get<double>(), 0.2) << objective;
  }
}

TEST(PlanBatches, that_divide_over_no_layout_are_told_with_the_nearest_that_do) {
  const CommandResult refused = podsim_command("plan " + temporary_file("batch.textproto", kPlanJob) +
                                               " --tokens 1e10 --chips 6 --set space.tensor=1");
  EXPECT_EQ(refused.exit_code, 3);
  EXPECT_NE(refused.err.find("a batch of 16 sequences comes out even on no layout of the space that makes 6 "
                             "chips; 12 or 18 would"),
            std::string::npos)
      << refused.err;
  const CommandResult none = podsim_command("plan " + temporary_file("batch.textproto", kPlanJob) +
                                            " --tokens 1e10 --chips 6 --set space.tensor=4");
  EXPECT_NE(none.err.find("no layout of the space makes 6 chips"), std::string::npos) << none.err;
}

}  // namespace
}  // namespace podsim::plan_prices_test
