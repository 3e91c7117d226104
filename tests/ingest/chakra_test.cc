// Chakra traces of one rank: how they are encoded, which dependencies count, and what is refused.
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "ingest/chakra/import_chakra.h"
#include "ingest/chakra/read_trace.h"
#include "ingest/chakra/summary.h"
#include "tests/ingest/chakra_bytes.h"

namespace podsim::chakra_test {
namespace {

using namespace podsim::testing;

chakra::Summary summary_of(const std::string& bytes) {
  std::vector<Problem> problems;
  const auto trace = chakra::read_trace("t.0.et", bytes, problems);
  const auto summary = trace ? chakra::summarize("t.0.et", *trace, problems) : std::nullopt;
  for (const Problem& problem : problems) ADD_FAILURE() << format_problem(problem);
  return summary.value_or(chakra::Summary{});
}

std::string refusal_of(const std::string& bytes) {
  std::vector<Problem> problems;
  std::vector<InputText> files = {{"t.0.et", bytes}};
  if (import_chakra(files, {}, problems)) return "";
  return problems.empty() ? "no problem" : problems.front().message;
}

TEST(ChakraTrace, is_told_by_its_first_record_and_not_by_its_name) {
  EXPECT_TRUE(is_chakra(kMetadata + node({0})));
  EXPECT_TRUE(is_chakra(R"({"1": [0, 1], "2": [2, 3]})"));
  EXPECT_FALSE(is_chakra("HloModule m\n"));
  EXPECT_FALSE(is_chakra(R"({"hidden_size": 4096})"));
}

TEST(ChakraTrace, has_nodes_in_any_order_and_numbers_of_any_width) {
  const chakra::Summary summary = summary_of(
      kMetadata + node({2, kComputation, 5, {9}, {}, attribute("is_cpu_op", 27, 1)}) +
      node({9, kComputation, 7, {}, {}, attribute("num_ops", 13, 100) + attribute("tensor_size", 7, 8)}) +
      all_reduce(10, 64));
  EXPECT_EQ(summary.host_operations, 1);
  EXPECT_EQ(summary.device_operations, 1);
  EXPECT_EQ(summary.operations, 100);
  EXPECT_EQ(summary.tensor_bytes, 8);
  EXPECT_EQ(summary.compute_path_us, 12);
  ASSERT_EQ(summary.communication.size(), 1u);
  EXPECT_EQ(summary.communication[0].kind, "ALL_REDUCE");
  EXPECT_EQ(summary.communication[0].bytes, 64);
}

// The converter of PyTorch's traces puts the caller into the control dependencies: here 1 calls 2, and 2
// waits for what 1 read.
TEST(ChakraTrace, drops_control_dependencies_where_they_close_a_circle_and_data_alone_do_not) {
  const chakra::Summary both =
      summary_of(kMetadata + node({1, kComputation, 3}) + node({2, kComputation, 4, {}, {1}}));
  EXPECT_EQ(both.used, chakra::DependenciesUsed::kControlAndData);
  EXPECT_EQ(both.compute_path_us, 7);
  const chakra::Summary data = summary_of(kMetadata + node({1, kComputation, 3, {2}, {}}) +
                                          node({2, kComputation, 4, {}, {1}}) + node({3, kComputation, 1}));
  EXPECT_EQ(data.used, chakra::DependenciesUsed::kData);
  EXPECT_EQ(data.never_run, 2);
  EXPECT_EQ(data.compute_path_us, 7);
}

TEST(ChakraTrace, counts_callers_that_the_file_lacks_and_refuses_data_that_it_lacks) {
  std::vector<Problem> problems;
  const auto trace = chakra::read_trace("t.0.et", kMetadata + node({1, kComputation, 3, {}, {77}}), problems);
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->dangling_control.size(), 1u);
  EXPECT_EQ(refusal_of(kMetadata + node({0}) + node({1, kComputation, 3, {0, 99}})),
            "node 1 waits for 99, which the file lacks (data)");
}

// c10d::allreduce_ of the host starts a kernel: only that moves bytes.
TEST(ChakraTrace, launches_of_collectives_cost_their_time_and_move_nothing) {
  std::vector<Problem> problems;
  const auto trace = chakra::read_trace(
      "t.0.et",
      kMetadata + node({1, kCollective, 85, {}, {}, attribute("is_cpu_op", 27, 1)}) + all_reduce(2, 8),
      problems);
  ASSERT_TRUE(trace);
  EXPECT_FALSE(trace->nodes[0].moves_data());
  EXPECT_TRUE(trace->nodes[1].moves_data());
}

TEST(ChakraTrace, is_refused_with_the_record_where_it_is_damaged) {
  const std::string whole = kMetadata + node({0, kComputation, 1}) + node({1, kComputation, 2, {0}});
  EXPECT_EQ(refusal_of(whole), "");
  EXPECT_EQ(refusal_of(whole.substr(0, whole.size() - 3)),
            "record 2 (byte 18): the file ends inside it: of 11 bytes it has 8");
  EXPECT_EQ(refusal_of(kMetadata + "\xff"), "record 1 (byte 8): the file ends inside its length");
  EXPECT_EQ(refusal_of(kMetadata + std::string(6, '\xff')), "record 1 (byte 8): its length is not a number");
  EXPECT_EQ(refusal_of(kMetadata + record("\x0a")), "record 1 (byte 8) is no node of a Chakra trace");
  EXPECT_EQ(refusal_of(kMetadata + record(number_field(11, 1))),
            "record 1 (byte 8) has a field that no node has");
  EXPECT_EQ(refusal_of(kMetadata + node({5, 8})), "record 1 (byte 8), node 5 is of type 8");
  EXPECT_EQ(refusal_of(kMetadata + node({7}) + node({7})), "record 2 (byte 18), node 7: id 7 occurs twice");
  EXPECT_EQ(refusal_of(kMetadata + node({0, kComputation, 1, {2}}) + node({1, kComputation, 1, {0}}) +
                       node({2, kComputation, 1, {1}}) + node({3, kComputation, 1, {2}})),
            "a cycle: nodes 0, 1, 2 wait for each other");
  EXPECT_EQ(refusal_of(kMetadata + node({0, kCollective, 0, {}, {}, attribute("comm_type", 9, 10)})),
            "record 1 (byte 8), node 0: comm_type is no whole number that can be");
}

// Nothing in a trace tells how long it is: where it is cut between two records there is only its last node to
// go by.
TEST(ChakraTrace, cut_behind_its_metadata_is_refused_and_cut_behind_a_node_names_that_node) {
  EXPECT_NE(refusal_of(kMetadata).find("there is no node"), std::string::npos);
  std::vector<Problem> problems;
  std::vector<InputText> files = {{"t.0.et", kMetadata + node({4}) + node({7})}};
  const auto imported = import_chakra(files, {}, problems);
  ASSERT_TRUE(imported);
  EXPECT_NE(imported->text.find("2 nodes, the last of the file node 7"), std::string::npos);
}

TEST(ChakraTrace, of_pytorch_in_json_is_refused_with_what_to_do) {
  EXPECT_EQ(
      refusal_of(R"({"schema": "1.0.2-chakra.0.0.4", "nodes": [{"id": 1, "inputs": {"x": []}}, {"id": 2}]})"),
      "this is JSON, a PyTorch execution trace (schema 1.0.2-chakra.0.0.4, 2 nodes), which has no durations; "
      "not a Chakra trace");
}

TEST(ChakraAccount, adds_up) {
  std::vector<Problem> problems;
  const auto trace = chakra::read_trace(
      "t.0.et",
      kMetadata + node({1, 1}) + node({2, 0}) + node({3, kCollective}) +
          node({4, kComputation, 1, {}, {}, attribute("mystery", 9, 1) + attribute("tid", 9, 1)}),
      problems);
  ASSERT_TRUE(trace);
  const std::vector<Account> accounts = accounts_of(*trace);
  for (const Account& account : accounts) account.check();
  EXPECT_EQ(accounts[0].passed_over.at("metadata"), 1);
  EXPECT_EQ(accounts[0].unknown.at("type INVALID"), 1);
  EXPECT_EQ(accounts[0].unknown.at("collective without comm_type"), 1);
  EXPECT_EQ(accounts[0].used, 1);
  EXPECT_EQ(accounts[1].unknown.at("mystery"), 1);
}

// A list among the attributes sends a node another way, which must end at the same place.
TEST(ChakraTrace, of_nodes_with_lists_gives_the_figures_of_nodes_without) {
  const std::string given = testing::attribute("is_cpu_op", 27, 0) +
                            testing::attribute("num_ops", 13, 1'000) + testing::attribute("comm_tag", 9, 7) +
                            testing::text_attribute("pg_name", "3");
  const std::string list =
      testing::bytes_field(10, testing::bytes_field(1, "sizes") + testing::bytes_field(10, "\x08\x01"));
  const auto read = [](const std::string& attributes) {
    const std::string bytes = testing::kMetadata + testing::node({1, testing::kComputation, 5}) +
                              testing::node({300, testing::kComputation, 9, {1}, {1}, attributes});
    std::vector<Problem> problems;
    return chakra::read_trace("t.0.et", bytes, problems);
  };
  const auto plain = read(given), listed = read(given + list);
  ASSERT_TRUE(plain && listed);
  EXPECT_EQ(listed->attributes.at("sizes"), 1);
  const chakra::Node &a = plain->nodes[1], &b = listed->nodes[1];
  EXPECT_EQ(std::tie(a.id, a.duration_us, a.operations, a.tag, a.on_host, a.type),
            std::tie(b.id, b.duration_us, b.operations, b.tag, b.on_host, b.type));
  EXPECT_EQ(plain->group_of(a), listed->group_of(b));
  EXPECT_EQ(plain->data.values, listed->data.values);
  EXPECT_EQ(plain->control.values, listed->control.values);
}

}  // namespace
}  // namespace podsim::chakra_test
