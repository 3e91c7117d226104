// Steps of several ranks on a fabric, against their closed forms.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "ingest/chakra/import_chakra.h"
#include "ingest/chakra/ranks.h"
#include "ingest/chakra/read_trace.h"
#include "ingest/chakra/step_of_ranks.h"
#include "proto/catalog/catalog.h"
#include "proto/scenario/chosen_fabric.h"
#include "proto/text/read_file.h"
#include "scheduler/replay/astra_ring.h"
#include "scheduler/replay/run_graph.h"
#include "tests/ingest/chakra_bytes.h"
#include "topology/fabric.h"
#include "workload/job/chip.h"

namespace podsim::chakra_step_test {
namespace {

using namespace podsim::testing;
constexpr std::int64_t kMicrosecond = 1'000'000;  // ps

std::vector<chakra::RankTrace> ranks_of(const std::vector<InputText>& files) {
  std::vector<chakra::RankTrace> ranks;
  std::vector<Problem> problems;
  for (const InputText& file : files) {
    auto trace = chakra::read_trace(file.name, file.text, problems);
    auto summary = trace ? chakra::summarize(file.name, *trace, problems) : std::nullopt;
    if (!summary) continue;
    ranks.push_back({file.name, static_cast<std::int64_t>(ranks.size()),
                     std::make_shared<const chakra::Trace>(*std::move(trace)),
                     std::make_shared<const chakra::Summary>(*std::move(summary))});
  }
  for (const Problem& problem : problems) ADD_FAILURE() << format_problem(problem);
  return ranks;
}

// Traces that are kept for the readers, too.
std::vector<chakra::RankTrace> kept(const std::string& name, int ranks) {
  std::vector<InputText> files;
  std::vector<Problem> problems;
  for (int rank = 0; rank < ranks; ++rank) {
    const std::string file = name + "." + std::to_string(rank) + ".et";
    files.push_back(
        {file,
         read_file(PODSIM_SOURCE_DIR "/tests/fuzz/corpus/chakra_traces/" + file, problems).value_or("")});
  }
  return ranks_of(files);
}

Fabric fabric_of(int chips) {
  const Catalog catalog;
  const auto chosen = chosen_fabric(catalog, {"dgx_h100", chips, {}, 1, false, "", std::nullopt, ""});
  return build_fabric(chosen.first.value());
}

// One transfer alone, as the fabric times it.
Time alone(const Fabric& fabric, CollectiveKind kind, double bytes, const std::vector<ChipId>& chips) {
  return predict(fabric, plan(fabric, {kind, {bytes}}, chips));
}

struct Ran {
  StepGraph graph;
  std::vector<Time> transfers;
  GraphRun run;
};
Ran ran(const std::vector<chakra::RankTrace>& ranks, const Fabric& fabric,
        const chakra::Groups& groups = {}) {
  Ran result;
  result.graph = step_of_ranks(ranks, groups, fabric.chips);
  result.transfers = transfer_times(result.graph, fabric);
  result.run = run_graph(result.graph, result.transfers);
  return result;
}

// L layers forward, backward with an all-reduce behind each, an optimizer: L f + b + (L - 1) max(b, t) + t +
// o.
TEST(ChakraStep, of_data_parallel_ranks_has_its_closed_form) {
  const Fabric fabric = fabric_of(4);
  const std::int64_t t = alone(fabric, CollectiveKind::kAllReduce, 25165824, {0, 1, 2, 3}).ps;
  const std::int64_t f = 500 * kMicrosecond, b = 1100 * kMicrosecond, o = 300 * kMicrosecond;
  EXPECT_EQ(ran(kept("dp", 4), fabric).run.step.ps, 6 * f + b + 5 * std::max(b, t) + t + o);
}

// M microbatches through P stages: (M + P - 1)(f + b) + 2 (P - 1) t.
TEST(ChakraStep, of_a_pipeline_has_its_closed_form) {
  const Fabric fabric = fabric_of(3);
  const std::int64_t t = alone(fabric, CollectiveKind::kSendReceive, 4194304, {0, 1}).ps;
  EXPECT_EQ(ran(kept("pp", 3), fabric).run.step.ps, 6 * 1300 * kMicrosecond + 4 * t);
}

// Rank 3 computes 1.5 times as long: its tensor group runs at its pace, and the other one waits at the data
// all-reduces.
TEST(ChakraStep, with_a_slow_rank_takes_at_least_its_time_and_names_it) {
  const Fabric fabric = fabric_of(4);
  const chakra::Groups groups = {{"1", {0, 1}}, {"2", {2, 3}}, {"3", {0, 2}}, {"4", {1, 3}}};
  const Ran result = ran(kept("tpdp", 4), fabric, groups);
  const std::int64_t tensor = alone(fabric, CollectiveKind::kAllReduce, 8388608, {2, 3}).ps;
  const std::int64_t data = alone(fabric, CollectiveKind::kAllReduce, 16777216, {1, 3}).ps;
  EXPECT_GE(result.run.step.ps, 10950 * kMicrosecond + 6 * tensor + data);
  EXPECT_EQ(result.run.ranks[3].computing.ps, 10950 * kMicrosecond);
  EXPECT_EQ(result.run.ranks[0].computing.ps, 7300 * kMicrosecond);
  const auto slow = slowest_rank(result.graph, result.transfers, result.run);
  ASSERT_TRUE(slow);
  EXPECT_EQ(result.graph.rank_number[slow->rank], 3);
  EXPECT_DOUBLE_EQ(slow->slowness, 1.5);
}

// A rank of an all-gather puts in a shard, which is a part of podsim's bytes.
TEST(ChakraStep, counts_the_bytes_of_an_all_gather_by_its_result) {
  const Fabric fabric = fabric_of(4);
  std::vector<InputText> files;
  for (int rank = 0; rank < 4; ++rank)
    files.push_back({"t", kMetadata + node({0,
                                            kCollective,
                                            0,
                                            {},
                                            {},
                                            attribute("is_cpu_op", 27, 0) + attribute("comm_type", 9, 2) +
                                                attribute("comm_size", 9, 1 << 20)})});
  EXPECT_EQ(ran(ranks_of(files), fabric).run.step,
            alone(fabric, CollectiveKind::kAllGather, 4 << 20, {0, 1, 2, 3}));
}

// ASTRA-sim prints 64,440 ns for 1 MiB on a ring of 8 with links of 50 "GB/s" and 500 ns.
TEST(ChakraStep, on_the_ring_of_astra_sim_takes_what_that_prints) {
  std::vector<InputText> files(8, {"t", kMetadata + all_reduce(0, 1 << 20)});
  const StepGraph graph = step_of_ranks(ranks_of(files), {}, 8);
  EXPECT_EQ(run_graph(graph, astra_ring_times(graph, {})).step.ps, 64'440 * 1000);
}

// A file of one rank says what that rank does: the others do the same.
TEST(ChakraStep, of_one_trace_stands_for_all_ranks) {
  const Fabric fabric = fabric_of(16);
  std::vector<ChipId> all(16);
  for (int chip = 0; chip < 16; ++chip) all[static_cast<std::size_t>(chip)] = chip;
  const Ran result = ran(ranks_of({{"t", kMetadata + all_reduce(0, 1 << 24)}}), fabric);
  EXPECT_EQ(result.run.step, alone(fabric, CollectiveKind::kAllReduce, 1 << 24, all));
  ASSERT_EQ(result.graph.notes.size(), 1u);
  EXPECT_EQ(result.graph.notes[0], "one rank stands for all 16 ranks");
}

// 2^40 FLOP that move little, and 2^33 bytes that are computed with at once.
const std::string kTwoWithWork =
    kMetadata +
    node(
        {0, kComputation, 0, {}, {}, attribute("num_ops", 9, 1ull << 40) + attribute("tensor_size", 9, 64)}) +
    node(
        {1, kComputation, 0, {0}, {}, attribute("num_ops", 9, 64) + attribute("tensor_size", 9, 1ull << 33)});

Chip chip_of_100_tflops() {
  Chip chip;
  chip.name = "round";
  chip.matmul[Dtype::kBf16] = {{200e12}, 0.5};
  chip.hbm = {4e12};
  chip.hbm_efficiency = 0.5;
  return chip;
}

std::optional<Imported> imported(const std::string& bytes, const Stated& stated,
                                 std::vector<Problem>& problems) {
  std::vector<InputText> files = {{"t.0.et", bytes}};
  return import_chakra(files, stated, problems);
}

// The longer of operations at the sustained rate and bytes at what copies reach; what has neither, and what
// is of the host, takes as long as recorded.
TEST(ChakraRoofline, has_its_closed_form_for_a_node_of_operations_and_one_of_bytes) {
  const auto roofline = chakra::roofline_of(chip_of_100_tflops());
  const std::string others =
      node({2, kComputation, 5, {1}}) +
      node(
          {3, kComputation, 7, {2}, {}, attribute("is_cpu_op", 27, 1) + attribute("num_ops", 9, 1ull << 40)});
  const StepGraph graph = step_of_ranks(ranks_of({{"t", kTwoWithWork + others}}), {}, 1, nullptr, roofline);
  const Time of_operations = Time::seconds(0x1p40 / 100e12), of_bytes = Time::seconds(0x1p33 / 2e12);
  EXPECT_EQ(graph.ops[0].duration, of_operations);
  EXPECT_EQ(graph.ops[1].duration, of_bytes);
  EXPECT_EQ(run_graph(graph, {}).step.ps, of_operations.ps + of_bytes.ps + 12 * kMicrosecond);
  EXPECT_EQ(graph.notes, (std::vector<std::string>{
                             "2 computations take what round needs for their operations and bytes",
                             "1 computations without operations and bytes take as long as recorded"}));
}

TEST(ChakraRoofline, of_a_chip_without_bf16_is_that_of_fp16) {
  Chip chip = chip_of_100_tflops();
  chip.matmul[Dtype::kFp16] = {{100e12}, 1};
  chip.matmul.erase(Dtype::kBf16);
  ASSERT_TRUE(chakra::roofline_of(chip));
  EXPECT_EQ(chakra::roofline_of(chip)->operations.value, 100e12);
  chip.matmul.clear();
  EXPECT_FALSE(chakra::roofline_of(chip));
}

// Ranks that recorded no durations are told apart by what they compute.
TEST(ChakraRoofline, names_the_rank_with_more_operations) {
  const Fabric fabric = fabric_of(4);
  const TransferTimer timer = timer_on(fabric);
  std::vector<InputText> files;
  for (const std::uint64_t tflop : {1u, 1u, 2u, 1u})
    files.push_back({"t", kMetadata +
                              node({0, kComputation, 0, {}, {}, attribute("num_ops", 9, tflop << 40)}) +
                              node({1,
                                    kCollective,
                                    0,
                                    {0},
                                    {},
                                    attribute("is_cpu_op", 27, 0) + attribute("comm_type", 9, 0) +
                                        attribute("comm_size", 9, 1 << 20)})});
  const auto roofline = chakra::roofline_of(chip_of_100_tflops());
  const StepGraph graph = step_of_ranks(ranks_of(files), {}, 4, &timer, roofline);
  const std::vector<Time> transfers = transfer_times(graph, fabric);
  const GraphRun run = run_graph(graph, transfers);
  EXPECT_EQ(run.step, Time::seconds(0x1p41 / 100e12) + transfers.at(0));
  const auto slow = slowest_rank(graph, transfers, run);
  ASSERT_TRUE(slow);
  EXPECT_EQ(graph.rank_number[slow->rank], 2);
}

TEST(ChakraRoofline, needs_a_chip_of_the_catalogue) {
  Stated stated;
  stated.roofline = true;
  std::vector<Problem> problems;
  EXPECT_FALSE(imported(kTwoWithWork, stated, problems));
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].message,
            "needs a chip to time computations by (--chip; podsim catalog chips lists them)");
  stated.chip = "h1000";
  EXPECT_FALSE(imported(kTwoWithWork, stated, problems));
  ASSERT_EQ(problems.size(), 2u);
  EXPECT_EQ(problems[1].message, "--chip \"h1000\" is not in the catalogue");
  stated.chip = "h100";
  const auto whole = imported(kTwoWithWork, stated, problems);
  ASSERT_TRUE(whole);
  EXPECT_GT(run_graph(whole->step(1, nullptr), {}).step.ps, 0);
}

// A step of no time would look right.
TEST(ChakraStep, says_how_many_nodes_have_operations_and_take_no_time) {
  const std::string host =
      node({2, kComputation, 0, {}, {}, attribute("is_cpu_op", 27, 1) + attribute("num_ops", 9, 1)});
  const std::string devices =
      "2 nodes have operations but no duration: they take no time here; --compute roofline --chip NAME times "
      "them by the chip's rates";
  const std::string hosts = "1 nodes of hosts have operations but no duration: they take no time here";
  std::vector<Problem> problems;
  const auto told = imported(kTwoWithWork + host, {}, problems);
  ASSERT_TRUE(told);
  EXPECT_NE(told->text.find("note: " + devices + "\nnote: " + hosts + "\n"), std::string::npos) << told->text;
  const StepGraph graph = told->step(1, nullptr);
  EXPECT_EQ(run_graph(graph, {}).step.ps, 0);
  EXPECT_EQ(graph.notes, (std::vector<std::string>{devices, hosts}));
}

TEST(ChakraStep, of_more_than_50_days_is_refused) {
  const auto ranks = ranks_of({{"t", kMetadata + node({0, kComputation, 50ull * 86'400 * 1'000'000 + 1})}});
  EXPECT_THROW(step_of_ranks(ranks, {}, 1), ReplayError);
}

// A grid of ranks that reduce along its rows and its columns, and pass something on to the next in their row;
// a random few compute longer.
struct Grid {
  std::vector<InputText> files;
  chakra::Groups groups;
};
Grid random_grid(int rows, int columns, int slow, std::mt19937_64& random) {
  Grid grid;
  std::vector<std::uint64_t> duration(static_cast<std::size_t>(rows * columns), 1000);
  for (int i = 0; i < slow; ++i) duration[random() % duration.size()] += 100 * (random() % 3);
  for (int rank = 0; rank < rows * columns; ++rank) {
    const int row = rank / columns, column = rank % columns;
    const std::string of_row = "r" + std::to_string(row), of_column = "c" + std::to_string(column);
    grid.groups[of_row].push_back(rank);
    grid.groups[of_column].push_back(rank);
    const auto peer = [&](int by) {
      return static_cast<std::uint64_t>(row * columns + (column + by) % columns);
    };
    const auto message = [&](std::uint64_t id, int type, const char* whom, std::uint64_t other) {
      return node({id, type, 0, {1}, {}, attribute("comm_size", 9, 1 << 20) + attribute(whom, 7, other)});
    };
    grid.files.push_back({"t", kMetadata + node({0, kComputation, duration[static_cast<std::size_t>(rank)]}) +
                                   node({1, kComputation, 500, {0}}) + all_reduce(2, 1 << 22, of_row) +
                                   node({3, kComputation, 700, {2}}) + all_reduce(4, 1 << 24, of_column) +
                                   message(5, kSend, "comm_dst", peer(1)) +
                                   message(6, kReceive, "comm_src", peer(columns - 1)) +
                                   node({7, kComputation, 300, {3, 4, 6}})});
  }
  return grid;
}

TEST(ChakraStepLaws, of_alike_ranks_one_gives_the_times_of_all) {
  const Fabric fabric = fabric_of(16);
  const TransferTimer timer = timer_on(fabric);
  std::mt19937_64 random(7);
  for (int trial = 0; trial < 24; ++trial) {
    SCOPED_TRACE(trial);
    const int columns = trial % 2 == 0 ? 4 : 8, slow = trial % 3;
    const Grid grid = random_grid(16 / columns, columns, slow, random);
    const std::vector<chakra::RankTrace> ranks = ranks_of(grid.files);
    const Ran all = ran(ranks, fabric, grid.groups);
    Ran one;
    one.graph = step_of_ranks(ranks, grid.groups, fabric.chips, &timer);
    one.transfers = transfer_times(one.graph, fabric);
    one.run = run_graph(one.graph, one.transfers);
    if (slow == 0) {
      EXPECT_EQ(one.graph.rank_number.size(), 1u);
    }
    EXPECT_EQ(one.run.step, all.run.step);
    const auto numbered = ranks_in_order(one.graph);
    ASSERT_EQ(numbered.size(), 16u);
    for (const auto& [number, kept_rank] : numbered) {
      const RankTime &given = one.run.ranks[kept_rank],
                     &expected = all.run.ranks[static_cast<std::size_t>(number)];
      EXPECT_EQ(given.end, expected.end);
      EXPECT_EQ(given.computing, expected.computing);
      EXPECT_EQ(given.communicating, expected.communicating);
      EXPECT_EQ(given.waiting, expected.waiting);
    }
    const auto culprit = slowest_rank(one.graph, one.transfers, one.run),
               of_all = slowest_rank(all.graph, all.transfers, all.run);
    ASSERT_EQ(culprit.has_value(), of_all.has_value());
    if (!culprit) continue;
    EXPECT_EQ(one.graph.rank_number[culprit->rank], all.graph.rank_number[of_all->rank]);
    EXPECT_EQ(culprit->delay, of_all->delay);
  }
}

}  // namespace
}  // namespace podsim::chakra_step_test
