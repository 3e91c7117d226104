// Collectives of HLO by all of their groups, and products by what is multiplied.
#include "collectives/collective.h"
#include "ingest/hlo/step_figures.h"
#include "ingest/hlo/transfer_times.h"
#include "tests/ingest/hlo_machine.h"

namespace podsim::hlo_transfers_test {
namespace {

using testing::h100_machine;
using testing::module_of;
using testing::step_on;

constexpr double kBytes = 2.0 * 4096 * 4096;  // of bf16[4096,4096]

double permuted(const std::string& pairs) {
  return step_on(16,
                 "  x = bf16[4096,4096] parameter(0)\n  ROOT p = bf16[4096,4096] collective-permute(x), "
                 "channel_id=1, source_target_pairs=" +
                     pairs + "\n",
                 "", ", num_partitions=16")
      .communication_seconds;
}

double alone(CollectiveKind kind, const std::vector<ChipId>& group) {
  const Fabric& fabric = h100_machine(16).fabric;
  return predict(fabric, plan(fabric, {kind, {kBytes}}, group)).in_seconds();
}

TEST(HloTransfers, a_permute_takes_as_long_as_its_slowest_pair_in_whatever_order_it_stands) {
  const double between = alone(CollectiveKind::kSendReceive, {7, 8});
  EXPECT_NEAR(permuted("{{0,1},{7,8}}"), between, 1e-12);
  EXPECT_NEAR(permuted("{{7,8},{0,1}}"), between, 1e-12);
  EXPECT_NEAR(permuted("{{3,3},{7,8}}"), between, 1e-12);
  EXPECT_NEAR(permuted("{{0,1}}"), alone(CollectiveKind::kSendReceive, {0, 1}), 1e-12);
  EXPECT_EQ(permuted("{{3,3}}"), 0);
}

hlo::ModuleStep reduced(const std::string& groups) {
  return step_on(
      16,
      "  x = bf16[4096,4096] parameter(0)\n  ROOT r = bf16[4096,4096] all-reduce(x), channel_id=1, "
      "use_global_device_ids=true, to_apply=add, replica_groups=" +
          groups + "\n",
      "", ", num_partitions=16");
}

TEST(HloTransfers, groups_take_as_long_as_the_slowest_of_them) {
  std::vector<ChipId> others;
  for (ChipId chip = 1; chip < 16; ++chip) others.push_back(chip);
  const double of_15 = alone(CollectiveKind::kAllReduce, others);
  const std::string rest = "{1,2,3,4,5,6,7,8,9,10,11,12,13,14,15}";
  EXPECT_NEAR(reduced("{{0}," + rest + "}").communication_seconds, of_15, 1e-12);
  EXPECT_NEAR(reduced("{" + rest + ",{0}}").communication_seconds, of_15, 1e-12);
  EXPECT_NEAR(reduced("[2,8]<=[16]").communication_seconds,
              alone(CollectiveKind::kAllReduce, {0, 1, 2, 3, 4, 5, 6, 7}), 1e-12);
}

// Sixteen chips with one NIC for each server of eight: pairs over servers share it.
TEST(HloTransfers, groups_that_share_links_slow_each_other_down) {
  const Catalog catalog;
  hlo::Machine machine = h100_machine(16);
  auto spec = chosen_fabric(catalog, {"dgx_h100", 16, {}, 1, false, "", std::nullopt, ""}).first.value();
  ASSERT_FALSE(spec.gpu->tiers.empty());
  spec.gpu->rail_optimised = false;
  spec.gpu->tiers.front().down = 8;
  spec.gpu->tiers.front().oversubscription = 8;
  machine.fabric = build_fabric(spec);
  const auto pairs = [&](const std::string& text) {
    const hlo::Module module = module_of(
        "HloModule m, num_partitions=16\nENTRY e {\n  x = bf16[4096,4096] parameter(0)\n"
        "  ROOT p = bf16[4096,4096] collective-permute(x), channel_id=1, source_target_pairs=" +
        text + "\n}\n");
    return hlo::predict_module(module, hlo::loop_counts(module), machine).communication_seconds;
  };
  const double one = pairs("{{0,8}}");
  EXPECT_GT(pairs("{{0,8},{1,9},{2,10},{3,11},{4,12},{5,13},{6,14},{7,15}}"), 4 * one);
}

TEST(HloTransfers, devices_are_those_that_groups_name) {
  const auto devices = [](const std::string& groups) {
    return hlo::devices_named(
        module_of("HloModule m\n" + testing::kAdd +
                  "ENTRY e {\n  x = f32[8] parameter(0)\n  ROOT r = f32[8] all-reduce(x), channel_id=1, "
                  "use_global_device_ids=true, to_apply=add, replica_groups=" +
                  groups + "\n}\n"));
  };
  EXPECT_EQ(devices("{{0},{1,2,3,4,5,6,7}}"), 8);
  EXPECT_EQ(devices("[2,8]<=[16]"), 16);
  EXPECT_EQ(devices("mesh['a'=2,'b'=4] {'a'}"), 8);
}

TEST(HloTransfers, every_group_of_each_form_of_writing_is_known) {
  const auto groups = [](const std::string& attributes) {
    const hlo::Module module = module_of("HloModule m, replica_count=2, num_partitions=2\n" + testing::kAdd +
                                         "ENTRY e {\n  x = f32[8] parameter(0)\n  ROOT r = f32[8] "
                                         "all-reduce(x), to_apply=add, " +
                                         attributes + "\n}\n");
    return hlo::device_groups(module, module.entry_computation().root_instruction());
  };
  using Groups = hlo::DeviceGroups;
  const std::string global = "channel_id=1, use_global_device_ids=true, replica_groups=";
  EXPECT_EQ(groups(global + "{{0,1},{3,2}}"), (Groups{{0, 1}, {3, 2}}));
  EXPECT_EQ(groups(global + "[2,2]<=[2,2]T(1,0)"), (Groups{{0, 2}, {1, 3}}));
  EXPECT_EQ(groups(global + "mesh['a'=2,'b'=2] {'a'}"), (Groups{{0, 2}, {1, 3}}));
  EXPECT_EQ(groups("replica_groups={{0,1}}"), (Groups{{0, 2}, {1, 3}}));  // once for each partition
  EXPECT_EQ(groups("replica_groups={}"), (Groups{{0, 2}, {1, 3}}));
  EXPECT_EQ(groups("channel_id=1, replica_groups={{0},{1}}"), (Groups{{0, 1}, {2, 3}}));
}

TEST(HloTransfers, a_ragged_all_to_all_sends_its_first_operand_alone) {
  const std::string group = ", channel_id=1, replica_groups={{0,1,2,3,4,5,6,7}}\n";
  const hlo::ModuleStep ragged = step_on(
      8,
      "  x = bf16[4096,4096] parameter(0)\n  o = bf16[4096,4096] parameter(1)\n  a = s32[8] parameter(2)\n"
      "  ROOT q = bf16[4096,4096] ragged-all-to-all(x, o, a, a, a, a)" +
          group);
  const Fabric& fabric = h100_machine(8).fabric;
  const std::vector<ChipId> all = {0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_NEAR(ragged.communication_seconds,
              predict(fabric, plan(fabric, {CollectiveKind::kAllToAll, {kBytes}}, all)).in_seconds(), 1e-12);
}

const char* const kSum =
    "channel_id=1, replica_groups=[1,8]<=[8], use_global_device_ids=true, to_apply=add\n";
const char* const kOwnPlace =
    "  z = s32[] constant(0)\n  id = u32[] partition-id()\n  k = u32[] constant(512)\n"
    "  o = u32[] multiply(id, k)\n  i = s32[] convert(o)\n";

TEST(HloTransfers, a_sum_is_a_reduce_scatter_where_each_device_keeps_its_own_part) {
  const std::string slice =
      "  ROOT s = bf16[512,4096] dynamic-slice(r, i, z), dynamic_slice_sizes={512,4096}\n";
  const std::string x = "  x = bf16[4096,4096] parameter(0)\n";
  const std::string at_once = "  r = bf16[4096,4096] all-reduce(x), " + std::string(kSum);
  EXPECT_EQ(step_on(8, x + kOwnPlace + at_once + slice).scattered, 1);
  EXPECT_EQ(step_on(8, x + kOwnPlace + "  b = bf16[4096,4096] all-reduce-start(x), " + kSum +
                           "  r = bf16[4096,4096] all-reduce-done(b)\n" + slice)
                .scattered,
            1);
  EXPECT_EQ(
      step_on(8, x + "  z = s32[] constant(0)\n  i = s32[] constant(512)\n" + at_once + slice).scattered, 0);
}

// A place that a loop carries from outside is the device's own; the counter of the loop is not.
TEST(HloTransfers, a_sum_in_a_loop_is_a_reduce_scatter_by_a_place_from_outside_but_not_by_the_counter) {
  const auto scattered = [](const std::string& place) {
    const std::string carried = "(s32[], s32[], bf16[4096,4096])";
    return step_on(8,
                   "  x = bf16[4096,4096] parameter(0)\n" + std::string(kOwnPlace) + "  t = " + carried +
                       " tuple(z, i, x)\n  ROOT l = " + carried + " while(t), condition=cond, body=body\n",
                   "body {\n  t = " + carried +
                       " parameter(0)\n  c = s32[] get-tuple-element(t), index=0\n"
                       "  i = s32[] get-tuple-element(t), index=1\n"
                       "  x = bf16[4096,4096] get-tuple-element(t), index=2\n"
                       "  r = bf16[4096,4096] all-reduce(x), " +
                       kSum + "  z = s32[] constant(0)\n  s = bf16[512,4096] dynamic-slice(r, " + place +
                       ", z), dynamic_slice_sizes={512,4096}\n"
                       "  y = bf16[4096,4096] dynamic-update-slice(x, s, z, z)\n"
                       "  one = s32[] constant(1)\n  d = s32[] add(c, one)\n  ROOT n = " +
                       carried + " tuple(d, i, y)\n}\ncond {\n  t = " + carried +
                       " parameter(0)\n  c = s32[] get-tuple-element(t), index=0\n  n = s32[] constant(3)\n"
                       "  ROOT e = pred[] compare(c, n), direction=LT\n}\n")
        .scattered;
  };
  EXPECT_EQ(scattered("i"), 3);
  EXPECT_EQ(scattered("c"), 0);
}

// The bias that is added comes first or last.
TEST(HloTransfers, a_fused_product_has_the_rate_of_what_is_multiplied) {
  const auto seconds = [](bool bias_first) {
    const std::string numbers[] = {bias_first ? "1" : "0", bias_first ? "2" : "1", bias_first ? "0" : "2"};
    const std::string operands = bias_first ? "b, a, w" : "a, w, b";
    return step_on(8,
                   "  a = f8e4m3fn[4096,4096] parameter(0)\n  w = f8e4m3fn[4096,4096] parameter(1)\n"
                   "  b = f32[4096] parameter(2)\n  ROOT t = bf16[4096,4096] fusion(" +
                       operands + "), kind=kOutput, calls=f\n",
                   "f {\n  a = f8e4m3fn[4096,4096] parameter(" + numbers[0] +
                       ")\n  w = f8e4m3fn[4096,4096] parameter(" + numbers[1] +
                       ")\n  b = f32[4096] parameter(" + numbers[2] +
                       ")\n  d = bf16[4096,4096] dot(a, w), lhs_contracting_dims={1}, "
                       "rhs_contracting_dims={0}\n  c = bf16[4096] convert(b)\n"
                       "  e = bf16[4096,4096] broadcast(c), dimensions={1}\n"
                       "  ROOT s = bf16[4096,4096] add(d, e)\n}\n")
        .matmuls.seconds;
  };
  EXPECT_DOUBLE_EQ(seconds(true), seconds(false));
  EXPECT_LT(seconds(true), 2.0 * 4096 * 4096 * 4096 / 989e12);  // faster than any product of bf16
}

std::string told(const hlo::ModuleStep& step) { return hlo::step_text("f", step, h100_machine(8)); }

TEST(HloTransfers, a_step_says_which_products_have_no_rate_and_what_it_gives_no_time) {
  const hlo::ModuleStep step = step_on(
      8,
      "  x = f32[4096,4096] parameter(0)\n"
      "  p = f32[4096,4096] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
      "  h = f32[4096,4096]{1,0:S(5)} custom-call(p), custom_call_target=\"MoveToHost\"\n"
      "  d = f32[4096,4096] custom-call(h), custom_call_target=\"MoveToDevice\"\n"
      "  tok = token[] after-all()\n  s = (f32[4096,4096], u32[], token[]) send(d, tok), channel_id=1\n"
      "  ROOT e = token[] send-done(s), channel_id=1\n");
  EXPECT_DOUBLE_EQ(step.seconds, step.matmuls.seconds);
  EXPECT_EQ(step.without_rate, (std::map<std::string, std::int64_t>{{"f32", 1}}));
  for (const char* part :
       {"1 products of f32 run at the rate of bf16", "MoveToHost takes no time here (1 runs",
        "MoveToDevice takes no time here", "send takes no time here (1 runs)"})
    EXPECT_NE(told(step).find(part), std::string::npos) << part << "\n" << told(step);
}

TEST(HloTransfers, a_step_says_which_loops_it_counts_once) {
  const hlo::ModuleStep step =
      step_on(8,
              "  n = s32[] parameter(0)\n  z = s32[] constant(0)\n  t = (s32[], s32[]) tuple(z, n)\n"
              "  ROOT w = (s32[], s32[]) while(t), condition=cond, body=body\n",
              "body {\n  t = (s32[], s32[]) parameter(0)\n  i = s32[] get-tuple-element(t), index=0\n"
              "  n = s32[] get-tuple-element(t), index=1\n  o = s32[] constant(1)\n  j = s32[] add(i, o)\n"
              "  ROOT r = (s32[], s32[]) tuple(j, n)\n}\ncond {\n  t = (s32[], s32[]) parameter(0)\n"
              "  i = s32[] get-tuple-element(t), index=0\n  n = s32[] get-tuple-element(t), index=1\n"
              "  ROOT c = pred[] compare(i, n), direction=LT\n}\n");
  EXPECT_NE(told(step).find("loop w goes round an unknown number of times, and counts once: --trips w=N"),
            std::string::npos)
      << told(step);
}

}  // namespace
}  // namespace podsim::hlo_transfers_test
