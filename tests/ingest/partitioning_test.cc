// Modules that no compiler has partitioned: meshes of tilings, and the collectives of podsim's partitioner.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ingest/hlo/collectives.h"
#include "ingest/hlo/parse.h"
#include "ingest/partitioning/device_mesh.h"
#include "ingest/partitioning/module_file.h"
#include "ingest/partitioning/module_totals.h"
#include "proto/text/read_file.h"

namespace podsim::partitioning_test {
namespace {

using partitioning::CollectiveSum;
using partitioning::TakenModule;

using Axes = std::vector<std::pair<std::string, std::int64_t>>;

TakenModule taken(const std::string& text, const Axes& mesh = {}) {
  std::vector<Problem> problems;
  Stated stated;
  stated.mesh = mesh;
  auto modules = partitioning::take_modules({"m", text}, stated, problems);
  for (const Problem& problem : problems) ADD_FAILURE() << format_problem(problem);
  if (!modules || modules->size() != 1) return {};
  return std::move(modules->front());
}

// "all-gather x (4) x1 128", one line for each kind and axes.
std::string sums(const TakenModule& module) {
  std::string text = module.refused;
  for (const CollectiveSum& sum : collective_sums(module.partitioned))
    text += sum.kind + " " + sum.axes + " (" + std::to_string(sum.group) + ") x" +
            std::to_string(sum.executed) + " " + std::to_string(sum.sent_bytes) + "\n";
  return text;
}

std::string product(const std::string& left, const std::string& right, const std::string& result) {
  return "module {\n  sdy.mesh @mesh = <[\"x\"=2, \"y\"=4]>\n  func.func public @main(%a: tensor<64x32xf32> "
         "{sdy.sharding = #sdy.sharding<@mesh, " +
         left +
         ">}, %b: tensor<32x16xf32> {sdy.sharding = "
         "#sdy.sharding<@mesh, " +
         right + ">}) -> (tensor<64x16xf32> {sdy.sharding = #sdy.sharding<@mesh, " + result +
         ">}) {\n    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : "
         "(tensor<64x32xf32>, tensor<32x16xf32>) -> tensor<64x16xf32>\n    return %0 : tensor<64x16xf32>\n  "
         "}\n}\n";
}

TEST(Partitioning, a_cut_contraction_is_a_partial_sum_and_is_reduced) {
  const TakenModule module = taken(product(R"([{"x"}, {"y"}])", R"([{"y"}, {}])", R"([{"x"}, {}])"));
  // [32,16] of f32 on a device, twice three quarters of it.
  EXPECT_EQ(sums(module), "all-reduce y (4) x1 3072\n");
  EXPECT_EQ(product_flops(module.partitioned), 2.0 * 64 * 32 * 16 / 8);
}

TEST(Partitioning, a_sum_that_is_wanted_in_parts_is_scattered) {
  EXPECT_EQ(sums(taken(product(R"([{"x"}, {"y"}])", R"([{"y"}, {}])", R"([{"x"}, {"y"}])"))),
            "reduce-scatter y (4) x1 1536\n");
}

// A weight that lies on the axis of the batch is gathered: 3 of 4 parts of 2,048 bytes.
TEST(Partitioning, a_weight_on_the_axis_of_the_batch_is_gathered) {
  EXPECT_EQ(sums(taken(product(R"([{"y"}, {}])", R"([{"y"}, {}])", R"([{"y"}, {}])"))),
            "all-gather y (4) x1 1536\n");
}

TEST(Partitioning, columns_of_a_weight_send_nothing) {
  EXPECT_EQ(sums(taken(product(R"([{"x"}, {}])", R"([{}, {"y"}])", R"([{"x"}, {"y"}])"))), "");
}

TEST(Partitioning, tilings_ask_for_the_coarsest_mesh_that_they_cut_by_whole_axes) {
  std::vector<Problem> problems;
  const auto modules =
      hlo::parse_modules("m",
                         "HloModule m\nENTRY e {\n"
                         "  a = f32[8,8] parameter(0), sharding={devices=[2,4]<=[8]}\n"
                         "  b = f32[8,8] parameter(1), sharding={devices=[4,1,2]<=[2,4]T(1,0) "
                         "last_tile_dim_replicate}\n"
                         "  ROOT c = f32[8,8] add(a, b)\n}\n",
                         problems);
  ASSERT_TRUE(modules);
  EXPECT_TRUE(partitioning::is_annotated(modules->front()));
  const auto mesh = partitioning::mesh_of_tilings(modules->front());
  ASSERT_TRUE(mesh);
  EXPECT_EQ(*mesh, (Mesh{{{"axis0", 2}, {"axis1", 4}}}));
  const auto text = [&](const char* sharding) {
    const auto annotation = partitioning::annotation_of(*mesh, 2, sharding);
    return annotation ? to_string(*mesh, *annotation) : "nothing";
  };
  EXPECT_EQ(text("{devices=[2,4]<=[8]}"), "[{axis0},{axis1}]");
  EXPECT_EQ(text("{devices=[4,1,2]<=[2,4]T(1,0) last_tile_dim_replicate}"), "[{axis1},{}]");
  EXPECT_EQ(text("{devices=[1,8]<=[8]}"), "[{},{axis0,axis1}]");
  EXPECT_EQ(text("{devices=[4,2]<=[8]}"), "[{axis0,axis1:(1)2},{axis1:(2)2}]");
  EXPECT_EQ(text("{replicated}"), "[{},{}]");
  EXPECT_EQ(text("{devices=[3,3]<=[9]}"), "nothing");
  EXPECT_EQ(text("{manual}"), "nothing");
}

constexpr const char* kLoop = R"(HloModule m
cond {
  p = (s32[], f32[8,64], f32[64,64]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(5)
  ROOT c = pred[] compare(i, n), direction=LT
}
body {
  p = (s32[], f32[8,64], f32[64,64]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  one = s32[] constant(1)
  next = s32[] add(i, one)
  x = f32[8,64] get-tuple-element(p), index=1
  w = f32[64,64] get-tuple-element(p), index=2
  y = f32[8,64] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT t = (s32[], f32[8,64], f32[64,64]) tuple(next, y, w)
}
ENTRY e {
  x = f32[8,64] parameter(0), sharding={devices=[4,1]<=[4]}
  w = f32[64,64] parameter(1), sharding={devices=[4,1]<=[4]}
  zero = s32[] constant(0)
  t = (s32[], f32[8,64], f32[64,64]) tuple(zero, x, w)
  loop = (s32[], f32[8,64], f32[64,64]) while(t), condition=cond, body=body
  ROOT y = f32[8,64] get-tuple-element(loop), index=1
}
)";

TEST(Partitioning, what_a_loop_sends_counts_once_for_each_of_its_rounds) {
  const TakenModule module = taken(kLoop);
  EXPECT_EQ(product_flops(module.partitioned), 5 * 2.0 * 2 * 64 * 64);
  std::int64_t executed = 0;
  for (const CollectiveSum& sum : collective_sums(module.partitioned)) executed += sum.executed;
  EXPECT_GT(executed, 0);
}

// The module of one device, read by what reads those of XLA, has the same collectives.
TEST(Partitioning, the_local_module_sends_what_its_operations_are_said_to_send) {
  for (const std::string& text :
       {std::string(kLoop), product(R"([{"x"}, {"y"}])", R"([{"y"}, {}])", R"([{"x"}, {}])"),
        product(R"([{"y"}, {}])", R"([{"y"}, {}])", R"([{"y"}, {}])")}) {
    const TakenModule module = taken(text);
    const hlo::Module& local = module.partitioned.local;
    const hlo::LoopCounts loops = hlo::loop_counts(local);
    std::int64_t executed = 0, operand_bytes = 0, planned = 0, planned_bytes = 0;
    for (const hlo::CollectiveUse& use : hlo::collective_uses(local, hlo::executions(local, loops))) {
      executed += use.executed;
      operand_bytes += use.operand_bytes;
    }
    for (const CollectiveSum& sum : collective_sums(module.partitioned)) {
      planned += sum.executed;
      planned_bytes += sum.operand_bytes;
    }
    EXPECT_EQ(executed, planned);
    EXPECT_EQ(operand_bytes, planned_bytes);
  }
}

TEST(Partitioning, what_is_not_planned_is_named_and_whole_on_every_device) {
  const TakenModule module = taken(
      "HloModule m\nENTRY e {\n  a = f32[8,8] parameter(0), sharding={devices=[4,1]<=[4]}\n"
      "  ROOT b = f32[8,8] custom-call(a), custom_call_target=\"mystery\"\n}\n");
  EXPECT_EQ(module.partitioned.not_planned,
            (std::map<std::string, std::int64_t>{{"custom-call mystery", 1}}));
  EXPECT_EQ(sums(module), "all-gather axis0 (4) x1 192\n");
}

TEST(Partitioning, a_module_without_a_mesh_asks_for_one_and_takes_the_one_that_is_stated) {
  const std::string text =
      "module {\n  func.func public @main(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {\n"
      "    %0 = stablehlo.negate %a : tensor<8x8xf32>\n    return %0 : tensor<8x8xf32>\n  }\n}\n";
  EXPECT_TRUE(taken(text).needs_mesh);
  EXPECT_EQ(taken(text, {{"data", 4}}).refused, "");
}

TEST(Partitioning, a_module_without_functions_among_others_is_refused_alone) {
  std::vector<Problem> problems;
  const auto modules = partitioning::take_modules(
      {"m", "module @empty {\n}\n" + product(R"([{"x"}, {}])", R"([{}, {"y"}])", R"([{"x"}, {"y"}])")}, {},
      problems);
  ASSERT_TRUE(modules);
  ASSERT_EQ(modules->size(), 2u);
  EXPECT_EQ(modules->front().refused, "a module without functions");
  EXPECT_EQ(modules->back().refused, "");
}

TEST(Partitioning, a_broadcast_without_an_operand_is_refused) {
  EXPECT_EQ(taken("module {\n  sdy.mesh @m = <[\"x\"=2]>\n  func.func @main() -> tensor<4xf32> {\n"
                  "    %0 = stablehlo.broadcast_in_dim dims = [] : (tensor<f32>) -> tensor<4xf32>\n"
                  "    return %0 : tensor<4xf32>\n  }\n}\n")
                .refused,
            "a broadcast of nothing");
}

TEST(Partitioning, a_loop_of_other_results_than_it_is_given_values_is_refused) {
  const auto refusal = [](const std::string& results) {
    return taken(
               "module {\n  sdy.mesh @m = <[\"x\"=2]>\n"
               "  func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {\n    " +
               results +
               " = stablehlo.while(%i = %a, %j = %a) : tensor<8xf32>, tensor<8xf32>\n     cond {\n"
               "      %1 = stablehlo.constant dense<true> : tensor<i1>\n"
               "      stablehlo.return %1 : tensor<i1>\n    } do {\n"
               "      stablehlo.return %i, %j : tensor<8xf32>, tensor<8xf32>\n    }\n"
               "    return %0#0 : tensor<8xf32>\n  }\n}\n")
        .refused;
  };
  EXPECT_EQ(refusal("%0:2"), "");
  EXPECT_EQ(refusal("%0:9"), "a loop of another form");
}

std::string text_of(const std::string& file) {
  std::vector<Problem> problems;
  return read_file(file, problems).value_or("");
}

constexpr const char* kNetwork = PODSIM_SOURCE_DIR "/tests/ingest/modules/loss_fsdp_tp.mlir";

TEST(Partitioning, totals_are_the_sums_of_what_operations_send) {
  const TakenModule module = taken(text_of(kNetwork));
  double sent = 0, told = 0;
  for (const partitioning::OperationRecord& operation : module.partitioned.operations)
    for (const partitioning::MadeCollective& made : operation.collectives)
      sent += made.sent_bytes * static_cast<double>(operation.runs);
  for (const CollectiveSum& sum : collective_sums(module.partitioned))
    told += static_cast<double>(sum.sent_bytes);
  EXPECT_GT(sent, 0);
  EXPECT_EQ(sent, told);
  EXPECT_TRUE(module.partitioned.not_planned.empty());
}

// The same network whose collectives were written by hand.
TEST(Partitioning, sends_no_more_than_the_same_network_in_a_manual_region) {
  const char* data = std::getenv("PODSIM_DATA");
  const std::string manual =
      data == nullptr ? "" : text_of(std::string(data) + "/ingest/stablehlo/e2e_fsdp_tp_shardy.mlir");
  if (manual.empty()) GTEST_SKIP() << "needs the files of PODSIM_DATA";
  const TakenModule ours = taken(text_of(kNetwork)), theirs = taken(manual);
  std::map<std::string, std::int64_t> executed;
  std::int64_t our_bytes = 0, their_bytes = 0;
  for (const CollectiveSum& sum : collective_sums(ours.partitioned)) our_bytes += sum.sent_bytes;
  for (const CollectiveSum& sum : collective_sums(theirs.partitioned)) {
    executed[sum.kind] += sum.executed;
    their_bytes += sum.sent_bytes;
  }
  EXPECT_EQ(executed, (std::map<std::string, std::int64_t>{
                          {"all-gather", 12}, {"all-reduce", 2}, {"reduce-scatter", 6}}));
  EXPECT_LE(our_bytes, their_bytes);
  EXPECT_EQ(product_flops(ours.partitioned), product_flops(theirs.partitioned));
}

// Every open module is partitioned, or says that it is compiled already; nothing of it is left out in
// silence.
TEST(Partitioning, takes_every_open_module) {
  const char* data = std::getenv("PODSIM_DATA");
  if (data == nullptr) GTEST_SKIP() << "needs the files of PODSIM_DATA";
  for (const char* file :
       {"stablehlo/autoencoder_linear.mlir", "stablehlo/ccl_ops_shardy.mlir", "stablehlo/e2e_fsdp_gspmd.mlir",
        "hlo/sharded_computation.hlo", "hlo/nv_maxtext_1n1g_jit_train_step_before_optimization.hlo.gz"}) {
    const std::string text = text_of(std::string(data) + "/ingest/" + file);
    if (text.empty()) continue;
    std::vector<Problem> problems;
    const auto modules = partitioning::take_modules({file, text}, {}, problems);
    ASSERT_TRUE(modules) << file;
    for (const TakenModule& module : *modules) {
      EXPECT_EQ(module.refused, "") << file << " " << module.name;
      EXPECT_TRUE(module.partitioned.unread.empty()) << file << " " << module.name;
    }
  }
}

}  // namespace
}  // namespace podsim::partitioning_test
