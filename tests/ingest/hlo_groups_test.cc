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

const std::string kCopies = "replica_count=2, num_partitions=8";

std::string module_with(const std::string& copies, const std::string& root) {
  return "HloModule m" + std::string(copies.empty() ? "" : ", ") + copies + "\n" + kAdd +
         "ENTRY e {\n  a = f32[8,4] parameter(0)\n  b = f32[2,4] parameter(1)\n  ROOT g = " + root + "\n}\n";
}

hlo::Groups groups_of(const std::string& attributes, const std::string& copies = kCopies,
                      const std::string& opcode = "all-reduce") {
  const hlo::Module module =
      module_of(module_with(copies, "f32[8,4] " + opcode + "(a), " + attributes +
                                        (opcode == "all-reduce" ? ", to_apply=add" : "")));
  return hlo::groups_of(module, module.entry_computation().root_instruction()).value_or(hlo::Groups{});
}

TEST(HloGroups, are_listed_reshaped_or_axes_of_a_mesh) {
  const std::string device = ", channel_id=1, use_global_device_ids=true", eight = "num_partitions=8";
  hlo::Groups groups = groups_of("replica_groups={{0,2},{1,3}}" + device, "num_partitions=4");
  EXPECT_EQ(groups.size, 2);
  EXPECT_EQ(groups.count, 2);
  EXPECT_EQ(groups.first, (Ids{0, 2}));
  groups = groups_of("replica_groups=[2,4]<=[4,2]T(1,0)" + device, eight);
  EXPECT_EQ(groups.size, 4);
  EXPECT_EQ(groups.first, (Ids{0, 2, 4, 6}));
  groups = groups_of("replica_groups=mesh['data'=2,'model'=4] {'data'}" + device, eight);
  EXPECT_EQ(groups.count, 4);
  EXPECT_EQ(groups.first, (Ids{0, 4}));
  groups = groups_of("replica_groups=mesh['data'=2,'model'=4] {'model':(2)2}" + device, eight);
  EXPECT_EQ(groups.size, 2);
  EXPECT_EQ(groups.first, (Ids{0, 1}));
}

TEST(HloGroups, of_a_mesh_may_vary_pieces_of_axes_and_count_devices_in_another_order) {
  const std::string device = ", channel_id=1, use_global_device_ids=true";
  const auto first = [&](const std::string& text) {
    return groups_of("replica_groups=" + text + device, "").first;
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
  groups =
      groups_of("replica_groups={{0,1,2,3},{4,5,6,7}}, channel_id=1, dimensions={0}", kCopies, "all-to-all");
  EXPECT_EQ(groups.mode, hlo::GroupMode::kPartitions);
  EXPECT_EQ(groups.size, 4);
}

// Device r x partitions + p is partition p of replica r.
TEST(HloGroups, have_the_devices_that_their_numbers_stand_for) {
  EXPECT_EQ(groups_of("replica_groups={}").members, (Ids{0, 8}));
  EXPECT_EQ(groups_of("replica_groups={{1},{0}}, channel_id=1", "replica_count=2, num_partitions=3").members,
            (Ids{3, 4, 5}));
  EXPECT_EQ(
      groups_of("replica_groups={{5,4,6,7},{0,1,2,3}}, channel_id=1, dimensions={0}", kCopies, "all-to-all")
          .members,
      (Ids{5, 4, 6, 7}));
  EXPECT_EQ(groups_of("source_target_pairs={{0,1},{1,0}}", kCopies, "collective-permute").members,
            (Ids{0, 8}));
}

TEST(HloGroups, of_a_permute_are_pairs) {
  const hlo::Groups groups = groups_of("source_target_pairs={{0,1},{1,2},{2,3},{3,4},{4,0}}, channel_id=1",
                                       kCopies, "collective-permute");
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
        problem_of("HloModule m\nENTRY e {\n  a = f32[8] parameter(0)\n  ROOT g = f32[8] all-gather(a), "
                   "dimensions={0}, " +
                   std::string(text) + "\n}\n"),
        "4:3: \"g\" has " + std::string(text) +
            ", which names no groups (expected {{0,1},{2,3}}, {}, [2,4]<=[8] or mesh['a'=2,'b'=4] {'a'})");
}

// By the rules of XLA's verifier.
TEST(HloGroups, that_cannot_be_are_refused_in_their_line) {
  const auto refused = [](const std::string& copies, const std::string& root) {
    return problem_of(module_with(copies, root));
  };
  const auto reduced = [&](const std::string& copies, const std::string& groups) {
    return refused(copies, "f32[8,4] all-reduce(a), to_apply=add, replica_groups=" + groups);
  };
  const std::string four = "num_partitions=4", device = ", channel_id=1, use_global_device_ids=true";
  EXPECT_EQ(reduced(four, "{{0,1,2,9}}" + device),
            "10:3: \"g\" has replica_groups={{0,1,2,9}}, but the module has no device 9 (expected numbers of "
            "devices, 0 to 3)");
  EXPECT_EQ(reduced(four, "{{0,1,2,2}}" + device),
            "10:3: \"g\" has replica_groups={{0,1,2,2}}, in which device 2 stands twice");
  EXPECT_EQ(
      reduced("replica_count=2, num_partitions=4", "{{0,1,2,3}}, channel_id=1"),
      "10:3: \"g\" has replica_groups={{0,1,2,3}}, but the module has no replica 3 (expected numbers of "
      "replicas, 0 to 1)");
  EXPECT_EQ(reduced(four, "{{0,1},{3}}" + device),
            "10:3: \"g\" has replica_groups={{0,1},{3}}, in which no group has device 2");
  EXPECT_EQ(reduced(four, "[1,2]<=[2]" + device),
            "10:3: \"g\" has replica_groups=[1,2]<=[2], in which no group has device 2");
  EXPECT_EQ(reduced("", "{{0,2}}"),
            "10:3: \"g\" has replica_groups={{0,2}}, in which no group has replica 1");
  EXPECT_EQ(reduced(four, "{{0,1,2,3},{}}" + device),
            "10:3: \"g\" has replica_groups={{0,1,2,3},{}}, in which a group is empty");
  EXPECT_EQ(reduced("", "mesh['a'=2], device_ids=(1,1) {'a'}" + device),
            "10:3: \"g\" has replica_groups=mesh['a'=2], in which device 1 stands twice");
  EXPECT_EQ(reduced(four, "{}, use_global_device_ids=true"),
            "10:3: \"g\" has use_global_device_ids=true, but no channel_id (expected both, or neither)");
  EXPECT_EQ(
      refused(four, "f32[8,4] all-gather(b), dimensions={0}, replica_groups={{0,1,2},{3}}" + device),
      "10:3: \"g\" has replica_groups={{0,1,2},{3}}, whose groups differ in size (expected groups of one "
      "size)");
  EXPECT_EQ(reduced(four, "{{0,1,2},{3}}" + device), "");
  EXPECT_EQ(reduced(four, "{{0,1},{2,3}}"), "");  // of replicas, which the header leaves out
  const auto sent = [&](const std::string& pairs) {
    return refused(four, "f32[8,4] collective-permute(a), channel_id=1, source_target_pairs=" + pairs);
  };
  EXPECT_EQ(
      sent("{{0,4}}"),
      "10:3: \"g\" has source_target_pairs={{0,4}}, but the module has no partition 4 (expected numbers of "
      "partitions, 0 to 3)");
  EXPECT_NE(sent("{{0,1},{0,2}}").find("in which partition 0 sends twice"), std::string::npos);
  EXPECT_NE(sent("{{0,1},{2,1}}").find("in which partition 1 receives twice"), std::string::npos);
  EXPECT_EQ(sent("{{0,1},{1,0}}"), "");
}

TEST(HloCollectives, with_shapes_that_do_not_follow_from_operand_dimension_and_groups_are_refused) {
  const std::string four = ", replica_groups=[1,4]<=[4], channel_id=1, use_global_device_ids=true",
                    exchange = ", replica_groups=[1,4]<=[4], channel_id=1";
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"f32[8,4] all-gather(b), dimensions={0}, replica_groups=[2,2]<=[4], channel_id=1, "
       "use_global_device_ids=true",
       "groups of 2 make it f32[4,4]"},
      {"f32[8,4] all-gather(b), dimensions={1}" + four, "groups of 4 make it f32[2,16]"},
      {"f32[8,4] all-gather(b), dimensions={2}" + four, "f32[2,4] has no dimension {2}"},
      {"f32[8,4] all-gather(b)" + four, "all-gather has no dimensions"},
      {"bf16[8,4] all-gather(b), dimensions={0}" + four, "make it f32[8,4]"},
      {"(f32[2,4], f32[9,4]) all-gather-start(b), dimensions={0}" + four, "make it f32[8,4]"},
      {"f32[3,4] reduce-scatter(a), dimensions={0}, to_apply=add" + four, "make it f32[2,4]"},
      {"f32[2,4] reduce-scatter(b), dimensions={0}, to_apply=add" + four, "has no 4 equal parts"},
      {"f32[8,8] all-to-all(a), dimensions={0}" + exchange, "make it f32[8,4]"},
      {"f32[2,4] all-to-all(b), dimensions={0}" + exchange, "has no 4 equal parts"},
      {"(f32[8,4], f32[8,4]) all-to-all(a, a)" + exchange, "its groups are of 4"},
      {"(f32[8,4], f32[2,4]) all-reduce(a, a), to_apply=add" + four, "its operand is f32[8,4]"},
      {"f32[8,4] all-reduce(a, b), to_apply=add" + four, "it has 2 operands"},
      {"f32[2,4] collective-permute(a), channel_id=1, source_target_pairs={{0,1}}",
       "its operand is f32[8,4]"}};
  for (const auto& [root, message] : wrong) {
    const std::string problem = problem_of(module_with("num_partitions=4", root));
    EXPECT_NE(problem.find(message), std::string::npos) << root << ": " << problem;
  }
}

// In every form that XLA writes.
TEST(HloCollectives, with_shapes_that_follow_are_taken) {
  const std::string four = ", replica_groups=[1,4]<=[4], channel_id=1, use_global_device_ids=true",
                    exchange = ", replica_groups=[1,4]<=[4], channel_id=1";
  for (const std::string& root : std::initializer_list<std::string>{
           "f32[8,4] all-gather(b), dimensions={0}" + four,
           "(f32[8,4], f32[32,4]) all-gather(b, a), dimensions={0}" + four,
           "(f32[2,4], f32[8,4]) all-gather-start(b), dimensions={0}" + four,
           "((f32[2,4], f32[8,4]), (f32[8,4], f32[32,4])) all-gather-start(b, a), dimensions={0}" + four,
           "f32[2,4] reduce-scatter(a), dimensions={0}, to_apply=add" + four,
           "((f32[8,4]), f32[2,4], u32[]) reduce-scatter-start(a), dimensions={0}, to_apply=add" + four,
           "f32[8,4] all-to-all(a), dimensions={0}" + exchange,
           "f32[2,16] all-to-all(a), dimensions={0}, concat_dimension={1}" + exchange,
           "(f32[8,4], f32[8,4], f32[8,4], f32[8,4]) all-to-all(a, a, a, a)" + exchange,
           "f32[8,4] all-reduce-start(a), to_apply=add" + four,
           "(f32[8,4], f32[2,4]) all-reduce(a, b), to_apply=add, replica_groups={}",
           "(f32[8,4], f32[8,4], u32[], u32[]) collective-permute-start(a), channel_id=1, "
           "source_target_pairs={{0,1},{1,0}}",
           "f32[8,4] collective-broadcast(a), channel_id=1, replica_groups={{2,0}}",
           "f32[8,4] all-gather(b), dimensions={0}, replica_groups={}"  // of replicas, however many
       })
    EXPECT_EQ(problem_of(module_with("num_partitions=4", root)), "") << root;
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
