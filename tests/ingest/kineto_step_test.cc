// Profiles that run again: as they were recorded, and with other transfers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "ingest/kineto/read_profile.h"
#include "ingest/kineto/scenario_of_profile.h"
#include "ingest/kineto/step_of_profiles.h"
#include "proto/catalog/catalog.h"
#include "proto/scenario/chosen_fabric.h"
#include "proto/text/read_file.h"
#include "scheduler/replay/fold_graph.h"
#include "scheduler/replay/graph_slowness.h"
#include "scheduler/replay/run_graph.h"
#include "tests/ingest/expected_figures.h"

namespace podsim::kineto_step_test {
namespace {

using kineto::RankProfile;

std::vector<RankProfile> profiles_of(const std::vector<InputText>& files) {
  std::vector<RankProfile> ranks;
  std::vector<Problem> problems;
  for (const InputText& file : files) {
    auto profile = kineto::read_profile(file.name, file.text, problems);
    if (!profile || profile->device_events.empty()) continue;
    kineto::Summary summary = kineto::summarize(*profile);
    ranks.push_back(
        {file.name, static_cast<std::int64_t>(ranks.size()), *std::move(profile), std::move(summary)});
  }
  return ranks;
}

std::vector<Time> recorded(const StepGraph& graph) {
  std::vector<Time> times;
  for (const RecordedTransfer& transfer : graph.transfers) times.push_back(transfer.recorded);
  return times;
}

std::string kernel(const char* name, double begin_us, double us, int stream, const std::string& more = "") {
  return R"({"ph": "X", "cat": "kernel", "name": ")" + std::string(name) + R"(", "ts": )" +
         std::to_string(begin_us) + R"(, "dur": )" + std::to_string(us) +
         R"(, "args": {"device": 0, "stream": )" + std::to_string(stream) + more + "}}";
}

// A computation, an all-reduce that begins 5 us after it and ends on both ranks at 255 us, and 3 us later
// another computation of 50 us.
InputText rank(const std::string& name, double compute_us) {
  const std::string call =
      R"(, "Collective name": "allreduce", "In msg nelems": 1048576, "Out msg nelems": 1048576,
      "Group size": 2, "dtype": "Float", "Process Group Name": "0", "Process Group Ranks": "[0, 1]")";
  const double begin = compute_us + 5;
  return {name, R"({"schemaVersion": 1, "traceEvents": [)" + kernel("gemm", 1000, compute_us, 7) + "," +
                    kernel("ncclDevKernel_AllReduce", 1000 + begin, 255 - begin, 20, call) + "," +
                    kernel("gemm", 1258, 50, 7) + "]}"};
}

StepGraph graph_of(const std::vector<RankProfile>& ranks) {
  return step_of_profiles(ranks, kineto::join(ranks), static_cast<std::int64_t>(ranks.size()));
}

TEST(KinetoStep, takes_as_long_as_it_was_recorded) {
  const StepGraph graph = graph_of(profiles_of({rank("r0.json", 100), rank("r1.json", 150)}));
  ASSERT_EQ(graph.transfers.size(), 1u);
  EXPECT_EQ(graph.transfers[0].recorded, Time{100'000'000});  // from the last arrival at 155 us
  const GraphRun run = run_graph(graph, recorded(graph));
  EXPECT_EQ(run.step, Time{308'000'000});
  EXPECT_EQ(run.ranks[0].waiting, Time{50'000'000});
  EXPECT_EQ(run.ranks[1].waiting, Time{});
}

TEST(KinetoStep, with_other_transfers_keeps_computations_and_what_the_host_took) {
  const StepGraph graph = graph_of(profiles_of({rank("r0.json", 100), rank("r1.json", 150)}));
  EXPECT_EQ(run_graph(graph, {Time{}}).step, Time{(155 + 3 + 50) * 1'000'000});
  const Catalog catalog;
  const auto chosen = chosen_fabric(catalog, {"dgx_h100", 2, {}, 1, false, "", std::nullopt, ""});
  const std::vector<Time> times = transfer_times(graph, build_fabric(chosen.first.value()));
  EXPECT_LT(times[0], Time{100'000'000});  // 4 MiB between two H100
  EXPECT_EQ(run_graph(graph, times).step, times[0] + Time{208'000'000});
}

TEST(KinetoStep, names_the_rank_that_keeps_the_others_waiting) {
  const StepGraph graph =
      graph_of(profiles_of({rank("r0.json", 100), rank("r1.json", 150), rank("r2.json", 100)}));
  const auto slow = slowest_rank(graph, recorded(graph), run_graph(graph, recorded(graph)));
  ASSERT_TRUE(slow);
  EXPECT_EQ(slow->rank, 1u);
  EXPECT_NEAR(slow->slowness, 200.0 / 150, 1e-9);
}

TEST(KinetoStep, of_equal_ranks_runs_one_of_them_and_takes_as_long) {
  const StepGraph graph = graph_of(
      profiles_of({rank("r0.json", 100), rank("r1.json", 100), rank("r2.json", 100), rank("r3.json", 100)}));
  const FoldedGraph folded = fold_graph(graph, recorded(graph));
  ASSERT_EQ(folded.graph.rank_number.size(), 1u);
  EXPECT_EQ(folded.graph.alike, (std::vector<std::vector<std::int64_t>>{{1, 2, 3}}));
  EXPECT_EQ(folded.graph.ops.size(), graph.ops.size() / 4);
  EXPECT_EQ(run_graph(folded.graph, folded.transfers).step, run_graph(graph, recorded(graph)).step);
}

// Both 1 and 2 compute for 150 us: each is asked what the step would gain without it.
TEST(KinetoStep, of_ranks_that_differ_keeps_one_of_each_kind_and_every_slow_one) {
  const StepGraph graph =
      graph_of(profiles_of({rank("r0.json", 100), rank("r1.json", 150), rank("r2.json", 150),
                            rank("r3.json", 100), rank("r4.json", 100)}));
  const FoldedGraph folded = fold_graph(graph, recorded(graph));
  EXPECT_EQ(folded.graph.rank_number, (std::vector<std::int64_t>{0, 1, 2}));
  EXPECT_EQ(folded.graph.alike[0], (std::vector<std::int64_t>{3, 4}));
  const GraphRun run = run_graph(folded.graph, folded.transfers), whole = run_graph(graph, recorded(graph));
  EXPECT_EQ(run.step, whole.step);
  EXPECT_EQ(run.ranks[0].waiting, whole.ranks[3].waiting);
}

// The mean rank computes for 125 us at first; the ideal step is 125 + 5 + 100 + 3 + 50 us.
TEST(KinetoStep, is_slow_by_the_rank_and_the_kind_that_differ_from_the_mean) {
  const StepGraph graph = graph_of(profiles_of({rank("r0.json", 100), rank("r1.json", 150)}));
  const auto slowness = slowness_of(graph, recorded(graph));
  ASSERT_TRUE(slowness);
  EXPECT_EQ(slowness->ideal, Time{283'000'000});
  EXPECT_NEAR(slowness->S, 308.0 / 283, 1e-9);
  EXPECT_NEAR(*slowness->by_rank[0], 1, 1e-9);
  EXPECT_NEAR(*slowness->by_rank[1], 308.0 / 283, 1e-9);
  for (const auto& [kind, slowdown] : slowness->by_kind)
    EXPECT_NEAR(slowdown, kind == "computing" ? 308.0 / 283 : 1, 1e-9) << kind;
  EXPECT_TRUE(slowness->by_stage.empty());
}

// Three pairs of ranks: each computes for 10 us and then sends, the first for 100 us, the others for 150.
StepGraph three_pairs() {
  StepGraph graph;
  graph.kinds_of_work = {WorkKind::kComputing};
  graph.first_wait = {0};
  for (std::int32_t rank = 0; rank < 6; ++rank) {
    graph.rank_number.push_back(rank);
    const std::int32_t pair = rank / 2, first = 2 * rank;
    if (rank % 2 == 0)
      graph.transfers.push_back({.bytes = {1e6},
                                 .members = {first + 1, first + 3},
                                 .group = {rank, rank + 1},
                                 .recorded = {pair == 0 ? 100'000'000 : 150'000'000}});
    graph.ops.push_back({.duration = {10'000'000}, .rank = rank, .computes = true});
    graph.ops.push_back({.duration = {}, .rank = rank, .transfer = pair});
    graph.work.insert(graph.work.end(), {0, -1});
    graph.first_wait.push_back(graph.waits.size());
    graph.waits.push_back(first);
    graph.first_wait.push_back(graph.waits.size());
  }
  return graph;
}

// Two of three transfers take 150 us, whether one of them stands for both or not.
TEST(KinetoStep, is_as_slow_where_one_stands_for_those_that_are_alike) {
  const StepGraph graph = three_pairs();
  const FoldedGraph folded = fold_graph(graph, recorded(graph));
  ASSERT_EQ(folded.transfers.size(), 2u);
  const auto whole = slowness_of(graph, recorded(graph)), few = slowness_of(folded.graph, folded.transfers);
  ASSERT_TRUE(whole && few);
  EXPECT_EQ(whole->ideal, Time{160'000'000});
  EXPECT_EQ(few->ideal, whole->ideal);
  EXPECT_EQ(few->S, whole->S);
  EXPECT_EQ(few->by_kind, whole->by_kind);
}

TEST(KinetoStep, of_pipelines_is_told_by_stage) {
  const std::string run = R"("distributedInfo": {"rank": RANK, "world_size": 2, "pg_config": [{"pg_name": "1",
      "pg_desc": "PIPELINE_MODEL_PARALLEL_GROUP", "pg_size": 2, "ranks": [1, 0]}]}, "traceEvents")";
  std::vector<InputText> files = {rank("r0.json", 100), rank("r1.json", 150)};
  for (std::size_t i = 0; i < files.size(); ++i) {
    std::string own = run;
    own.replace(own.find("RANK"), 4, std::to_string(i));
    files[i].text.replace(files[i].text.find("\"traceEvents\""), 13, own);
  }
  const StepGraph graph = graph_of(profiles_of(files));
  EXPECT_EQ(graph.stage, (std::vector<std::int32_t>{1, 0}));
  const auto slowness = slowness_of(graph, recorded(graph));
  ASSERT_TRUE(slowness);
  ASSERT_EQ(slowness->by_stage.size(), 2u);
  EXPECT_NEAR(slowness->by_stage[0].second, 308.0 / 283, 1e-9);
}

// The group of both ranks is data parallel, and spans all eight.
TEST(KinetoStep, on_more_chips_has_groups_of_all_ranks_span_these) {
  const auto ranks = profiles_of({rank("r0.json", 100), rank("r1.json", 150)});
  const StepGraph graph = step_of_profiles(ranks, kineto::join(ranks), 8);
  EXPECT_EQ(graph.transfers[0].group, (std::vector<std::int32_t>{0, 1, 2, 3, 4, 5, 6, 7}));
}

// One rank of 16 sums with 4, 8 and 12: as far apart as ranks can be, which is the data-parallel axis unless
// the group is called otherwise.
StepGraph sum_of_four(const std::string& description, std::int64_t chips) {
  const std::string run =
      R"({"distributedInfo": {"rank": 0, "world_size": 16, "pg_config": [{"pg_name": "7", "pg_desc": ")" +
      description + R"(", "pg_size": 4, "ranks": [0, 4, 8, 12]}]}, "traceEvents": [)";
  const std::string call =
      R"(, "Collective name": "allreduce", "In msg nelems": 1048576, "Out msg nelems": 1048576,
      "Group size": 4, "dtype": "Float", "Process Group Name": "7", "Process Group Ranks": "[0, 4, 8, 12]")";
  const auto ranks =
      profiles_of({{"r0.json", run + kernel("ncclDevKernel_AllReduce", 1000, 100, 20, call) + "]}"}});
  return step_of_profiles(ranks, kineto::join(ranks), chips);
}

TEST(KinetoStep, on_more_chips_tells_which_groups_have_more_ranks) {
  using Ranks = std::vector<std::int32_t>;
  const auto told = [](const StepGraph& graph, const std::string& note) {
    return std::ranges::count(graph.notes, note) == 1;
  };
  for (const char* name : {"", "DATA_PARALLEL_GROUP", "mesh_dp_shard"}) {
    const StepGraph graph = sum_of_four(name, 32);
    EXPECT_EQ(graph.transfers[0].group, (Ranks{0, 4, 8, 12, 16, 20, 24, 28})) << name;
    EXPECT_TRUE(told(graph, "on 32 chips groups of 4 ranks have 8, which do as those recorded")) << name;
  }
  for (const std::string name : {"PIPELINE_MODEL_PARALLEL_GROUP", "mesh_pp", "TENSOR_MODEL_PARALLEL_GROUP"}) {
    const StepGraph graph = sum_of_four(name, 32);
    EXPECT_EQ(graph.transfers[0].group, (Ranks{0, 4, 8, 12})) << name;
    EXPECT_TRUE(told(graph, "groups called " + name + " have as many ranks as recorded")) << name;
    EXPECT_TRUE(told(graph, "on 32 chips no group has more ranks than recorded")) << name;
  }
  EXPECT_EQ(sum_of_four("mesh_pp", 16).notes, (std::vector<std::string>{"one rank stands for all 16 ranks"}));
}

// Two steps of 10 ms: what is computed between collectives, and these as they were.
TEST(KinetoStep, becomes_a_scenario_of_measured_layers) {
  const auto ranks = profiles_of(expected_figures::texts_of(
      {PODSIM_SOURCE_DIR "/tests/fuzz/corpus/kineto_profiles/synthetic_rank0.json"}));
  Stated stated;
  std::vector<Needed> needs;
  EXPECT_EQ(scenario_of_profile(ranks, stated, needs), "");
  EXPECT_EQ(needs.size(), 2u);
  stated.chip = "h100";
  stated.fabric = "dgx_h100";
  needs.clear();
  const std::string scenario = scenario_of_profile(ranks, stated, needs);
  EXPECT_TRUE(needs.empty());
  for (const char* part : {"chips: 8", "input_gradient_collective { kind: all_reduce bytes: 8388608 }",
                           "weight_gradient_us: 1000 ", "update_us: ", "gradients_overlapped: true"})
    EXPECT_NE(scenario.find(part), std::string::npos) << part << "\n" << scenario;
}

// A step of 500 us that none follows, of which 200 us are an all-reduce; without what it carries these stay
// in the layers.
TEST(KinetoStep, that_none_follows_is_as_long_as_its_mark_and_keeps_what_cannot_be_sent_anew) {
  const auto scenario = [](const InputText& file) {
    InputText marked = file;
    marked.text.insert(
        marked.text.find("{\"ph\""),
        R"({"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#3", "ts": 990, "dur": 500},)"
        R"({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": 991, "dur": 1,
                       "args": {"correlation": 9}},)");
    for (std::size_t at = marked.text.find("\"stream\""); at != std::string::npos;
         at = marked.text.find("\"stream\"", at + 30))
      marked.text.insert(at, "\"correlation\": 9, ");
    Stated stated;
    stated.chip = "h100";
    stated.fabric = "dgx_h100";
    std::vector<Needed> needs;
    const auto ranks = profiles_of({marked, marked});
    EXPECT_TRUE(ranks.size() == 2);
    return scenario_of_profile(ranks, stated, needs);
  };
  const InputText told = rank("r0.json", 50);
  const std::string sent = scenario(told);
  EXPECT_NE(sent.find("No step follows it"), std::string::npos) << sent;
  EXPECT_NE(sent.find("update_us: 245 "), std::string::npos) << sent;
  InputText untold = told;
  untold.text.replace(untold.text.find("\"In msg nelems\": 1048576"), 24, "\"In msg nelems\": 0");
  const std::string kept = scenario(untold);
  EXPECT_NE(kept.find("As long as recorded, whatever the fabric: 1 collectives"), std::string::npos) << kept;
  EXPECT_NE(kept.find("forward_us: 500 "), std::string::npos) << kept;
}

// One computation and one all-reduce of 4 MiB by 4 of 8 ranks, `ranks`, in a step that lasts 500 us.
std::string scenario_of_group(const std::string& ranks) {
  const std::string call =
      R"(, "correlation": 9, "Collective name": "allreduce", "In msg nelems": 1048576, "Out msg nelems": 1048576,
      "Group size": 4, "dtype": "Float", "Process Group Name": "5", "Process Group Ranks": ")" +
      ranks + "\"";
  const InputText file = {
      "r0.json",
      R"({"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 8}, "traceEvents": [
         {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#3", "ts": 990, "dur": 500},
         {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": 991, "dur": 1,
          "args": {"correlation": 9}},)" +
          kernel("gemm", 1000, 100, 7, R"(, "correlation": 9)") + "," +
          kernel("ncclDevKernel_AllReduce", 1105, 100, 20, call) + "]}"};
  Stated stated;
  stated.chip = "h100";
  stated.fabric = "dgx_h100";
  std::vector<Needed> needs;
  return scenario_of_profile(profiles_of({file}), stated, needs);
}

// The batch is cut along `data`: as many sequences as that has ranks are one microbatch.
TEST(KinetoStep, becomes_a_scenario_of_one_microbatch_whatever_groups_there_are) {
  for (const char* ranks : {"[0, 1, 2, 3]", "[0, 2, 4, 6]"}) {
    const std::string scenario = scenario_of_group(ranks);
    EXPECT_NE(scenario.find("name: \"data\" size: 2 "), std::string::npos) << scenario;
    EXPECT_NE(scenario.find("global_batch_sequences: 2 "), std::string::npos) << scenario;
  }
}

// The last axis has the neighbours.
TEST(KinetoStep, becomes_a_scenario_whose_groups_lie_as_far_apart_as_theirs) {
  const auto data_before_group = [](const std::string& scenario) {
    return scenario.find("name: \"data\"") < scenario.find("name: \"group\"");
  };
  EXPECT_TRUE(data_before_group(scenario_of_group("[0, 1, 2, 3]")));
  const std::string apart = scenario_of_group("[0, 2, 4, 6]");
  EXPECT_FALSE(data_before_group(apart));
  EXPECT_NE(apart.find("2 apart"), std::string::npos) << apart;
  EXPECT_NE(scenario_of_group("[0, 1, 2, 5]").find("taken for neighbours"), std::string::npos);
}

// One rank alone waits in its kernels for those that were not recorded.
TEST(KinetoStep, of_one_rank_lasts_to_the_nanosecond_and_that_of_all_within_two_percent) {
  const std::vector<std::string> own = {
      PODSIM_SOURCE_DIR "/tests/fuzz/corpus/kineto_profiles/synthetic_rank0.json",
      PODSIM_SOURCE_DIR "/tests/fuzz/corpus/kineto_profiles/synthetic_rank1.json"};
  std::vector<std::vector<std::string>> sets = {{own[0]}, {own[1]}};
  for (const expected_figures::Case& each :
       expected_figures::cases_below(expected_figures::data_folder() + "/ingest/kineto"))
    if (!each.refused) sets.push_back(each.files);
  for (const std::vector<std::string>& files : sets) {
    SCOPED_TRACE(files.front());
    const std::vector<RankProfile> ranks = profiles_of(expected_figures::texts_of(files));
    const kineto::JoinedRanks joined = kineto::join(ranks);
    const StepGraph graph = step_of_profiles(ranks, joined, static_cast<std::int64_t>(ranks.size()));
    const GraphRun run = run_graph(graph, recorded(graph));
    std::int64_t first = INT64_MAX, last = 0;
    for (std::size_t r = 0; r < ranks.size(); ++r)
      for (const kineto::DeviceEvent& event : ranks[r].profile.device_events) {
        first = std::min(first, event.begin_ns + joined.shift_ns[r]);
        last = std::max(last, event.end_ns + joined.shift_ns[r]);
      }
    const double span_ps = 1e3 * static_cast<double>(last - first),
                 step_ps = static_cast<double>(run.step.ps);
    EXPECT_LE(std::abs(step_ps / span_ps - 1), ranks.size() == 1 ? 0 : 0.02) << span_ps << " " << step_ps;
  }
}

}  // namespace
}  // namespace podsim::kineto_step_test
