// Collectives measured on TPU slices are predicted with the catalogue's fabrics.
#include <gtest/gtest.h>

#include <numeric>

#include "collectives/collective.h"
#include "proto/catalog/catalog.h"
#include "proto/scenario/chosen_fabric.h"
#include "topology/fabric.h"

namespace podsim::tpu_collectives_test {
namespace {

Fabric slice(const std::string& name, const std::vector<int>& shape, bool twisted = false) {
  const auto [spec, problems] = chosen_fabric(Catalog(), {name, 0, shape, 1, twisted});
  EXPECT_TRUE(spec) << (problems.empty() ? "" : problems[0].message);
  return build_fabric(spec.value());
}

std::vector<ChipId> first(int count) {
  std::vector<ChipId> chips(static_cast<std::size_t>(count));
  std::iota(chips.begin(), chips.end(), 0);
  return chips;
}

double seconds(const Fabric& fabric, const Collective& collective, const std::vector<ChipId>& group) {
  return predict(fabric, plan(fabric, collective, group)).in_seconds();
}

struct Gather {
  double transferred_bytes;  // received by a chip: three quarters of the result among four
  double on_2x2x1_gb_per_s, on_2x2x2_gb_per_s;
};

// AI-Hypercomputer/tpu-recipes@c8cfe2f microbenchmarks/ironwood/collectives/all_gather.md. The figures of
// 2x2x2 equal those of 2x2x1, which only fits gathers within planes of four chips: a gather among eight over
// three links would be a half faster.
constexpr Gather kGathers[] = {
    {1572864, 71.77, 69.532}, {25165824, 161.904, 162.086}, {402653184, 178.771, 178.759}};

TEST(TpuCollectives, v7_all_gathers_are_within_5_percent) {
  const Fabric square = slice("v7_pod", {2, 2, 1}), cube = slice("v7_pod", {2, 2, 2});
  for (const auto& [transferred, square_rate, cube_rate] : kGathers) {
    const Collective gather = {CollectiveKind::kAllGather, {transferred * 4 / 3}};
    EXPECT_NEAR(transferred / seconds(square, gather, first(4)) / 1e9, square_rate, 0.05 * square_rate);
    EXPECT_NEAR(transferred / seconds(cube, gather, first(4)) / 1e9, cube_rate, 0.05 * cube_rate);
  }
}

// 17408 x 17408 in bf16, counted as 2 (n - 1) / n x bytes / time: microbenchmarks/trillium/collectives.
TEST(TpuCollectives, v6e_all_reduce_is_within_5_percent) {
  const Fabric pod = slice("v6e_pod", {16, 16});
  const Collective reduce = {CollectiveKind::kAllReduce, {2.0 * 17408 * 17408}};
  const double time = seconds(pod, reduce, first(256));
  EXPECT_NEAR(bus_bandwidth(reduce, 256, Time::seconds(time)).value / 1e9, 235.76, 0.05 * 235.76);
}

TEST(TpuCollectives, v6e_all_gathers_use_all_that_links_carry) {
  const Fabric pod = slice("v6e_pod", {16, 16});
  const Collective gather = {CollectiveKind::kAllGather, {2.56e9}};
  EXPECT_NEAR(seconds(pod, gather, first(256)), 255.0 / 256 * 2.56e9 / (4 * 90e9), 100e-6);
}

TEST(TpuCollectives, v4_all_to_all_gains_1_63_and_1_31_from_the_twist) {
  const auto gain = [](const std::vector<int>& shape) {
    const int chips = shape[0] * shape[1] * shape[2];
    const Collective exchange = {CollectiveKind::kAllToAll, {1e10}};
    return seconds(slice("v4_pod", shape), exchange, first(chips)) /
           seconds(slice("v4_pod", shape, true), exchange, first(chips));
  };
  EXPECT_NEAR(gain({4, 4, 8}), 1.63, 0.0163);
  EXPECT_NEAR(gain({4, 8, 8}), 1.31, 0.0131);
}

}  // namespace
}  // namespace podsim::tpu_collectives_test
