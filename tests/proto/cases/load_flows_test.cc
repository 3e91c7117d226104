// Flow cases from JSON: what is read, and what each mistake is answered with.
#include "proto/cases/load_flows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "scheduler/network/flows.h"

namespace podsim::load_flows_test {
namespace {

using Lines = std::vector<std::string>;

// "line:column message | hint" of every problem.
Lines problems_of(const std::string& text) {
  const LoadFlowsResult loaded = load_flow_case("case.json", text);
  EXPECT_EQ(loaded.file.has_value(), loaded.problems.empty());
  Lines lines;
  for (const Problem& problem : loaded.problems)
    lines.push_back(
        (problem.line > 0 ? std::to_string(problem.line) + ":" + std::to_string(problem.column) + " " : "") +
        problem.message + (problem.hint.empty() ? "" : " | " + problem.hint));
  return lines;
}

// A case of three nodes in a line, with these flows and more keys.
std::string line(const std::string& flows, const std::string& more = "") {
  return "{\"nodes\": 3, \"edges\": [\n"
         "{\"from\": 0, \"to\": 1, \"bytes_per_s\": 10, \"latency_s\": 1},\n"
         "{\"from\": 1, \"to\": 2, \"bytes_per_s\": 10}],\n" +
         more + "\"flows\": " + flows + "}";
}

FlowCaseFile loaded(const std::string& text) {
  LoadFlowsResult result = load_flow_case("case.json", text);
  for (const Problem& problem : result.problems) ADD_FAILURE() << format_problem(problem);
  return result.file.value_or(FlowCaseFile{});
}

TEST(LoadFlows, reads_every_key) {
  const FlowCaseFile file = loaded(line(
      R"([{"src": 0, "dst": 2, "bytes": 5, "start": 2.5, "weight": 3, "path": [0, 1]},
          {"src": 0, "dst": 1, "bytes": 7e3, "paths": [[0], [0]], "deps": [0]}, {"src": 1, "dst": 2, "bytes": 0}])",
      R"("name": "x", "note": null, "route": "minimal_ecmp", "jobs": [[0, 2], [2, 3]],
         "capacity_events": [{"time": 1, "edge": 1, "bytes_per_s": 0}],
         "expected_finish_s": {"after": [1, 2]}, "makespan_s": {"after": 2}, )"));
  const FlowCase& flows = file.flows;
  EXPECT_EQ(flows.name, "x");
  EXPECT_EQ(flows.nodes, 3);
  ASSERT_EQ(flows.edges.size(), 2u);
  EXPECT_EQ(flows.edges[0].latency_s, 1);
  EXPECT_EQ(flows.edges[1].latency_s, 0);
  ASSERT_EQ(flows.flows.size(), 3u);
  EXPECT_EQ(flows.flows[0].start_s, 2.5);
  EXPECT_EQ(flows.flows[0].weight, 3);
  EXPECT_EQ(flows.flows[0].uses.count, 2);
  EXPECT_EQ(flows.flows[1].bytes, 7000);
  EXPECT_EQ(flows.route(flows.flows[1])[0].usage, kUsageUnit);
  EXPECT_EQ(flows.predecessors_of(flows.flows[1])[0], 0);
  EXPECT_EQ(flows.flows[2].uses.count, 1);  // by the rule
  EXPECT_EQ(flows.jobs[1].first, 2);
  EXPECT_EQ(flows.capacity_steps[0].edge, 1);
  EXPECT_EQ(file.expected_after_s, (std::vector<double>{1, 2}));
}

TEST(LoadFlows, a_generator_makes_the_all_to_all_by_source_and_destination) {
  const std::string text = R"({"nodes": 3, "route": "minimal_ecmp", "edges": [
    {"from": 0, "to": 1, "bytes_per_s": 1}, {"from": 1, "to": 2, "bytes_per_s": 1},
    {"from": 2, "to": 0, "bytes_per_s": 1, "latency_s": 0}, {"from": 0, "to": 2, "bytes_per_s": 1, "down": true}],
    "flows": {"generator": "all ordered pairs src!=dst, src-major; start 0; bytes 250"}})";
  const FlowCase flows = loaded(text).flows;
  ASSERT_EQ(flows.flows.size(), 6u);
  EXPECT_EQ(flows.flows[3].source, 1);
  EXPECT_EQ(flows.flows[3].destination, 2);
  EXPECT_EQ(flows.flows[3].bytes, 250);
  EXPECT_EQ(flows.flows[1].uses.count, 2);  // 0 -> 2 goes over 1: the edge between them is down
}

TEST(LoadFlows, tells_every_problem_with_its_place) {
  EXPECT_EQ(
      problems_of(line(R"([{"src": 0, "dst": 3, "bytes": -1, "path": [0]},
{"src": 0, "dst": 1, "byte": 5, "path": [0]},
{"src": 0, "dst": 2, "bytes": 5, "path": [0, 0]},
{"src": 0, "dst": 2, "bytes": 5, "path": [0]},
{"src": 0, "dst": 1, "bytes": 5},
{"src": 0, "dst": 1, "bytes": 5, "path": [0], "deps": [5], "weight": 0}])")),
      (Lines{"4:22 flows[0].dst must be a node, 0 .. 2, not 3",
             "4:32 flows[0].bytes must be from 0 to 1e+18, not -1", "5:1 flows[1] has no \"bytes\"",
             "5:22 unknown key \"byte\" in flows[1] | did you mean \"bytes\"?",
             "6:46 flows[2].path[1] must be an edge from node 1; edge 0 begins at node 0",
             "7:34 flows[3].path ends at node 1, not at the destination 2",
             "8:1 flows[4] has neither \"path\" nor \"paths\" | or give the case \"route\": \"minimal_ecmp\"",
             "9:56 flows[5].deps[0] must be another flow than this one",
             "9:60 flows[5].weight must be from 1e-06 to 1e+06, not 0"}));
}

TEST(LoadFlows, a_flow_without_a_way_is_named) {
  EXPECT_EQ(problems_of(line(R"([
{"src": 2, "dst": 0, "bytes": 1}])",
                             R"("route": "minimal_ecmp", )")),
            Lines{"5:1 flows[0] has no way from 2 to 0 over edges with capacity"});
  EXPECT_EQ(problems_of(line(R"({"generator": "all ordered pairs src!=dst, src-major; start 0; bytes 1"})",
                             R"("route": "minimal_ecmp", )"))
                .front(),
            "4:26 flows are not all possible: there is no way from 1 to 0 over edges with capacity");
}

TEST(LoadFlows, other_mistakes) {
  EXPECT_EQ(problems_of("[]"), Lines{"1:1 the case must be an object, not a list"});
  EXPECT_EQ(problems_of("{\"nodes\": 2.5, \"edges\": [], \"flows\": []}"),
            Lines{"1:2 nodes must be a number of nodes, 0 .. 1000000, not 2.5"});
  EXPECT_EQ(problems_of("{}").size(), 3u);
  EXPECT_EQ(problems_of("").size(), 1u);
  EXPECT_EQ(problems_of("{\"nodes\": 1,").size(), 1u);
  EXPECT_EQ(problems_of(line("[]", "\"route\": \"ecmp\", ")),
            Lines{"4:1 route must be \"minimal_ecmp\", not \"ecmp\""});
  EXPECT_EQ(problems_of(line("[]", "\"nodes\": 3, ")), Lines{"4:1 nodes is given twice"});
  EXPECT_EQ(problems_of(line("{\"generator\": \"ring\"}", "\"route\": \"minimal_ecmp\", ")).size(), 1u);
  EXPECT_EQ(problems_of(line("[]", "\"jobs\": [[0, 1], [0]], ")).size(), 2u);
  EXPECT_EQ(problems_of(line("[]", "\"capacity_events\": [{\"time\": 1, \"edge\": 2}], ")),
            (Lines{"4:21 capacity_events[0] has no \"bytes_per_s\"",
                   "4:33 capacity_events[0].edge must be an edge, 0 .. 1, not 2"}));
}

TEST(LoadFlows, hostile_files_are_refused) {
  std::string nested, values = "{\"nodes\": 1, \"edges\": [0";
  for (int i = 0; i < 100'000; ++i) nested += "[";
  EXPECT_EQ(problems_of(nested), Lines{"1:65 values are nested deeper than 64 levels"});
  for (int i = 0; i < 4'000'000; ++i) values += ",0";
  EXPECT_EQ(problems_of(values + "]}"), Lines{"the file has more than 4000000 values"});
  EXPECT_EQ(problems_of(std::string((32u << 20) + 1, ' ')), Lines{"the file is larger than 32 MiB"});
  EXPECT_EQ(problems_of(std::string("{\"nodes\": \xff\x00", 12)).size(), 1u);
  EXPECT_EQ(problems_of("{\"nodes\": 1e999, \"edges\": [], \"flows\": []}").size(), 1u);
  EXPECT_EQ(problems_of(R"({"nodes": 1000000, "route": "minimal_ecmp", "edges": [],
"flows": {"generator": "all ordered pairs src!=dst, src-major; start 0; bytes 1"}})"),
            Lines{"2:1 flows gives 999999000000 flows; at most a million are simulated"});
  const std::string many = "{\"nodes\": 2, \"edges\": [" + [] {
    std::string edges;
    for (int i = 0; i < 1000; ++i) edges += "{\"frm\": 1},";
    return edges;
  }() + "{}], \"flows\": []}";
  EXPECT_EQ(problems_of(many).size(), 20u);
}

// Every file of scenarios/flows: within a relative 1e-9 of the finish times that an independent solver found.
TEST(FlowCases, finish_as_expected_in_both_conventions) {
  int cases = 0;
  for (const auto& entry : std::filesystem::directory_iterator(PODSIM_SOURCE_DIR "/scenarios/flows")) {
    const LoadFlowsResult read = load_flow_case_file(entry.path());
    ASSERT_TRUE(read.file) << entry.path() << ": " << format_problem(read.problems.front());
    ++cases;
    for (const auto convention : {LatencyConvention::kAfter, LatencyConvention::kFirst}) {
      const auto& expected =
          convention == LatencyConvention::kAfter ? read.file->expected_after_s : read.file->expected_first_s;
      ASSERT_FALSE(expected.empty()) << entry.path();
      const FlowsResult result = simulate_flows(read.file->flows, convention);
      ASSERT_EQ(result.problem, "") << entry.path();
      for (std::size_t f = 0; f < expected.size(); ++f)
        ASSERT_NEAR(result.finish_s[f], expected[f], expected[f] * 1e-9) << entry.path() << ", flow " << f;
    }
  }
  EXPECT_GE(cases, 5);
}

}  // namespace
}  // namespace podsim::load_flows_test
