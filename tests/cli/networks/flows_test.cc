// podsim flows, as a user runs it.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/cli/command.h"

namespace podsim::flows_test {
namespace {

using nlohmann::json;

const std::string kTwoJobs = "scenarios/flows/c11_leafspine64_two_jobs_ring.json";

std::string stopped_case() {
  return temporary_file("stopped.json", R"({"nodes": 2, "edges": [{"from": 0, "to": 1, "bytes_per_s": 0}],
    "flows": [{"src": 0, "dst": 1, "bytes": 1, "path": [0]}]})");
}

// The mean over flows that collide grows; what the file expects is for the ideal and is not compared.
TEST(FlowsVerb, a_transport_slows_flows_that_collide) {
  const std::string command = "flows --format json scenarios/flows/c04_leafspine64_perm_flowhash.json";
  const json ideal = json::parse(podsim_command(command).out);
  const json lossy = json::parse(podsim_command(command + " --transport rocev2").out);
  EXPECT_GT(lossy["mean_finish_s"], ideal["mean_finish_s"]);
  EXPECT_TRUE(ideal.contains("max_relative_error"));
  EXPECT_FALSE(lossy.contains("max_relative_error"));
}

TEST(FlowsVerb, the_table_has_makespan_error_links_and_jobs) {
  const CommandResult result = podsim_command("flows " + kTwoJobs);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  for (const char* part : {"c11_leafspine64_two_jobs_ring: 960 flows", "makespan us", "7244.125004",
                           "largest relative error", "utilisation", "job"})
    EXPECT_NE(result.out.find(part), std::string::npos) << part << "\n" << result.out;
  EXPECT_EQ(result.out.find("\nflow "), std::string::npos);
  EXPECT_NE(podsim_command("flows --flows " + kTwoJobs).out.find("\nflow "), std::string::npos);
}

TEST(FlowsVerb, json_has_every_flow_and_every_link) {
  const CommandResult result = podsim_command("flows --format json --convention first " + kTwoJobs);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json out = json::parse(result.out);
  EXPECT_EQ(out["name"], "c11_leafspine64_two_jobs_ring");
  EXPECT_EQ(out["convention"], "first");
  EXPECT_EQ(out["finish_s"].size(), 960u);
  EXPECT_EQ(out["links"].size(), 192u);
  EXPECT_EQ(out["jobs"].size(), 2u);
  EXPECT_LE(out["max_relative_error"].get<double>(), 1e-9);
  EXPECT_EQ(out["makespan_s"], out["jobs"][1]["finish_s"]);
  for (const char* key : {"edge", "from", "to", "bytes", "utilisation"})
    EXPECT_TRUE(out["links"][0].contains(key)) << key;
}

TEST(FlowsVerb, several_cases_make_a_list_and_csv_has_a_row_for_each_flow) {
  const std::string two = "scenarios/flows/c01_torus444_perm_dor.json " + kTwoJobs;
  EXPECT_EQ(json::parse(podsim_command("flows --format json " + two).out).size(), 2u);
  const std::string csv = podsim_command("flows --format csv " + two).out;
  EXPECT_EQ(csv.rfind("case,convention,flow,src,dst,bytes,start_s,finish_s\n", 0), 0u);
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + 64 + 960);
}

TEST(FlowsVerb, out_writes_the_same_bytes_to_a_file) {
  const std::string file = temporary_file("flows.csv", "");
  const std::string arguments = "flows --format csv " + kTwoJobs;
  ASSERT_EQ(podsim_command(arguments + " --out " + file).exit_code, 0);
  EXPECT_EQ(read_file(file), podsim_command(arguments).out);
}

TEST(FlowsVerb, mistakes_are_told_with_their_place_and_exit_code_2) {
  const CommandResult stopped = podsim_command("flows " + stopped_case());
  EXPECT_EQ(stopped.exit_code, 2);
  EXPECT_NE(stopped.err.find("flow 0 (0 -> 1) never finishes: edge 0 (0 -> 1) has no capacity"),
            std::string::npos)
      << stopped.err;
  const CommandResult typo =
      podsim_command("flows " + temporary_file("typo.json", "{\"nodes\": 1,\n\"edgs\": [], \"flows\": []}"));
  EXPECT_EQ(typo.exit_code, 2);
  EXPECT_NE(typo.err.find("typo.json:2:1: unknown key \"edgs\" in the case"), std::string::npos) << typo.err;
  EXPECT_NE(typo.err.find("did you mean \"edges\"?"), std::string::npos) << typo.err;
  EXPECT_EQ(typo.out, "");
  EXPECT_EQ(podsim_command("flows no_such_file.json").exit_code, 2);
  EXPECT_EQ(podsim_command("flows --convention before " + kTwoJobs).exit_code, 2);
}

}  // namespace
}  // namespace podsim::flows_test
