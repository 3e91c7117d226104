// Modules on a machine: which kernels are one, which collectives are waited for.
#include "collectives/collective.h"
#include "ingest/hlo/cost.h"
#include "ingest/hlo/module_step.h"
#include "proto/catalog/catalog.h"
#include "proto/catalog/convert.h"
#include "proto/scenario/chosen_fabric.h"
#include "tests/ingest/hlo_texts.h"

namespace podsim::hlo_step_test {
namespace {

using testing::kAdd;
using testing::module_of;

const hlo::Machine& machine() {
  static const hlo::Machine kMachine = [] {
    const Catalog catalog;
    const auto chosen = chosen_fabric(catalog, {"dgx_h100", 8, {}, 1, false, "", std::nullopt, ""});
    hlo::Machine made = {catalog_chip(catalog, "h100").value(), catalog_stack(catalog, "generic_xla").value(),
                         build_fabric(chosen.first.value())};
    made.stack.attention_kernel = "cudnn";
    return made;
  }();
  return kMachine;
}

hlo::ModuleStep step_of(const std::string& instructions, const std::string& before = "") {
  const hlo::Module module =
      module_of("HloModule m\n" + kAdd + before + "ENTRY e {\n" + instructions + "}\n");
  return hlo::predict_module(module, hlo::loop_counts(module), machine());
}

double memory_seconds(double bytes) {
  return seconds_at(Bytes{bytes}, machine().chip.hbm * machine().chip.hbm_efficiency);
}

double alone(CollectiveKind kind, double bytes) {
  return predict(machine().fabric,
                 plan(machine().fabric, {kind, {bytes}}, std::vector<ChipId>{0, 1, 2, 3, 4, 5, 6, 7}))
      .in_seconds();
}

constexpr double kSide = 4096, kBytes = 2 * kSide * kSide;  // of bf16[4096,4096]

// One that reads twice and writes once, not three that read and write.
TEST(HloStep, takes_a_chain_of_elementwise_operations_as_one_kernel) {
  const hlo::ModuleStep step = step_of(
      "  x = bf16[4096,4096] parameter(0)\n  y = bf16[4096,4096] parameter(1)\n  a = bf16[4096,4096] add(x, "
      "y)\n"
      "  b = bf16[4096,4096] exponential(a)\n  ROOT c = bf16[4096,4096] negate(b)\n");
  EXPECT_EQ(step.others.runs, 1);
  EXPECT_DOUBLE_EQ(step.bytes_fused, 3 * kBytes);
  EXPECT_DOUBLE_EQ(step.seconds, memory_seconds(3 * kBytes));
}

// bf16[1024,4096] of four such pieces: what is cut off is read, not what it is cut from.
TEST(HloStep, reads_of_what_a_kernel_slices_the_slice_alone) {
  const std::string parameters =
      "  x = bf16[4096,4096] parameter(0)\n  i = s32[] parameter(1)\n  z = s32[] constant(0)\n";
  const std::string piece = "bf16[1024,4096]", cut = "dynamic_slice_sizes={1024,4096}\n";
  const double read_and_written = 2 * kBytes / 4 + 4;  // and where it begins
  const auto bytes = [&](const std::string& instructions) {
    return step_of(parameters + instructions).bytes_fused;
  };
  EXPECT_DOUBLE_EQ(bytes("  ROOT s = " + piece + " dynamic-slice(x, i, z), " + cut), read_and_written);
  EXPECT_DOUBLE_EQ(
      bytes("  s = " + piece + " dynamic-slice(x, i, z), " + cut + "  ROOT n = " + piece + " negate(s)\n"),
      read_and_written);
  EXPECT_DOUBLE_EQ(
      bytes("  n = bf16[4096,4096] negate(x)\n  ROOT s = " + piece + " dynamic-slice(n, i, z), " + cut),
      read_and_written)
      << "nor is more of a chain computed";
  const std::string two =
      "  a = bf16[3072,4096] slice(x), slice={[0:3072], [0:4096]}\n"
      "  b = bf16[3072,4096] slice(x), slice={[1024:4096], [0:4096]}\n";
  EXPECT_DOUBLE_EQ(bytes(two + "  ROOT c = bf16[3072,4096] add(a, b)\n"), kBytes + kBytes * 3 / 4)
      << "no array more than once";
}

// Weights of 80 layers lie in one array, of which each trip of the loop adds a small piece.
TEST(HloStep, moves_no_more_than_the_operations_by_themselves_in_a_scan_of_layers) {
  const std::string tuple = "(s32[], bf16[64,64], bf16[80,512,512])";
  const std::string parts = "  t = " + tuple + " parameter(0)\n  i = s32[] get-tuple-element(t), index=0\n";
  const std::string loop = "body {\n" + parts +
                           "  x = bf16[64,64] get-tuple-element(t), index=1\n"
                           "  w = bf16[80,512,512] get-tuple-element(t), index=2\n  o = s32[] constant(1)\n"
                           "  j = s32[] add(i, o)\n  z = s32[] constant(0)\n"
                           "  s = bf16[1,64,64] dynamic-slice(w, i, z, z), dynamic_slice_sizes={1,64,64}\n"
                           "  r = bf16[64,64] reshape(s)\n  y = bf16[64,64] add(x, r)\n  ROOT n = " +
                           tuple + " tuple(j, y, w)\n}\ncond {\n" + parts +
                           "  n = s32[] constant(80)\n  ROOT c = pred[] compare(i, n), direction=LT\n}\n";
  const hlo::Module module =
      module_of("HloModule m\n" + loop +
                "ENTRY e {\n  x = bf16[64,64] parameter(0)\n  w = bf16[80,512,512] parameter(1)\n"
                "  z = s32[] constant(0)\n  t = " +
                tuple + " tuple(z, x, w)\n  ROOT l = " + tuple + " while(t), condition=cond, body=body\n}\n");
  const hlo::LoopCounts loops = hlo::loop_counts(module);
  const double fused = hlo::predict_module(module, loops, machine()).bytes_fused;
  EXPECT_LE(fused, static_cast<double>(hlo::CostAnalysis(module, &loops).of(module.entry).bytes));
  EXPECT_DOUBLE_EQ(fused, 80 * (3 * 2 * 64 * 64 + 4 + 8)) << "two pieces read, one written, and the counter";
}

const char* const kGroups = ", channel_id=1, replica_groups=[1,8]<=[8], use_global_device_ids=true";

std::string product(const std::string& name, const std::string& operands) {
  return "  " + name + " = bf16[4096,4096] dot(" + operands +
         "), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n";
}

// A sum of what the first product gives, which the second needs, is waited for; a weight is gathered
// meanwhile.
TEST(HloStep, waits_for_what_stands_between_two_products_and_gathers_weights_beside_them) {
  const std::string parameters = "  x = bf16[4096,4096] parameter(0)\n  w = bf16[512,4096] parameter(1)\n";
  const hlo::ModuleStep between =
      step_of(parameters + product("p", "x, x") + "  r = bf16[4096,4096] all-reduce(p)" + kGroups +
              ", to_apply=add\n" + product("q", "r, x") + "  ROOT t = bf16[4096,4096] negate(q)\n");
  const double reduced = alone(CollectiveKind::kAllReduce, kBytes);
  EXPECT_DOUBLE_EQ(between.exposed_seconds, reduced);
  EXPECT_DOUBLE_EQ(between.seconds, between.matmuls.seconds + between.others.seconds + reduced);
  const hlo::ModuleStep beside =
      step_of(parameters + product("p", "x, x") + "  g = bf16[4096,4096] all-gather(w), dimensions={0}" +
              kGroups + "\n" + product("q", "p, g") + "  ROOT t = bf16[4096,4096] negate(q)\n");
  const double gathered = alone(CollectiveKind::kAllGather, kBytes);
  EXPECT_DOUBLE_EQ(beside.communication_seconds, gathered);
  const double computing = beside.matmuls.seconds + beside.others.seconds;
  EXPECT_DOUBLE_EQ(beside.seconds, std::max(computing, gathered));
}

TEST(HloStep, times_a_sum_of_which_a_part_is_kept_as_a_reduce_scatter) {
  const hlo::ModuleStep step = step_of(
      "  x = bf16[4096,4096] parameter(0)\n  i = u32[] partition-id()\n  z = u32[] constant(0)\n"
      "  r = bf16[4096,4096] all-reduce(x)" +
      std::string(kGroups) +
      ", to_apply=add\n  ROOT s = bf16[512,4096] dynamic-slice(r, i, z), dynamic_slice_sizes={512,4096}\n");
  EXPECT_EQ(step.scattered, 1);
  EXPECT_DOUBLE_EQ(step.communication_seconds, alone(CollectiveKind::kReduceScatter, kBytes));
}

TEST(HloStep, runs_the_body_of_a_loop_as_often_as_the_loop_goes_round) {
  const std::string loop =
      "body {\n  t = (s32[], bf16[4096,4096]) parameter(0)\n  i = s32[] get-tuple-element(t), index=0\n"
      "  x = bf16[4096,4096] get-tuple-element(t), index=1\n  o = s32[] constant(1)\n  j = s32[] add(i, "
      "o)\n" +
      product("p", "x, x") +
      "  ROOT r = (s32[], bf16[4096,4096]) tuple(j, p)\n}\ncond {\n  t = (s32[], bf16[4096,4096]) "
      "parameter(0)\n"
      "  i = s32[] get-tuple-element(t), index=0\n  n = s32[] constant(10)\n  ROOT c = pred[] compare(i, n), "
      "direction=LT\n}\n";
  const hlo::ModuleStep step = step_of(
      "  x = bf16[4096,4096] parameter(0)\n  z = s32[] constant(0)\n  t = (s32[], bf16[4096,4096]) tuple(z, "
      "x)\n"
      "  ROOT w = (s32[], bf16[4096,4096]) while(t), condition=cond, body=body\n",
      loop);
  EXPECT_EQ(step.matmuls.runs, 10);
  EXPECT_NEAR(step.seconds, step.matmuls.seconds, 1e-6);  // and a counter
  EXPECT_GT(step.matmuls.seconds, 10 * 2 * kSide * kSide * kSide / 989e12);
}

}  // namespace
}  // namespace podsim::hlo_step_test
