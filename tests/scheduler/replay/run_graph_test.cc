// Graphs of recorded steps: streams, transfers that begin with their last member, who waits and who is slow.
#include "scheduler/replay/run_graph.h"

#include <gtest/gtest.h>

#include <initializer_list>

namespace podsim::run_graph_test {
namespace {

constexpr Time us(std::int64_t number) { return {number * 1'000'000}; }

// Operations in the order in which they are added.
struct Graph {
  StepGraph graph;

  explicit Graph(int ranks) {
    for (int rank = 0; rank < ranks; ++rank) graph.rank_number.push_back(rank);
    graph.streams = ranks;  // each rank computes on its own
  }
  std::int32_t add(StepOp op, std::initializer_list<std::int32_t> waits) {
    op.node = graph.ops.size();
    graph.ops.push_back(op);
    graph.waits.insert(graph.waits.end(), waits);
    graph.first_wait.push_back(graph.waits.size());
    return static_cast<std::int32_t>(graph.ops.size()) - 1;
  }
  std::int32_t compute(std::int32_t rank, Time duration, std::initializer_list<std::int32_t> waits = {}) {
    return add({duration, 0, rank, rank, -1, true}, waits);
  }
  std::int32_t join(std::int32_t rank, std::int32_t transfer,
                    std::initializer_list<std::int32_t> waits = {}) {
    if (graph.transfers.size() <= static_cast<std::size_t>(transfer))
      graph.transfers.resize(static_cast<std::size_t>(transfer) + 1);
    const std::int32_t op = add({{}, 0, rank, -1, transfer, false}, waits);
    graph.transfers[static_cast<std::size_t>(transfer)].members.push_back(op);
    return op;
  }
};

TEST(RunGraph, operations_of_a_stream_run_one_at_a_time_in_the_order_in_which_they_are_ready) {
  Graph g(1);
  const auto a = g.compute(0, us(3));
  const auto b = g.compute(0, us(4));
  const auto c = g.compute(0, us(5), {a});
  const GraphRun run = run_graph(g.graph, {});
  EXPECT_EQ(run.begin[b], us(3));
  EXPECT_EQ(run.begin[c], us(7));
  EXPECT_EQ(run.step, us(12));
  EXPECT_EQ(run.critical_path, (std::vector<std::int32_t>{a, b, c}));
}

TEST(RunGraph, a_transfer_begins_when_its_last_member_has_come_and_the_others_wait) {
  Graph g(2);
  const auto early = g.compute(0, us(2)), late = g.compute(1, us(10));
  const auto first = g.join(0, 0, {early}), second = g.join(1, 0, {late});
  const auto after = g.compute(0, us(1), {first});
  const GraphRun run = run_graph(g.graph, {us(6)});
  EXPECT_EQ(run.end[first], us(16));
  EXPECT_EQ(run.step, us(17));
  EXPECT_EQ(run.ranks[0].waiting, us(8));
  EXPECT_EQ(run.ranks[0].communicating, us(6));
  EXPECT_EQ(run.ranks[0].computing, us(3));
  EXPECT_EQ(run.ranks[1].waiting, Time{});
  EXPECT_EQ(run.critical_path, (std::vector<std::int32_t>{late, second, first, after}));
}

TEST(RunGraph, communication_behind_computation_is_not_exposed) {
  Graph g(2);
  for (const std::int32_t rank : {0, 1}) {
    g.join(rank, 0);
    g.compute(rank, us(5));
  }
  const GraphRun run = run_graph(g.graph, {us(4)});
  EXPECT_EQ(run.step, us(5));
  EXPECT_EQ(run.ranks[0].communicating, Time{});
}

TEST(RunGraph, names_ranks_that_wait_for_each_other_in_a_circle) {
  Graph g(2);
  const auto a = g.join(0, 0);
  g.join(0, 1, {a});
  const auto b = g.join(1, 1);
  g.join(1, 0, {b});
  try {
    run_graph(g.graph, {us(1), us(1)});
    FAIL() << "expected a refusal";
  } catch (const ReplayError& error) {
    EXPECT_EQ(
        std::string(error.what()),
        "ranks wait for each other in a circle: rank 0 node 0 waits for rank 1 node 3, which never comes");
  }
}

TEST(RunGraph, the_slow_rank_is_the_one_without_whose_slowness_the_step_gains_most) {
  Graph g(4);
  for (const std::int32_t rank : {0, 1, 2, 3}) {
    const auto work = g.compute(rank, us(rank == 2 ? 30 : 20));
    g.join(rank, 0, {work});
  }
  const std::vector<Time> times = {us(1)};
  const GraphRun run = run_graph(g.graph, times);
  const auto slow = slowest_rank(g.graph, times, run);
  ASSERT_TRUE(slow);
  EXPECT_EQ(slow->rank, 2u);
  EXPECT_EQ(slow->delay, us(10));
  EXPECT_DOUBLE_EQ(slow->slowness, 1.5);
}

TEST(RunGraph, has_no_slow_rank_where_all_are_alike) {
  Graph g(2);
  for (const std::int32_t rank : {0, 1}) g.compute(rank, us(20));
  const GraphRun run = run_graph(g.graph, {});
  EXPECT_FALSE(slowest_rank(g.graph, {}, run));
}

}  // namespace
}  // namespace podsim::run_graph_test
