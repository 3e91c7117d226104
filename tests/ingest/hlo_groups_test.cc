// Who takes part in collectives, in each form in which groups are written, and what the collectives carry.
#include "ingest/hlo/replica_groups.h"
#include "ingest/hlo/summary.h"
#include "tests/ingest/hlo_texts.h"

namespace podsim::hlo_groups_test {
namespace {

using testing::kAdd;
using testing::module_of;
using testing::problem_of;
using Ids = std::vector<std::int64_t>;

hlo::Groups groups_of(const std::string& attributes, const std::string& opcode = "all-gather") {
  const hlo::Module module = module_of(
      "HloModule m, replica_count=2, num_partitions=8\nENTRY e {\n  a = f32[8] parameter(0)\n  ROOT g = "
      "f32[8] " +
      opcode + "(a), " + attributes + "\n}\n");
  return hlo::groups_of(module, module.entry_computation().root_instruction()).value_or(hlo::Groups{});
}

TEST(HloGroups, are_listed_reshaped_or_axes_of_a_mesh) {
  const std::string device = ", channel_id=1, use_global_device_ids=true";
  hlo::Groups groups = groups_of("replica_groups={{0,2},{1,3}}" + device);
  EXPECT_EQ(groups.size, 2);
  EXPECT_EQ(groups.count, 2);
  EXPECT_EQ(groups.first, (Ids{0, 2}));
  groups = groups_of("replica_groups=[2,4]<=[4,2]T(1,0)" + device);
  EXPECT_EQ(groups.size, 4);
  EXPECT_EQ(groups.first, (Ids{0, 2, 4, 6}));
  groups = groups_of("replica_groups=mesh['data'=2,'model'=4] {'data'}" + device);
  EXPECT_EQ(groups.count, 4);
  EXPECT_EQ(groups.first, (Ids{0, 4}));
  groups = groups_of("replica_groups=mesh['data'=2,'model'=4] {'model':(2)2}" + device);
  EXPECT_EQ(groups.size, 2);
  EXPECT_EQ(groups.first, (Ids{0, 1}));
}

TEST(HloGroups, of_a_mesh_may_vary_pieces_of_axes_and_count_devices_in_another_order) {
  const std::string device = ", channel_id=1, use_global_device_ids=true";
  const auto first = [&](const std::string& text) {
    return groups_of("replica_groups=" + text + device).first;
  };
  EXPECT_EQ(first("mesh['a'=2,'b'=2], device_ids=(3,2,1,0) {'a'}"), (Ids{3, 1}));
  EXPECT_EQ(first("mesh['a'=2,'b'=2] {'a'}, device_ids=(3,2,1,0)"), (Ids{3, 1}));
  EXPECT_EQ(first("mesh['a'=2,'b'=4], device_ids=([2,4]<=[4,2]T(1,0)) {'a'}"), (Ids{0, 1}));
  EXPECT_EQ(first("mesh['a'=2,'b'=4] {'b':(2)2,'a'}"), (Ids{0, 4, 1, 5}));
  EXPECT_EQ(first("mesh['a'=8] {'a':(1)2,'a':(4)2}"), (Ids{0, 1, 4, 5}));
  EXPECT_EQ(first("mesh['a'=8] {}"), (Ids{0}));
}

TEST(HloGroups, count_replicas_partitions_or_devices_by_channel_and_flag) {
  hlo::Groups groups = groups_of("replica_groups={}");
  EXPECT_EQ(groups.mode, hlo::GroupMode::kReplicas);
  EXPECT_EQ(groups.size, 2);
  groups = groups_of("replica_groups={{0,1}}, channel_id=1");
  EXPECT_EQ(groups.mode, hlo::GroupMode::kReplicasAndPartitions);
  EXPECT_EQ(groups.size, 16);
  groups = groups_of("replica_groups={{0,1,2,3},{4,5,6,7}}, channel_id=1", "all-to-all");
  EXPECT_EQ(groups.mode, hlo::GroupMode::kPartitions);
  EXPECT_EQ(groups.size, 4);
}

TEST(HloGroups, of_a_permute_are_pairs) {
  const hlo::Groups groups =
      groups_of("source_target_pairs={{0,1},{1,2},{2,3},{3,4},{4,0}}, channel_id=1", "collective-permute");
  EXPECT_EQ(groups.pairs.size(), 4u);
  EXPECT_EQ(groups.pairs[1], std::pair(std::int64_t{1}, std::int64_t{2}));
}

// A header may have no num_partitions.
TEST(HloGroups, of_a_permute_have_all_devices_that_its_pairs_name) {
  const hlo::Module module = module_of(
      "HloModule m\nENTRY e {\n  a = f32[8] parameter(0)\n  ROOT g = f32[8] collective-permute(a), "
      "channel_id=1, source_target_pairs={{0,4},{4,8},{8,12}}\n}\n");
  EXPECT_EQ(hlo::groups_of(module, module.entry_computation().root_instruction()).value().size, 13);
}

TEST(HloGroups, that_cannot_be_read_are_refused_in_their_line) {
  for (const char* text :
       {"replica_groups={{0,x}}", "replica_groups=[2,4]<=[4,3]", "replica_groups=mesh['a'=0] {'a'}",
        "replica_groups=mesh['a'=4] {'b'}", "replica_groups=mesh['a'=4] {'a','a':(2)2}",
        "replica_groups=mesh['a'=6] {'a':(4)2}", "replica_groups=mesh['a'=4] {'a':(0)2}",
        "replica_groups=mesh['a'=4] {'a':(4)2}", "replica_groups=mesh['a'=4] {'a':(2)0}",
        "replica_groups=mesh['a'=4] {'a':(4294967296)4294967296}", "replica_groups=[2,4]<=[8]T(1)"})
    EXPECT_EQ(
        problem_of("HloModule m\nENTRY e {\n  a = f32[8] parameter(0)\n  ROOT g = f32[8] all-gather(a), " +
                   std::string(text) + "\n}\n"),
        "4:0: \"g\" has " + std::string(text) +
            ", which names no groups (expected {{0,1},{2,3}}, {}, [2,4]<=[8] or mesh['a'=2,'b'=4] {'a'})");
}

// A start counts, its end does not; in a loop it counts every time.
TEST(HloCollectives, count_once_where_they_start) {
  const hlo::Module module = module_of("HloModule m, num_partitions=4\n" + kAdd +
                                       R"(scatter_body {
  p = f32[8] parameter(0)
  ROOT r = f32[2] reduce-scatter(p), channel_id=2, replica_groups=[1,4]<=[4], use_global_device_ids=true, dimensions={0}, to_apply=%add
}
body {
  t = (s32[], f32[8]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  x = f32[8] get-tuple-element(t), index=1
  o = s32[] constant(1)
  j = s32[] add(i, o)
  st = ((f32[8]), f32[2], u32[]) async-start(x), calls=%scatter_body
  dn = f32[2] async-done(st)
  gs = (f32[2], f32[8]) all-gather-start(dn), channel_id=3, replica_groups=[1,4]<=[4], use_global_device_ids=true, dimensions={0}
  gd = f32[8] all-gather-done(gs)
  ROOT r = (s32[], f32[8]) tuple(j, gd)
}
cond {
  t = (s32[], f32[8]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  n = s32[] constant(5)
  ROOT c = pred[] compare(i, n), direction=LT
}
ENTRY e {
  x = f32[8] parameter(0)
  z = s32[] constant(0)
  t = (s32[], f32[8]) tuple(z, x)
  ROOT w = (s32[], f32[8]) while(t), condition=%cond, body=%body
}
)");
  const hlo::Summary summary = hlo::summarize(module);
  ASSERT_EQ(summary.collectives.size(), 2u);
  const hlo::CollectiveUse &scatter = summary.collectives[0], &gather = summary.collectives[1];
  EXPECT_EQ(scatter.kind, "reduce-scatter");
  EXPECT_EQ(scatter.executed, 5);
  EXPECT_EQ(scatter.operand_bytes, 5 * 32);
  EXPECT_EQ(scatter.result_bytes, 5 * 8);
  EXPECT_EQ(gather.kind, "all-gather");
  EXPECT_EQ(gather.operand_bytes, 5 * 8);
  EXPECT_EQ(gather.result_bytes, 5 * 32);
  EXPECT_EQ(summary.devices, 4);
}

}  // namespace
}  // namespace podsim::hlo_groups_test
