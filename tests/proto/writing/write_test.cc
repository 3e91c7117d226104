// Reports as JSON and text format.
#include "proto/writing/write.h"

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "proto/report.pb.h"
#include "report/figures/scaling_figures.h"
#include "report/pictures/step_detail.h"

namespace podsim::write_test {
namespace {

Report example() {
  Report report;
  report.scenario = "a \"quoted\" name";
  report.question = "How long?";
  report.chip = "h100";
  report.chips = 512;
  report.seed = UINT64_MAX;
  report.step_time = {8'065'590'107'908};
  report.band = StepTimeBand{{7'500'000'000'000}, {8'700'000'000'000}, "same chip", 12};
  report.ensemble = EnsembleReport{.seeds = 400,
                                   .shortest = {8'000'000'000'000},
                                   .longest = {8'300'000'000'000},
                                   .standard_deviation = {50'000'000'000},
                                   .coefficient_of_variation = 0.0062,
                                   .mean = {{8'060'000'000'000}, {8'070'000'000'000}},
                                   .p50 = ConfidenceInterval{{8'050'000'000'000}, {8'075'000'000'000}},
                                   .p99 = {}};
  report.compute = {6'502'342'731'291};
  report.exposed = {{"tensor", "all-gather", {468'459'459'528}}, {"data", "all-reduce", {1}}};
  report.exposed_communication = {468'459'459'529};
  report.pipeline_bubble = {1'078'583'915'625};
  report.optimizer = {16'204'001'459};
  report.straggler_delay = {-1};
  report.input_stall = {1};
  report.offload_wait = {1};
  report.skew_wait = {1};
  report.evaluation = {2};
  report.mfu_full = 0.1 + 0.2;
  report.memory.total = 62.25;
  report.memory.fits = true;
  report.link_use = {{"nic", 0.25, 0.5}};
  report.fault_costs = {{"chip 137 at speed 0.8", {250'000'000'000}}};
  report.slow_entries = {{"5% of hosts at speed 0.9", 2, 16, 0, {}}};
  report.slow_parties = {{"chip 137", 1.5, 0}};
  report.verdict = StragglerVerdict{1.25, "chip 137 at speed 0.8", 0.5, "agrees"};
  WhatIf& what_if = report.what_if.emplace();
  what_if.S.mean = 1.25;
  what_if.waste = 0.2;
  what_if.by_type = {{"forward-compute", {1.125, {}}, false}};
  what_if.by_data_rank = {{1.0625, {}}};
  what_if.by_stage = {{1.5, {}}};
  what_if.ranks_alike = {3};
  what_if.workers = {{0, 7, 0, 28, 3}};
  what_if.few_workers.gained = 0.75;
  what_if.culprits = {{what_if.workers[0], 1.0625}};
  what_if.likely_cause = "few workers";
  report.algorithms = {"tensor all-gather 64.0 MiB: ring"};
  report.scenario_sha256 = std::string(64, 'a');
  report.events = 1'000'000'000'000;
  return report;
}

// The picoseconds that a JSON number of seconds says, digit by digit.
std::int64_t picoseconds(const std::string& json, const std::string& key) {
  const std::size_t at = json.find("\"" + key + "\": ");
  EXPECT_NE(at, std::string::npos) << key;
  const std::size_t first = at + key.size() + 4;
  std::string digits = json.substr(first, json.find_first_of(",\n", first) - first);
  EXPECT_EQ(digits.size() - digits.find('.'), 13u) << digits;
  digits.erase(digits.find('.'), 1);
  return std::stoll(digits);
}

TEST(ReportJson, buckets_sum_to_the_step_time_in_the_decimals_as_printed) {
  const std::string json = report_json(example());
  const std::int64_t sum = picoseconds(json, "compute_s") + picoseconds(json, "total") +
                           picoseconds(json, "pipeline_bubble_s") + picoseconds(json, "straggler_delay_s") +
                           picoseconds(json, "optimizer_s") + picoseconds(json, "input_stall_s") +
                           picoseconds(json, "offload_wait_s") + picoseconds(json, "skew_wait_s") +
                           picoseconds(json, "evaluation_s");
  EXPECT_EQ(sum, picoseconds(json, "step_time_s"));
  EXPECT_NE(json.find("\"straggler_delay_s\": -0.000000000001,"), std::string::npos) << json;
}

TEST(ReportJson, has_the_documented_keys_in_their_order) {
  Report with_all = example();
  with_all.anchor.emplace().band_before.emplace();
  with_all.carbon.emplace();
  with_all.shapes.emplace();
  const StepDetail detail;
  const auto json = nlohmann::ordered_json::parse(report_json(with_all, &detail));
  std::ifstream in(std::string(PODSIM_SOURCE_DIR) + "/docs/reference/report.md");
  std::vector<std::string> documented;  // the first column of the first table: | `key` | ...
  bool table = false;
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("| `", 0) == 0) {
      table = true;
      documented.push_back(line.substr(3, line.find('`', 3) - 3));
    } else if (table) {
      break;
    }
  }
  std::vector<std::string> keys;
  for (const auto& [key, value] : json.items()) keys.push_back(key);
  for (const Figure& of_scale : scaling_figures({})) keys.push_back(of_scale.key);  // behind the report's own
  EXPECT_EQ(keys, documented);
}

TEST(ReportJson, reads_back_with_the_same_values) {
  const auto json = nlohmann::json::parse(report_json(example()));
  EXPECT_EQ(json["scenario"], "a \"quoted\" name");
  EXPECT_EQ(json["seed"], UINT64_MAX);
  EXPECT_EQ(json["mfu_full"], 0.1 + 0.2);
  EXPECT_EQ(json["step_time_low_s"], 7.5);
  EXPECT_EQ(json["step_time_band"], "same chip");
  EXPECT_EQ(json["exposed_communication_s"]["by"][1]["kind"], "all-reduce");
  EXPECT_EQ(json["ensemble"]["seeds"], 400);
  EXPECT_EQ(json["ensemble"]["mean_high_s"], 8.07);
  EXPECT_EQ(json["ensemble"]["p50_low_s"], 8.05);
  EXPECT_TRUE(json["ensemble"]["p99_low_s"].is_null());
  EXPECT_EQ(json["memory_per_chip_gib"]["total"], 62.25);
  EXPECT_EQ(json["fits"], true);
  EXPECT_EQ(json["link_utilisation"]["nic"]["max"], 0.5);
  EXPECT_EQ(json["fault_costs"][0]["what"], "chip 137 at speed 0.8");
  EXPECT_EQ(json["fault_costs"][0]["cost_s"], 0.25);
  EXPECT_EQ(json["slow_parties"][0]["who"], "chip 137");
  EXPECT_EQ(json["verdict"]["S"], 1.25);
  EXPECT_EQ(json["verdict"]["cause"], "chip 137 at speed 0.8");
  EXPECT_EQ(json["verdict"]["share"], 0.5);
  EXPECT_EQ(json["verdict"]["replay"], "agrees");
  const auto& what_if = json["what_if"];
  EXPECT_EQ(what_if["S"], 1.25);
  EXPECT_EQ(what_if["M_W"], 0.75);
  EXPECT_TRUE(what_if["M_S"].is_null());
  EXPECT_EQ(what_if["S_by_optype"]["forward-compute"], 1.125);
  EXPECT_EQ(what_if["S_by_dp_rank"]["7"], 1.0625);
  EXPECT_EQ(what_if["dp_ranks_alike"]["7"], 3);
  EXPECT_EQ(what_if["S_by_stage"]["0"], 1.5);
  EXPECT_EQ(what_if["culprits"][0]["rank"], 28);
  EXPECT_EQ(json["events"], 1'000'000'000'000);
}

TEST(ReportJson, is_valid_whatever_the_numbers_and_names) {
  Report report = example();
  report.scenario = "\xff\xfe\n\t";
  report.mfu_full = std::numeric_limits<double>::quiet_NaN();
  report.band.reset();
  report.ensemble.reset();
  report.exposed.clear();
  report.algorithms.clear();
  const auto json = nlohmann::json::parse(report_json(report));
  EXPECT_TRUE(json["mfu_full"].is_null());
  EXPECT_TRUE(json["step_time_high_s"].is_null());
  EXPECT_FALSE(json.contains("ensemble"));
  EXPECT_TRUE(json["exposed_communication_s"]["by"].empty());
}

TEST(ReportTextproto, reads_back_with_the_same_values) {
  schema::RunReport report;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(report_textproto(example()), &report));
  EXPECT_EQ(report.scenario(), "a \"quoted\" name");
  EXPECT_EQ(report.step_time_ps(), 8'065'590'107'908);
  EXPECT_EQ(report.step_time_high_ps(), 8'700'000'000'000);
  EXPECT_EQ(report.step_time_band_rows(), 12);
  EXPECT_EQ(report.ensemble().mean_low_ps(), 8'060'000'000'000);
  EXPECT_EQ(report.ensemble().p50_high_ps(), 8'075'000'000'000);
  EXPECT_FALSE(report.ensemble().has_p99_low_ps());
  EXPECT_EQ(report.exposed(1).time_ps(), 1);
  EXPECT_EQ(report.mfu_full(), 0.1 + 0.2);
  EXPECT_EQ(report.memory().total_gib(), 62.25);
  EXPECT_EQ(report.link_utilisation(0).kind(), "nic");
  EXPECT_EQ(report.seed(), UINT64_MAX);
}

}  // namespace
}  // namespace podsim::write_test
