// Collectives between two shardings, and local sizes.
#include "workload/reshard.h"

#include <gtest/gtest.h>

namespace podsim::testing {
namespace {

constexpr AxisSet kX = 1, kY = 2;
const Mesh kMesh{{{"x", 4}, {"y", 2}}};

Tensor matrix(std::int64_t rows, std::int64_t columns) {
  return {.name = "a", .dims = {{"", {{.size = rows}}}, {"", {{.size = columns}}}}};
}

Sharding sharding(AxisSet rows, AxisSet columns, AxisSet unreduced = 0) {
  return {{rows, columns}, unreduced};
}

ReshardStep only_step(const Sharding& from, const Sharding& to) {
  const auto steps = reshard(kMesh, matrix(64, 32), from, to);
  EXPECT_EQ(steps.size(), 1u);
  return steps.at(0);
}

constexpr double kBytes = 64 * 32 * 2;

TEST(Reshard, cutting_a_replicated_tensor_is_free) {
  EXPECT_TRUE(reshard(kMesh, matrix(64, 32), sharding(0, 0), sharding(kX, kY)).empty());
}

TEST(Reshard, leaving_axes_are_gathered_in_one_collective) {
  const ReshardStep step = only_step(sharding(kX, kY), sharding(0, 0));
  EXPECT_EQ(step.kind, CollectiveKind::kAllGather);
  EXPECT_EQ(step.axes, kX | kY);
  EXPECT_DOUBLE_EQ(step.bytes.value, kBytes);
  EXPECT_DOUBLE_EQ(sent_bytes(kMesh, step).value, kBytes * 7 / 8);
}

TEST(Reshard, a_partial_sum_wanted_in_shards_is_reduce_scattered) {
  const ReshardStep step = only_step(sharding(0, kY, kX), sharding(kX, kY));
  EXPECT_EQ(step.kind, CollectiveKind::kReduceScatter);
  EXPECT_DOUBLE_EQ(step.bytes.value, kBytes / 2);
}

TEST(Reshard, a_partial_sum_wanted_whole_is_all_reduced) {
  const ReshardStep step = only_step(sharding(0, kY, kX), sharding(0, kY));
  EXPECT_EQ(step.kind, CollectiveKind::kAllReduce);
  EXPECT_DOUBLE_EQ(sent_bytes(kMesh, step).value, 2 * kBytes / 2 * 3 / 4);
}

TEST(Reshard, a_partial_sum_may_stay_partial) {
  EXPECT_TRUE(reshard(kMesh, matrix(64, 32), sharding(0, 0, kX), sharding(0, 0, kX)).empty());
}

TEST(Reshard, an_axis_that_changes_dimension_takes_an_all_to_all) {
  const ReshardStep step = only_step(sharding(kX, kY), sharding(kY, kX));
  EXPECT_EQ(step.kind, CollectiveKind::kAllToAll);
  EXPECT_EQ(step.axes, kX | kY);
  EXPECT_DOUBLE_EQ(step.bytes.value, kBytes / 8);
}

TEST(Reshard, what_shrinks_a_tensor_comes_first) {
  const auto steps = reshard(kMesh, matrix(64, 32), sharding(kY, 0, kX), sharding(0, kX));
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].kind, CollectiveKind::kReduceScatter);
  EXPECT_DOUBLE_EQ(steps[0].bytes.value, kBytes / 2);
  EXPECT_EQ(steps[1].kind, CollectiveKind::kAllGather);
  EXPECT_DOUBLE_EQ(steps[1].bytes.value, kBytes / 4);
}

TEST(LocalSize, uneven_shards_round_up_and_blocks_are_cut_apart) {
  EXPECT_EQ(local_size(kMesh, {"", {{.size = 10}}}, kX), 3);
  EXPECT_EQ(local_size(kMesh, {"", {{.size = 64}, {.size = 8}, {.size = 2}}}, kX), 16 + 2 + 1);
  EXPECT_EQ(local_size(kMesh, {"", {{.size = 64}, {.size = 8, .cut = 0}}}, kX), 16 + 8);
}

TEST(ReshardCost, is_time_over_the_slowest_axis_or_bytes_without_bandwidths) {
  const ReshardStep step{CollectiveKind::kAllGather, kX | kY, Bytes{800}};
  EXPECT_DOUBLE_EQ(reshard_cost(kMesh, step, {}), 700);
  EXPECT_DOUBLE_EQ(reshard_cost(kMesh, step, {.axis_bandwidth = {{100}, {10}}, .flop_rate = {}}), 70);
}

}  // namespace
}  // namespace podsim::testing
