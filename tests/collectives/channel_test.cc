// Tests of channels: setup, ramp and ceiling are what the equations say, and never make a plan faster.
#include "collectives/channel.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/collectives/fabrics.h"

namespace podsim::channel_test {
namespace {

constexpr CollectiveKind kAllReduce = CollectiveKind::kAllReduce;

Fabric with_channels(FabricSpec spec, std::vector<ChannelSpec> channels, bool nvls = false) {
  spec.channels = std::move(channels);
  if (spec.gpu) spec.gpu->nvls = nvls;
  EXPECT_EQ(explain_invalid(spec), "");
  return build_fabric(spec);
}

Time time_of(Algorithm algorithm, const Fabric& fabric, double bytes) {
  const auto plan = plan_with(algorithm, fabric, {kAllReduce, {bytes}}, all_chips(fabric));
  return predict(fabric, plan.value());
}

// T = setup + latency + S w + F (2 sqrt(x) - x), x = min(1, S / S_full), F = d (c w - a), S_full = c F / a.
TEST(Channel, takes_the_closed_form_of_a_pipeline) {
  const double c = 4e6, a = 3e-6, setup = 20e-6;
  const Fabric fabric = with_channels(gpu_spec(8),
                                      {{.algorithm = "nvls",
                                        .setup = Time::seconds(setup),
                                        .chunk = {c},
                                        .chunk_overhead = Time::seconds(a)}},
                                      true);
  const double w = 1 / kNvlinkRate, fill = 2 * (c * w - a), full = c * fill / a;
  EXPECT_NEAR(full, 2 * 4e6 * 7 / 3, 1);
  for (const double bytes : {1e3, 1e6, 1e7, full, 1e9}) {
    const double x = std::min(1.0, bytes / full);
    const double expected = setup + 1e-6 + bytes * w + fill * (2 * std::sqrt(x) - x);
    EXPECT_NEAR(time_of(Algorithm::kNvls, fabric, bytes).in_seconds(), expected, 2e-12) << bytes;
  }
}

// The best chunk of the pipeline, tried out: (S / chunk + stages) x (chunk / B' + overhead) less stages x
// overhead.
TEST(Channel, is_the_pipeline_with_the_best_chunk) {
  const double c = 4e6, a = 3e-6, w = 1 / kNvlinkRate, wire = w - a / c;
  const Fabric fabric = with_channels(
      gpu_spec(8), {{.algorithm = "nvls", .chunk = {c}, .chunk_overhead = Time::seconds(a)}}, true);
  for (const double bytes : {1e5, 1e6, 1e7, 1e8}) {
    double best = 1e300;
    for (int i = 1; i <= 4000; ++i) {
      const double chunk = c * i / 4000;
      best = std::min(best, (bytes / chunk + 2) * (chunk * wire + a) - 2 * a);
    }
    EXPECT_NEAR(time_of(Algorithm::kNvls, fabric, bytes).in_seconds() - 1e-6, best, 1e-4 * best) << bytes;
  }
}

TEST(Channel, a_deeper_tree_fills_a_longer_pipeline) {
  const ChannelSpec channel = {
      .algorithm = "nvls-tree", .chunk = {4e6}, .chunk_overhead = Time::seconds(1e-6)};
  Time last;
  for (const int domains : {2, 4, 8, 16}) {
    const Fabric fabric = with_channels(gpu_spec(8 * domains), {channel}, true);
    const auto plan = plan_with(Algorithm::kNvlsTree, fabric, {kAllReduce, {1e9}}, all_chips(fabric));
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->phases[0].stages, 2 + 2 * static_cast<int>(std::log2(domains)));
    EXPECT_GT(plan->phases[0].ramp.of[0].chunks.most, last);
    last = plan->phases[0].ramp.of[0].chunks.most;
  }
}

TEST(Channel, sustains_its_share_of_each_kind_of_link) {
  const ChannelSpec channel = {.kind = "all-gather", .nvlink_efficiency = 0.5, .nic_efficiency = 0.25};
  const Fabric with = with_channels(gpu_spec(512), {channel}), without = gpus(512);
  const Collective gather = {CollectiveKind::kAllGather, {1e9}};
  const auto slow = plan_with(Algorithm::kRing, with, gather, all_chips(with));
  const auto plain = plan_with(Algorithm::kRing, without, gather, all_chips(without));
  for (const auto& [kind, factor] :
       {std::pair(LinkKind::kNvlink, 2.0), {LinkKind::kNic, 4.0}, {LinkKind::kTrunk, 4.0}})
    EXPECT_DOUBLE_EQ(busiest_bytes(with, slow->phases[0], kind),
                     factor * busiest_bytes(without, plain->phases[0], kind));
  EXPECT_EQ(time_of(Algorithm::kRing, with, 1e9), time_of(Algorithm::kRing, without, 1e9));
}

TEST(Channel, the_most_particular_one_counts) {
  const auto setup = [](double us) { return Time::seconds(us * 1e-6); };
  const Fabric fabric =
      with_channels(gpu_spec(8), {{.setup = setup(1)},
                                  {.kind = "all-reduce", .setup = setup(2)},
                                  {.algorithm = "ring", .setup = setup(3)},
                                  {.algorithm = "ring", .kind = "all-reduce", .setup = setup(4)}});
  const Fabric plain = gpus(8);
  const auto added = [&](Algorithm algorithm, CollectiveKind kind) {
    const auto chips = all_chips(fabric);
    return (predict(fabric, plan_with(algorithm, fabric, {kind, {1e6}}, chips).value()) -
            predict(plain, plan_with(algorithm, plain, {kind, {1e6}}, chips).value()));
  };
  EXPECT_EQ(added(Algorithm::kDirect, CollectiveKind::kAllToAll), setup(1));
  EXPECT_EQ(added(Algorithm::kTree, kAllReduce), setup(2));
  EXPECT_EQ(added(Algorithm::kRing, CollectiveKind::kAllGather), setup(3));
  EXPECT_EQ(added(Algorithm::kRing, kAllReduce), setup(4));
}

TEST(Channel, a_kind_with_channels_by_algorithm_has_no_other_algorithms) {
  const Fabric fabric = with_channels(gpu_spec(8), {{.algorithm = "ring", .kind = "all-reduce"}});
  EXPECT_FALSE(is_offered(fabric, kAllReduce, Algorithm::kHalvingDoubling));
  EXPECT_TRUE(is_offered(fabric, CollectiveKind::kAllGather, Algorithm::kHalvingDoubling));
  EXPECT_EQ(plan(fabric, {kAllReduce, {1e6}}, all_chips(fabric)).algorithm, Algorithm::kRing);
  EXPECT_TRUE(plan_with(Algorithm::kHalvingDoubling, fabric, {kAllReduce, {1e6}}, all_chips(fabric)));
}

TEST(Channel, impossible_ones_are_refused) {
  const auto refused = [](std::vector<ChannelSpec> channels) {
    FabricSpec spec = gpu_spec(8);
    spec.gpu->nvlink.efficiency = 0.8;
    spec.channels = std::move(channels);
    return explain_invalid(spec);
  };
  EXPECT_EQ(
      refused({{.algorithm = "nvls", .nvlink_efficiency = 0.9}}),
      "the channel of nvls sustains 0.9 of the NVLink bandwidth, more than the 0.8 that the link carries");
  EXPECT_EQ(refused({{.kind = "all-reduce"}, {.kind = "all-reduce"}}),
            "the channel of every algorithm for all-reduce is given twice");
  EXPECT_EQ(refused({{.algorithm = "nvls", .kind = "all-reduce"}}),
            "the channel of nvls for all-reduce needs one of ring beside it, the algorithm that serves every "
            "group");
}

TEST(NvlsTree, sends_the_tensor_to_the_switch_and_a_rails_part_up_the_tree) {
  const Fabric fabric = gpus(128, 8, true);
  const auto plan = plan_with(Algorithm::kNvlsTree, fabric, {kAllReduce, {8e6}}, all_chips(fabric));
  ASSERT_TRUE(plan);
  const Phase& phase = plan->phases[0];
  EXPECT_DOUBLE_EQ(busiest_bytes(fabric, phase, LinkKind::kNvlink), 8e6);
  EXPECT_DOUBLE_EQ(busiest_bytes(fabric, phase, LinkKind::kNic), 2e6);
  EXPECT_EQ(phase.latency, 4 * kNvlinkLatency + 8 * (2 * kNicLatency));
}

// A double tree of two is one transfer each way, so two nodes can exceed what a ring gets from the NICs.
TEST(NvlsTree, on_two_nodes_loads_each_nic_with_one_part) {
  const Fabric fabric = gpus(16, 8, true);
  const auto plan = plan_with(Algorithm::kNvlsTree, fabric, {kAllReduce, {8e6}}, all_chips(fabric));
  EXPECT_DOUBLE_EQ(busiest_bytes(fabric, plan->phases[0], LinkKind::kNic), 1e6);
  EXPECT_LT(time_of(Algorithm::kNvlsTree, fabric, 1e9), time_of(Algorithm::kRing, fabric, 1e9));
}

TEST(NvlsTree, needs_reducing_switches_in_several_equal_domains) {
  const Fabric fabric = gpus(24, 8, true), plain = gpus(24);
  const Collective reduce = {kAllReduce, {1e6}};
  EXPECT_FALSE(plan_with(Algorithm::kNvlsTree, plain, reduce, all_chips(plain)));
  EXPECT_FALSE(plan_with(Algorithm::kNvlsTree, fabric, reduce, first_chips(8)));
  EXPECT_FALSE(plan_with(Algorithm::kNvlsTree, fabric, reduce, first_chips(12)));
  EXPECT_FALSE(
      plan_with(Algorithm::kNvlsTree, fabric, {CollectiveKind::kAllGather, {1e6}}, all_chips(fabric)));
  EXPECT_TRUE(plan_with(Algorithm::kNvlsTree, fabric, reduce, std::vector<ChipId>{0, 1, 8, 9, 16, 17}));
}

}  // namespace
}  // namespace podsim::channel_test
