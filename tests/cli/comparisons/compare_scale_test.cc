// Several predictions beside each other: compare and scale, as a user runs them.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/cli/command.h"

namespace podsim::compare_scale_test {
namespace {

using nlohmann::json;

TEST(CompareVerb, puts_scenarios_side_by_side_and_says_why) {
  const std::string file = small_scenario();
  const CommandResult result = podsim_command("compare " + file + " scenarios/llama3_70b_512_h100.textproto");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("tokens/s per chip"), std::string::npos);
  EXPECT_NE(result.out.find("The difference lies most in"), std::string::npos);
}

// The small scenario under the name of its file, with something more in its cluster.
std::string small_named(const std::string& name, const std::string& in_cluster, const std::string& after) {
  std::string text = read_file(small_scenario());
  text.erase(0, text.find('\n') + 1);
  const std::string fabric = "fabric: \"dgx_h100\"";
  text.insert(text.find(fabric) + fabric.size(), in_cluster);
  return temporary_file(name, text + after);
}

TEST(CompareVerb, says_that_of_padded_documents_the_longest_shape_stands_here) {
  const std::string padded = " --set job.lengths=long_tail_32k --set job.shapes.bucket_tokens=1024";
  const std::string warned = "small pads its documents: its step here is that of the longest shape";
  EXPECT_NE(podsim_command("compare " + small_scenario() + " " + small_scenario() + padded).err.find(warned),
            std::string::npos);
  EXPECT_NE(podsim_command("scale --chips 16,32 " + small_scenario() + padded).err.find(warned),
            std::string::npos);
  EXPECT_EQ(podsim_command("compare " + small_scenario() + " " + small_scenario()).err.find(warned),
            std::string::npos);
}

// A block reliability beside a job is read with --weeks: medians and ranges of days, dollars and energy.
TEST(CompareVerb, weeks_stand_side_by_side_and_are_named_where_steps_are_compared) {
  const std::string weeks =
      "reliability { target_tokens: 1e11 failures: \"rsc1\" checkpoint { save_s: 30 } }\n";
  const std::string file = small_named("weeks_a.textproto", "", weeks);
  const CommandResult steps = podsim_command("compare " + file + " " + small_scenario());
  EXPECT_NE(steps.err.find("weeks_a has a block reliability"), std::string::npos) << steps.err;
  EXPECT_EQ(podsim_command("compare " + small_scenario() + " " + small_scenario()).err.find("--weeks"),
            std::string::npos);

  const std::string twice = small_named("weeks_b.textproto", " usd_per_chip_hour: 100", weeks);
  const std::string command = "compare " + file + " " + twice + " --weeks --seeds 20";
  const CommandResult beside = podsim_command(command);
  ASSERT_EQ(beside.exit_code, 0) << beside.err;
  for (const char* part :
       {"weeks_a", "weeks_b", "ratio", "ETTR", "days", "USD", "MWh", "the error of the step"})
    EXPECT_NE(beside.out.find(part), std::string::npos) << part << "\n" << beside.out;
  const json reports = json::parse(podsim_command(command + " --format json").out);
  ASSERT_EQ(reports.size(), 2u);
  const auto of = [&](int report, const char* figure) {
    return reports[report]["event_simulation"][figure]["p50"].get<double>();
  };
  EXPECT_EQ(of(0, "days"), of(1, "days"));
  EXPECT_NEAR(of(1, "cost_usd") / of(0, "cost_usd"),
              100 / reports[0]["event_simulation"]["bill"]["usd_per_chip_hour"].get<double>(), 1e-6);
  EXPECT_EQ(podsim_command("compare " + file + " --weeks").exit_code, 2);
  EXPECT_EQ(podsim_command(command + " --equal chips").exit_code, 2);
}

// GPU stacks wait for the slowest host by a fitted number, slices of a TPU do not: the comparison says so.
TEST(CompareVerb, says_where_only_one_side_waits_for_its_slowest_host) {
  const std::string command =
      "compare scenarios/llama3_70b_512_h100.textproto scenarios/llama3_70b_512_v5p.textproto";
  const std::string told = "skew_per_doubling of the stack";
  EXPECT_NE(podsim_command(command).err.find(told), std::string::npos);
  EXPECT_EQ(podsim_command(command + " --set job.stack_override.skew_per_doubling=0").err.find(told),
            std::string::npos);
}

TEST(ScaleVerb, several_files_stand_in_one_table_and_each_is_held_against_its_own_first_size) {
  const std::string other = small_named("other_job.textproto", "", "");
  const std::string command = "scale " + small_scenario() + " " + other + " --chips 16,32 --tokens 1e10 ";
  const CommandResult table = podsim_command(command);
  ASSERT_EQ(table.exit_code, 0) << table.err;
  for (const char* heading : {"scenario", "other_job", "kW", "J/token", "days", "MWh", "USD", "8 of 10"})
    EXPECT_NE(table.out.find(heading), std::string::npos) << heading << "\n" << table.out;
  const json rows = json::parse(podsim_command(command + "--format json").out);
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[2]["scaling_efficiency"], 1.0);
  EXPECT_EQ(rows[1]["scaling_efficiency"], rows[3]["scaling_efficiency"]);
  EXPECT_EQ(rows[1]["whole_run"]["cost_usd"], rows[3]["whole_run"]["cost_usd"]);
}

// A commitment is paid to its end by scale as by plan, however soon the tokens are trained.
TEST(ScaleVerb, a_whole_run_pays_all_of_its_minimum_term) {
  const std::string command = "scale " + small_scenario() + " --chips 16,32 --tokens 1e10 --format json";
  const json hourly = json::parse(podsim_command(command).out);
  const json term = json::parse(podsim_command(command + " --set cluster.price_term=committed_1y").out);
  for (std::size_t i = 0; i < 2; ++i) {
    const double chips = term[i]["chips"], per_hour = term[i]["cost_usd_per_hour"];
    EXPECT_NEAR(term[i]["whole_run"]["cost_usd"].get<double>(), per_hour * 24 * 365, 1e-6 * chips);
    EXPECT_NEAR(
        hourly[i]["whole_run"]["cost_usd"].get<double>(),
        hourly[i]["cost_usd_per_hour"].get<double>() * 24 * hourly[i]["whole_run"]["days"].get<double>(),
        1e-6);
  }
}

TEST(ScaleVerb, weak_scaling_keeps_the_batch_per_chip) {
  const CommandResult result = podsim_command("scale --format json --chips 16..64x2 " + small_scenario());
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json rows = json::parse(result.out);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0]["scaling_efficiency"], 1.0);
  EXPECT_EQ(rows[2]["chips"], 64);
  EXPECT_EQ(rows[2]["tokens_per_step"], 4 * 32 * 4096);
}

TEST(ScaleVerb, strong_scaling_keeps_the_global_batch) {
  const CommandResult result =
      podsim_command("scale --strong --format json --chips 16,32 " + small_scenario());
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(json::parse(result.out)[1]["tokens_per_step"], 32 * 4096);
}

TEST(ScaleVerb, weak_and_strong_scaling_stand_beside_each_other) {
  const std::string command = "scale " + small_scenario() + " --chips 16,32 --quiet ";
  const json both = json::parse(podsim_command(command + "--weak --strong --format json").out);
  const json weak = json::parse(podsim_command(command + "--weak --format json").out);
  const json strong = json::parse(podsim_command(command + "--strong --format json").out);
  ASSERT_EQ(both.size(), 4u);
  for (const std::size_t i : {0u, 1u}) {
    EXPECT_EQ(both[i], weak[i]);
    EXPECT_EQ(both[i + 2], strong[i]) << "efficiency is to the first of the same way";
  }
  EXPECT_EQ(both[1]["scaling"], "weak");
  EXPECT_EQ(both[3]["scaling"], "strong");
  const std::string table = podsim_command(command + "--weak --strong").out;
  EXPECT_NE(table.find("weak: From 16 to 32 chips"), std::string::npos) << table;
  EXPECT_NE(table.find("strong: From 16 to 32 chips"), std::string::npos);
  const std::string csv = podsim_command(command + "--weak --strong --format csv").out;
  EXPECT_TRUE(csv.starts_with("scaling,")) << csv;
  EXPECT_NE(csv.find("\nstrong,"), std::string::npos);
}

TEST(ScaleVerb, batches_beyond_the_critical_one_take_more_tokens_by_a_number_or_a_law) {
  const std::string command = "scale --format json --tokens 1e12 --chips 16,32 " + small_scenario();
  const auto ratio = [&](const std::string& critical) {
    const CommandResult result = podsim_command(command + " --critical-batch " + critical);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    const json rows = json::parse(result.out);
    const double batch = rows[0]["tokens_per_step"];
    EXPECT_EQ(rows[1]["tokens_per_step"], 2 * batch);
    return rows[1]["whole_run"]["tokens"].get<double>() / rows[0]["whole_run"]["tokens"].get<double>();
  };
  const double batch = 32 * 4096;
  EXPECT_NEAR(ratio("131072"), (131072 + 2 * batch) / (131072 + batch), 1e-9);
  for (const char* law : {"kaplan", "deepseek"}) {
    EXPECT_GT(ratio(law), 1) << law;
    EXPECT_LT(ratio(law), 1.2) << law;
  }
  const CommandResult wrong = podsim_command(command + " --critical-batch keplan");
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_NE(wrong.err.find("kaplan or deepseek"), std::string::npos) << wrong.err;
}

TEST(ScaleVerb, slices_keep_their_shape_and_join_over_the_dcn) {
  const CommandResult result =
      podsim_command("scale --format json --slices 1..4x2 tests/golden/two_slices_32_v5e.scenario.textproto");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json rows = json::parse(result.out);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0]["chips"], 16);
  EXPECT_EQ(rows[2]["chips"], 64);
  EXPECT_LT(rows[2]["scaling_efficiency"], rows[1]["scaling_efficiency"]);
}

TEST(ScaleVerb, takes_chips_or_slices) {
  EXPECT_EQ(podsim_command("scale " + small_scenario()).exit_code, 2);
  EXPECT_EQ(podsim_command("scale --chips 16 --slices 2 " + small_scenario()).exit_code, 2);
}

TEST(ScaleVerb, counts_that_the_job_cannot_have_are_told_and_left_out) {
  const CommandResult result = podsim_command("scale --chips 16,17,32 " + small_scenario());
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.err.find("17"), std::string::npos);
}

// Steps of 24 days, over NICs that carry next to nothing.
const char* const kEndless = R"(
cluster { chip: "h100" chips: 16 fabric: "dgx_h100"
  fabric_override { gpu_cluster { nic { bandwidth_gb_per_s: 0.01 efficiency: 0.001 } } } }
job {
  model: "llama3_8b" model_override { layers: 4 }
  stack: "megatron_bridge_2025"
  mesh { name: "fsdp" size: 16 } sharding: "fsdp"
  global_batch_sequences: 512 microbatch_sequences: 1 sequence_tokens: 2048
}
)";

TEST(TooLong, one_of_several_is_left_out_with_its_reason) {
  const std::string file = temporary_file("endless.textproto", kEndless);
  const std::string path = "cluster.fabric_override.gpu_cluster.nic.bandwidth_gb_per_s";
  for (const std::string& command :
       {"sweep " + file + " --over " + path + "=0.01,50", "run " + file + " --set " + path + "=0.01,50",
        "compare " + file + " --set " + path + "=50", "scale " + file + " --chips 8,16"}) {
    const CommandResult result = podsim_command(command + " --format csv");
    EXPECT_EQ(result.exit_code, 0) << command << "\n" << result.err;
    EXPECT_NE(result.err.find(" is left out: a step may take "), std::string::npos) << result.err;
    EXPECT_EQ(std::ranges::count(result.out, '\n'), 2) << command << "\n" << result.out;
  }
  for (const std::string& command : {"run " + file, "scale " + file + " --chips 16,32"}) {
    const CommandResult none = podsim_command(command);
    EXPECT_EQ(none.exit_code, 2) << command;
    EXPECT_NE(none.err.find("on 16 chips: a step may take "), std::string::npos) << none.err;
  }
}

TEST(TooLong, layouts_are_listed_by_search_and_plan) {
  const std::string space =
      "space { tensor: 1 context: 1 pipeline: [1, 2] microbatch: 1 sharding: [zero1, fsdp] recompute: none }";
  const std::string file = temporary_file("searched.textproto", kEndless + space);
  const CommandResult found = podsim_command("search " + file);
  EXPECT_EQ(found.exit_code, 0) << found.err;
  EXPECT_NE(found.out.find("Refused: data 16 fsdp, microbatch 1: a step may take "), std::string::npos)
      << found.out;
  EXPECT_NE(found.out.find("No other layout is faster."), std::string::npos) << found.out;
  const CommandResult why = podsim_command("search " + file + " --why-not pipeline=1,sharding=fsdp");
  EXPECT_NE(why.out.find("cannot be simulated: a step may take"), std::string::npos) << why.out << why.err;
  const std::string endless = file + " --set space.pipeline=1 --set space.sharding=fsdp";
  EXPECT_EQ(podsim_command("search " + endless).exit_code, 2);
  const CommandResult plan = podsim_command("plan " + endless + " --chips 8,16 --tokens 1e9");
  EXPECT_EQ(plan.exit_code, 0) << plan.err;
  EXPECT_NE(plan.out.find("no layout that fits can be simulated: data 16 fsdp"), std::string::npos)
      << plan.out;
}

}  // namespace
}  // namespace podsim::compare_scale_test
