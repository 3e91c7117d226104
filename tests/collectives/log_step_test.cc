// Tests of log-step collectives, in-network reduction and hierarchical all-to-all.
#include <gtest/gtest.h>

#include <bit>

#include "tests/collectives/fabrics.h"

namespace podsim::log_step_test {
namespace {

constexpr CollectiveKind kAllReduce = CollectiveKind::kAllReduce;
constexpr CollectiveKind kAllToAll = CollectiveKind::kAllToAll;
constexpr Time kNvlinkHop = 2 * kNvlinkLatency;

TEST(LogStep, takes_ceil_log2_steps_and_passes_each_part_once) {
  const Fabric fabric = gpus(64, 64);
  for (const int n : {2, 3, 5, 6, 7, 8, 12, 33, 64}) {
    const auto gather =
        plan_with(Algorithm::kLogStep, fabric, {CollectiveKind::kAllGather, {1e6 * n}}, first_chips(n));
    ASSERT_TRUE(gather);
    const int steps = std::bit_width(static_cast<unsigned>(n - 1));
    ASSERT_EQ(gather->phases.size(), static_cast<std::size_t>(steps)) << n;
    double per_rank = 0, before = 0;
    for (const Phase& phase : gather->phases) {
      const double bytes = busiest_bytes(fabric, phase, LinkKind::kNvlink);
      EXPECT_EQ(phase.latency, kNvlinkHop);
      EXPECT_GE(bytes, before);  // nearer ranks get more
      before = bytes;
      per_rank += bytes;
    }
    EXPECT_NEAR(per_rank, (n - 1) * 1e6, 1e-3) << n;
    EXPECT_NEAR(injected_bytes(fabric, *gather), n * (n - 1) * 1e6, 1e-2) << n;
  }
}

// Simulates who holds what: after all steps every rank has the part of every other.
TEST(LogStep, gathers_every_part) {
  for (std::size_t n = 2; n < 40; ++n) {
    std::vector<std::vector<bool>> has(n, std::vector<bool>(n));
    for (std::size_t i = 0; i < n; ++i) has[i][i] = true;
    for (std::size_t d = std::bit_ceil(n) / 2; d > 0; d /= 2) {
      const auto before = has;
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t behind = 0; behind + d < n; behind += 2 * d) {
          const std::size_t part = (i + n - behind) % n;
          ASSERT_TRUE(before[i][part]) << n << ' ' << d;
          EXPECT_FALSE(before[(i + d) % n][part]) << n << ' ' << d;
          has[(i + d) % n][part] = true;
        }
    }
    for (const auto& of_rank : has) EXPECT_EQ(std::ranges::count(of_rank, true), static_cast<long>(n));
  }
}

TEST(LogStep, scatters_backwards_and_reduces_both_ways) {
  const Fabric fabric = gpus(24);
  const auto group = first_chips(24);
  const auto time = [&](CollectiveKind kind) {
    return predict(fabric, plan_with(Algorithm::kLogStep, fabric, {kind, {24e6}}, group).value());
  };
  EXPECT_EQ(time(CollectiveKind::kAllGather), time(CollectiveKind::kReduceScatter));
  EXPECT_EQ(time(kAllReduce), 2 * time(CollectiveKind::kAllGather));
  EXPECT_FALSE(plan_with(Algorithm::kLogStep, fabric, {CollectiveKind::kBroadcast, {1.0}}, group));
}

TEST(LogStep, is_halving_doubling_on_one_switch_with_a_power_of_two) {
  const Fabric fabric = gpus(64, 64);
  const Collective reduce = {kAllReduce, {1e9}};
  EXPECT_EQ(predict(fabric, *plan_with(Algorithm::kLogStep, fabric, reduce, all_chips(fabric))),
            predict(fabric, *plan_with(Algorithm::kHalvingDoubling, fabric, reduce, all_chips(fabric))));
}

TEST(LogStep, is_chosen_for_small_messages_of_odd_groups_where_a_channel_names_it) {
  Fabric fabric = gpus(24, 24);
  EXPECT_EQ(plan(fabric, {CollectiveKind::kAllGather, {1e4}}, first_chips(23)).algorithm, Algorithm::kRing);
  fabric.channels = {
      {.algorithm = "log-step", .nvlink_efficiency = 1, .nic_efficiency = 1, .ici_efficiency = 1}};
  EXPECT_EQ(plan(fabric, {CollectiveKind::kAllGather, {1e4}}, first_chips(23)).algorithm,
            Algorithm::kLogStep);
}

Fabric sharp(int count, bool nvls) {
  FabricSpec spec = gpu_spec(count);
  spec.gpu->sharp = true;
  spec.gpu->nvls = nvls;
  return build_fabric(spec);
}

TEST(Sharp, each_nic_carries_its_part_once_up_and_once_down) {
  const Fabric fabric = sharp(512, true);
  const auto plan = plan_with(Algorithm::kSharp, fabric, {kAllReduce, {8e6}}, all_chips(fabric));
  ASSERT_TRUE(plan);
  const Phase& phase = plan->phases[0];
  EXPECT_DOUBLE_EQ(busiest_bytes(fabric, phase, LinkKind::kNvlink), 8e6);
  EXPECT_DOUBLE_EQ(busiest_bytes(fabric, phase, LinkKind::kNic), 1e6);
  EXPECT_DOUBLE_EQ(least_bytes(fabric, phase, LinkKind::kNic), 1e6);
  EXPECT_EQ(loaded_links(fabric, phase, LinkKind::kNic), 2 * 512);
  // Two units of 32 domains: a leaf sends one sum of its 32 NICs up.
  EXPECT_DOUBLE_EQ(busiest_bytes(fabric, phase, LinkKind::kTrunk), 1e6);
  EXPECT_EQ(loaded_links(fabric, phase, LinkKind::kTrunk), 2 * 16);
  EXPECT_EQ(phase.latency, 2 * kNvlinkHop + 4 * kNicLatency);
}

TEST(Sharp, without_reducing_nvlink_switches_domains_exchange) {
  const Fabric fabric = sharp(32, false);
  const auto plan = plan_with(Algorithm::kSharp, fabric, {kAllReduce, {8e6}}, all_chips(fabric));
  EXPECT_DOUBLE_EQ(busiest_bytes(fabric, plan->phases[0], LinkKind::kNvlink), 2 * 7e6);
}

// With one GPU per node a ring sends 2 (n - 1) / n tensors, the tree of switches one.
TEST(Sharp, takes_about_half_of_a_ring_with_one_gpu_per_node) {
  const Fabric fabric = sharp(128, true);
  std::vector<ChipId> group;
  for (int d = 0; d < 16; ++d) group.push_back(8 * d + 3);
  const Collective reduce = {kAllReduce, {1e9}};
  EXPECT_EQ(plan(fabric, reduce, group).algorithm, Algorithm::kSharp);
  EXPECT_EQ(predict(fabric, *plan_with(Algorithm::kSharp, fabric, reduce, group)),
            Time::seconds(1e9 / kNicRate) + 2 * kNicLatency);
  EXPECT_GE(predict(fabric, *plan_with(Algorithm::kSharp, fabric, reduce, group)),
            lower_bound(fabric, reduce, group));
}

TEST(Sharp, needs_reducing_switches_above_equal_domains) {
  const Fabric plain = gpus(24, 8, true), fabric = sharp(24, true);
  const Collective reduce = {kAllReduce, {1e6}};
  EXPECT_FALSE(plan_with(Algorithm::kSharp, plain, reduce, all_chips(plain)));
  EXPECT_FALSE(plan_with(Algorithm::kSharp, fabric, reduce, first_chips(8)));
  EXPECT_FALSE(plan_with(Algorithm::kSharp, fabric, reduce, first_chips(12)));
  EXPECT_FALSE(plan_with(Algorithm::kSharp, fabric, {CollectiveKind::kAllGather, {1e6}}, all_chips(fabric)));
}

TEST(HierarchicalAllToAll, exchanges_inside_domains_and_then_on_each_rail) {
  const Fabric fabric = gpus(64);
  const auto plan = plan_with(Algorithm::kHierarchical, fabric, {kAllToAll, {64e6}}, all_chips(fabric));
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->phases.size(), 2u);
  EXPECT_DOUBLE_EQ(busiest_bytes(fabric, plan->phases[0], LinkKind::kNvlink), 7.0 / 8 * 64e6);
  EXPECT_EQ(loaded_links(fabric, plan->phases[0], LinkKind::kNic), 0);
  EXPECT_DOUBLE_EQ(busiest_bytes(fabric, plan->phases[1], LinkKind::kNic), 7.0 / 8 * 64e6);
  EXPECT_EQ(loaded_links(fabric, plan->phases[1], LinkKind::kTrunk), 0);  // rails meet at their leaves
  EXPECT_EQ(plan->phases[0].latency + plan->phases[1].latency, kNvlinkHop + 2 * kNicLatency);
}

TEST(HierarchicalAllToAll, is_chosen_where_rails_meet_only_over_narrow_spines) {
  FabricSpec spec = gpu_spec(64);
  EXPECT_EQ(plan(build_fabric(spec), {kAllToAll, {64e6}}, first_chips(64)).algorithm, Algorithm::kDirect);
  spec.gpu->tiers[0].oversubscription = 16;
  EXPECT_EQ(plan(build_fabric(spec), {kAllToAll, {64e6}}, first_chips(64)).algorithm,
            Algorithm::kHierarchical);
}

TEST(HierarchicalAllToAll, works_over_slices_and_needs_equal_domains) {
  const Fabric slices = multislice({4, 4, 1}, 2);
  const auto plan = plan_with(Algorithm::kHierarchical, slices, {kAllToAll, {32e6}}, all_chips(slices));
  ASSERT_TRUE(plan);
  EXPECT_DOUBLE_EQ(busiest_bytes(slices, plan->phases[1], LinkKind::kDcn), 4 * 16e6);  // four chips a host
  EXPECT_FALSE(plan_with(Algorithm::kHierarchical, gpus(16), {kAllToAll, {1e6}}, first_chips(12)));
}

// Times of small messages between one chip of each of so many slices.
TEST(LogStep, between_slices_takes_at_most_twice_the_latency_of_the_next_power_of_two) {
  const auto time_among = [](int slices, CollectiveKind kind) {
    const Fabric fabric = multislice({2, 2, 1}, slices);
    std::vector<ChipId> group;
    for (int s = 0; s < slices; ++s) group.push_back(fabric.slices[s].first_chip);
    return predict(fabric, plan(fabric, {kind, {1e4}}, group));
  };
  for (const CollectiveKind kind : {kAllReduce, CollectiveKind::kAllGather, CollectiveKind::kReduceScatter})
    for (const auto& [slices, power] : {std::pair{24, 32}, {33, 64}, {96, 128}, {127, 128}})
      EXPECT_LE(time_among(slices, kind), 2 * time_among(power, kind)) << slices << " slices";
}

}  // namespace
}  // namespace podsim::log_step_test
