// What scale says of a whole run: by all shapes of padded documents, and in every format.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/command.h"
#include "tests/cli/plan/plan_job.h"
#include "tests/text_lines.h"

namespace podsim::whole_run_test {
namespace {

using nlohmann::json;
using testing::lines_of;

const std::string kPadded =
    "cluster { chip: \"h100\" chips: 16 fabric: \"dgx_h100\" }\n"
    "job { model: \"llama3_8b\" stack: \"generic_eager\" mesh { name: \"data\" size: 16 } sharding: "
    "\"fsdp\"\n"
    "  sharding: \"zero3\" global_batch_sequences: 32 microbatch_sequences: 1 sequence_tokens: 4096\n"
    "  precision: bf16 lengths: \"long_tail_32k\" shapes { bucket_tokens: [1024, 2048] } }\n";

TEST(WholeRun, of_padded_documents_takes_the_days_of_all_shapes) {
  const std::string file = temporary_file("padded.textproto", kPadded);
  const json sizes =
      json::parse(podsim_command("scale " + file + " --chips 16 --tokens 1e10 --format json --quiet").out);
  const json& report = sizes.is_array() ? sizes[0] : sizes;
  const double days = report["whole_run"]["days"];
  EXPECT_NEAR(days, 1e10 / report["shapes"]["tokens_per_s"].get<double>() / 86400, 1e-9 * days);
  const json fleet =
      json::parse(podsim_command("fleet " + file + " --tokens 1e10 --format json --quiet").out)["fleets"][0];
  EXPECT_NEAR(fleet["runs"][0]["end_day"].get<double>(), days, 1e-9 * days);
  EXPECT_NEAR(fleet["on_demand_usd"].get<double>(), report["whole_run"]["cost_usd"].get<double>(), 1e-3);
}

// Days, energy and dollars of 1e10 tokens in which nothing fails, to the last digit.
TEST(WholeRun, of_one_job_is_the_same_by_plan_scale_and_fleet) {
  std::string text = kPlanJob;
  text.insert(text.find('}'), "usd_per_kwh: 0.3 ");
  const std::string row = temporary_file("row.textproto", "");
  const std::string asked = " --tokens 1e10 --quiet --format json";
  const CommandResult planned = podsim_command("plan " + temporary_file("paid.textproto", text) +
                                               " --chips 16 --set space.tensor=1 --out " + row + asked);
  ASSERT_EQ(planned.exit_code, 0) << planned.err;
  const json plan = json::parse(planned.out)["rows"][0];
  const json scaled = json::parse(podsim_command("scale " + row + " --chips 16" + asked).out);
  const json& scale = (scaled.is_array() ? scaled[0] : scaled)["whole_run"];
  const json fleet = json::parse(podsim_command("fleet " + row + asked).out)["fleets"][0];
  EXPECT_EQ(scale["days"], plan["days"]);
  EXPECT_EQ(scale["days"], fleet["runs"][0]["end_day"]);
  EXPECT_EQ(scale["energy_mwh"], plan["energy_mwh"]);
  EXPECT_EQ(scale["cost_usd"], plan["cost_usd"]);
  EXPECT_EQ(scale["cost_usd"], fleet["on_demand_usd"]);
  EXPECT_EQ(scale["energy_mwh"].get<double>() * 1e3 * 0.3, fleet["energy_usd"].get<double>());
}

TEST(WholeRun, verbs_that_compare_padded_documents_say_whose_step_it_is) {
  const std::string file = temporary_file("padded.textproto", kPadded);
  for (const std::string& words :
       {"sweep " + file + " --over job.recompute=none", "whatif " + file + " --slow chip:3=0.9x",
        "sensitivity " + file + " --vary cluster.usd_per_chip_hour=1..2",
        "breakeven " + file + " " + small_scenario() + " --over cluster.usd_per_chip_hour=0.01..100"}) {
    const CommandResult result = podsim_command(words);
    EXPECT_NE(result.err.find("longest shape"), std::string::npos) << words << result.err;
  }
}

TEST(WholeRun, of_owned_chips_counts_tokens_of_all_shapes) {
  const std::string file = temporary_file("padded.textproto", kPadded);
  const json own = json::parse(podsim_command("own " + file + " --format json --quiet").out);
  const json run = json::parse(podsim_command("run " + file + " --format json --quiet").out);
  const double watts = own["power_kw"].get<double>() * 1e3;
  EXPECT_NEAR(own["tokens_per_j"].get<double>(), run["shapes"]["tokens_per_s"].get<double>() / watts,
              1e-9 * own["tokens_per_j"].get<double>());
}

// The keys of JSON are columns of CSV and fields of the text format.
TEST(WholeRun, stands_in_every_format) {
  const std::string words = "scale " + small_scenario() + " --chips 16,32 --tokens 1e10 --quiet --format ";
  const json sizes = json::parse(podsim_command(words + "json").out);
  const std::string csv = podsim_command(words + "csv").out, text = podsim_command(words + "textproto").out;
  for (const char* column :
       {"scaling", "scaling_efficiency", "microbatches", "pipeline_stages", "sequences_per_chip",
        "whole_run.tokens", "whole_run.days", "whole_run.energy_mwh", "whole_run.cost_usd"})
    EXPECT_NE(lines_of(csv)[0].find(std::string(",") + column), std::string::npos) << column;
  std::size_t at = 0;
  for (const json& size : sizes) {
    const json& days = size["whole_run"]["days"];
    EXPECT_NE(csv.find(days.dump()), std::string::npos) << days;
    at = text.find("  days: ", at);
    ASSERT_NE(at, std::string::npos) << text;
    at += std::string("  days: ").size();
    EXPECT_EQ(std::stod(text.substr(at)), days.get<double>());
  }
  EXPECT_NE(text.find("scaling: \"weak\""), std::string::npos) << text;
  EXPECT_NE(text.find("scaling_efficiency: 1\n"), std::string::npos) << text;
}

TEST(WholeRun, of_another_critical_batch_is_another_one_in_every_format) {
  for (const std::string format : {"csv", "textproto", "json"}) {
    const std::string words =
        "scale " + small_scenario() + " --chips 16,32 --tokens 1e10 --quiet --format " + format;
    EXPECT_NE(podsim_command(words).out, podsim_command(words + " --critical-batch 1e6").out) << format;
  }
}

TEST(WholeRun, weak_and_strong_rows_are_told_apart_in_text) {
  const std::string text = podsim_command("scale " + small_scenario() +
                                          " --chips 16,32 --weak --strong --quiet --format textproto")
                               .out;
  EXPECT_NE(text.find("scaling: \"weak\""), std::string::npos) << text;
  EXPECT_NE(text.find("scaling: \"strong\""), std::string::npos) << text;
}

// A minimum term of 100 days is paid, and nobody is told that it has no effect.
TEST(WholeRun, has_the_contract_of_its_chips) {
  const std::string asked = "scale " + small_scenario() +
                            " --chips 16 --set cluster.usd_per_chip_hour=2 --set "
                            "cluster.contract.kind=commitment --set cluster.contract.minimum_days=100";
  const CommandResult whole = podsim_command(asked + " --tokens 1e9 --format json");
  ASSERT_EQ(whole.exit_code, 0) << whole.err;
  EXPECT_EQ(whole.err.find("cluster.contract has no effect"), std::string::npos) << whole.err;
  const json scaled = json::parse(whole.out);
  EXPECT_NEAR((scaled.is_array() ? scaled[0] : scaled)["whole_run"]["cost_usd"].get<double>(),
              16 * 100 * 24 * 2.0, 1e-6);
  EXPECT_NE(podsim_command(asked + " --format json").err.find("cluster.contract has no effect"),
            std::string::npos);
}

}  // namespace
}  // namespace podsim::whole_run_test
