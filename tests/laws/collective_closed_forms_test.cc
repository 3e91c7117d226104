// Laws: plans take the time of the closed forms of alpha-beta theory, to the picosecond.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/collectives/fabrics.h"

namespace podsim::collective_closed_forms_test {
namespace {

constexpr CollectiveKind kAllReduce = CollectiveKind::kAllReduce;
constexpr double kGigabyte = 1e9;

// Written apart from engine/units.h on purpose.
std::int64_t ps(double seconds) { return std::llround(seconds * 1e12); }

std::int64_t predicted_ps(Algorithm algorithm, const Fabric& fabric, CollectiveKind kind, double bytes) {
  const auto plan = plan_with(algorithm, fabric, {kind, {bytes}}, all_chips(fabric));
  return plan ? predict(fabric, *plan).ps : -1;
}

TEST(CollectiveLaw, multi_ring_on_8x8x8_takes_6654_us_and_42_us_of_latency) {
  const Fabric fabric = torus({8, 8, 8});
  const std::int64_t expected = ps(511.0 / 512 * kGigabyte / (3 * 50e9)) + 42 * 1'000'000;
  EXPECT_EQ(predicted_ps(Algorithm::kTorus, fabric, kAllReduce, kGigabyte), expected);
  EXPECT_EQ(expected, 6'653'645'833 + 42'000'000);
}

TEST(CollectiveLaw, one_ring_on_8x8x8_moves_its_bytes_in_39_92_ms) {
  const Fabric fabric = torus({8, 1, 1});
  const auto ring = [&](int n) { return ps(2 * (n - 1.0) / n * kGigabyte / 50e9); };
  EXPECT_EQ(predicted_ps(Algorithm::kRing, fabric, kAllReduce, kGigabyte), ring(8) + 14 * 1'000'000);
  EXPECT_EQ(ring(512), 39'921'875'000);
}

TEST(CollectiveLaw, ring_on_a_ring) {
  for (const int n : {3, 4, 7, 16, 64}) {
    const Fabric fabric = torus({n, 1, 1});
    const double data_s = (n - 1.0) / n * kGigabyte / 50e9;
    const std::int64_t steps_ps = (n - 1) * std::int64_t{1'000'000};
    EXPECT_EQ(predicted_ps(Algorithm::kRing, fabric, kAllReduce, kGigabyte), 2 * steps_ps + ps(2 * data_s));
    EXPECT_EQ(predicted_ps(Algorithm::kRing, fabric, CollectiveKind::kAllGather, kGigabyte),
              steps_ps + ps(data_s));
    EXPECT_EQ(predicted_ps(Algorithm::kBidirectionalRing, fabric, kAllReduce, kGigabyte),
              2 * steps_ps + ps(data_s));
  }
}

TEST(CollectiveLaw, a_multi_ring_on_one_dimension_is_a_bidirectional_ring) {
  for (const int n : {3, 8, 15}) {
    const Fabric fabric = torus({n, 1, 1});
    EXPECT_EQ(predicted_ps(Algorithm::kTorus, fabric, kAllReduce, kGigabyte),
              predicted_ps(Algorithm::kBidirectionalRing, fabric, kAllReduce, kGigabyte));
  }
}

TEST(CollectiveLaw, a_16x16_pod_without_ocs) {
  const Fabric fabric = build_fabric([] {
    FabricSpec spec = torus_spec({16, 16, 1}, 0, {16});
    spec.torus->dimensions = 2;
    return spec;
  }());
  const double data_s = 255.0 / 256 * kGigabyte / (2 * 50e9);
  EXPECT_EQ(predicted_ps(Algorithm::kTorus, fabric, kAllReduce, kGigabyte), ps(data_s) + 60 * 1'000'000);
  EXPECT_EQ(predicted_ps(Algorithm::kTorus, fabric, CollectiveKind::kAllGather, kGigabyte),
            ps(data_s / 2) + 30 * 1'000'000);
  EXPECT_EQ(predicted_ps(Algorithm::kTorus, fabric, CollectiveKind::kReduceScatter, kGigabyte),
            ps(data_s / 2) + 30 * 1'000'000);
}

TEST(CollectiveLaw, a_square_without_wrap_moves_its_bytes_in_twice_the_time) {
  const Fabric closed = torus({8, 8, 1}), open = mesh({8, 8, 1});
  const double data_s = 63.0 / 64 * kGigabyte / (2 * 50e9);
  EXPECT_EQ(predicted_ps(Algorithm::kTorus, closed, kAllReduce, kGigabyte), ps(data_s) + 28 * 1'000'000);
  EXPECT_EQ(predicted_ps(Algorithm::kTorus, open, kAllReduce, kGigabyte), ps(2 * data_s) + 56 * 1'000'000);
}

TEST(CollectiveLaw, hierarchical_on_64_nodes_of_8) {
  const Fabric fabric = gpus(512);
  const double inside_s = 7.0 / 8 * kGigabyte / 400e9;
  const double across_s = 63.0 / 64 * kGigabyte / (8 * 50e9);
  const Time slowest_hop =
      4 * kNicLatency;  // the last of the 32 domains under a leaf reaches the next leaf by the spine
  const std::int64_t expected = 2 * (ps(inside_s) + 1'000'000) + ps(2 * across_s) + 2 * 63 * slowest_hop.ps;
  EXPECT_EQ(predicted_ps(Algorithm::kHierarchical, fabric, kAllReduce, kGigabyte), expected);
}

TEST(CollectiveLaw, ring_channels_on_64_nodes_of_8_are_bound_by_all_nics) {
  const Fabric fabric = gpus(512);
  const double data_s = 2 * 511.0 / 512 * kGigabyte / (8 * 50e9);
  EXPECT_EQ(predicted_ps(Algorithm::kRing, fabric, kAllReduce, kGigabyte),
            ps(data_s) + std::int64_t{2 * 511} * 4'000'000);
}

TEST(CollectiveLaw, double_binary_tree_on_one_switch) {
  const Fabric fabric = gpus(64, 64);
  EXPECT_EQ(predicted_ps(Algorithm::kTree, fabric, kAllReduce, kGigabyte),
            ps(2 * kGigabyte / 400e9) + 2 * 6 * 1'000'000);
}

TEST(CollectiveLaw, halving_doubling_on_one_switch) {
  const Fabric fabric = gpus(64, 64);
  const double data_s = 2 * 63.0 / 64 * kGigabyte / 400e9;
  EXPECT_EQ(predicted_ps(Algorithm::kHalvingDoubling, fabric, kAllReduce, kGigabyte),
            ps(data_s) + 12 * 1'000'000);
}

TEST(CollectiveLaw, in_switch_reduction) {
  const Fabric fabric = gpus(72, 72, true);
  EXPECT_EQ(predicted_ps(Algorithm::kNvls, fabric, kAllReduce, kGigabyte), ps(kGigabyte / 400e9) + 1'000'000);
}

// s bytes per pair put N d / 8 * s on every link of a torus of even sides d, N (d^2 - 1) / (8 d) * s for odd
// d.
TEST(CollectiveLaw, all_to_all_on_cubes) {
  for (const auto& [d, per_link] : {std::pair(3, 9.0), {4, 32.0}, {5, 75.0}, {8, 512.0}, {16, 8192.0}}) {
    const Fabric fabric = torus({d, d, d});
    const double n = std::pow(d, 3), s = 1e4;
    EXPECT_EQ(per_link, d % 2 == 0 ? n * d / 8 : n * (d * d - 1) / (8 * d));
    EXPECT_EQ(predicted_ps(Algorithm::kDirect, fabric, CollectiveKind::kAllToAll, n * s),
              ps(per_link * s / 50e9) + 3 * (d / 2) * 1'000'000);
  }
}

TEST(CollectiveLaw, all_to_all_on_a_line_loads_its_middle_twice_as_much_as_a_ring) {
  const Fabric line = mesh({8, 1, 1});
  EXPECT_EQ(predicted_ps(Algorithm::kDirect, line, CollectiveKind::kAllToAll, 8e6),
            ps(16e6 / 50e9) + 7'000'000);
}

TEST(CollectiveLaw, all_to_all_gains_1_745_and_1_391_from_a_twist) {
  const auto busiest = [](const Fabric& fabric) {
    const auto plan = plan_with(Algorithm::kDirect, fabric, {CollectiveKind::kAllToAll, {1.0 * fabric.chips}},
                                all_chips(fabric));
    return std::max(busiest_bytes(fabric, plan->phases[0], LinkKind::kIci),
                    busiest_bytes(fabric, plan->phases[0], LinkKind::kIciOptical));
  };
  EXPECT_NEAR(busiest(twisted_torus({4, 4, 8})), 220.0 / 3, 1e-9);
  EXPECT_NEAR(busiest(twisted_torus({4, 8, 8})), 184, 1e-9);
  EXPECT_NEAR(busiest(torus({4, 4, 8})) / busiest(twisted_torus({4, 4, 8})), 1.745, 5e-4);
  EXPECT_NEAR(busiest(torus({4, 8, 8})) / busiest(twisted_torus({4, 8, 8})), 1.391, 5e-4);
}

TEST(CollectiveLaw, all_to_all_on_one_switch_is_bound_by_injection) {
  const Fabric fabric = gpus(64, 64);
  EXPECT_EQ(predicted_ps(Algorithm::kDirect, fabric, CollectiveKind::kAllToAll, kGigabyte),
            ps(63.0 / 64 * kGigabyte / 400e9) + 1'000'000);
}

TEST(CollectiveLaw, slices_over_a_dcn) {
  const Fabric fabric = multislice({4, 4, 4}, 4);
  const double inside_s = 63.0 / 64 * kGigabyte / (6 * 50e9);
  const double across_s = 2 * 3.0 / 4 * (kGigabyte / 64) * 4 / 25e9;  // four chips share the NICs of a host
  EXPECT_EQ(predicted_ps(Algorithm::kHierarchical, fabric, kAllReduce, kGigabyte),
            2 * (ps(inside_s) + 9 * 1'000'000) + ps(across_s) + 6 * 20'000'000);
}

}  // namespace
}  // namespace podsim::collective_closed_forms_test
