// Laws: relabelling a torus changes nothing, and time scales with the inverse of bandwidth.
#include <gtest/gtest.h>

#include "tests/collectives/fabrics.h"

namespace podsim::collective_symmetry_test {
namespace {

constexpr std::array kReductions = {CollectiveKind::kAllReduce, CollectiveKind::kAllGather,
                                    CollectiveKind::kReduceScatter, CollectiveKind::kAllToAll};

TEST(CollectiveLaw, exchanging_the_dimensions_of_a_torus_changes_no_time) {
  const std::array<int, 3> sides = {3, 4, 6};
  for (const CollectiveKind kind : kReductions) {
    const Algorithm algorithm = kind == CollectiveKind::kAllToAll ? Algorithm::kDirect : Algorithm::kTorus;
    const Fabric reference = torus(sides);
    const Time expected =
        predict(reference, *plan_with(algorithm, reference, {kind, {1e9}}, all_chips(reference)));
    std::array<int, 3> order = {0, 1, 2};
    do {
      const Fabric fabric = torus({sides[order[0]], sides[order[1]], sides[order[2]]});
      EXPECT_EQ(predict(fabric, *plan_with(algorithm, fabric, {kind, {1e9}}, all_chips(fabric))), expected);
    } while (std::ranges::next_permutation(order).found);
  }
}

TEST(CollectiveLaw, moving_a_group_round_a_torus_changes_no_time) {
  const Fabric fabric = torus({5, 4, 3});
  const TorusSlice& slice = fabric.slices[0];
  const std::vector<ChipId> group = {0, 1, 7, 23, 24, 31, 40, 59};
  for (const CollectiveKind kind : kReductions) {
    const Time expected = predict(fabric, plan(fabric, {kind, {1e9}}, group));
    for (const std::array<int, 3> shift : {std::array{1, 0, 0}, {0, 3, 0}, {4, 1, 2}}) {
      std::vector<ChipId> moved;
      for (const ChipId chip : group) {
        auto at = slice.coordinate(chip);
        for (int d = 0; d < 3; ++d) at[d] = (at[d] + shift[d]) % slice.shape[d];
        moved.push_back(slice.chip(at));
      }
      EXPECT_EQ(predict(fabric, plan(fabric, {kind, {1e9}}, moved)), expected);
    }
  }
}

TEST(CollectiveLaw, k_times_the_bandwidth_takes_one_kth_of_the_time) {
  const auto fabrics = [](double k) {
    FabricSpec box = torus_spec({4, 6, 5});
    box.torus->ici = {.bandwidth = {k * kIciRate}, .efficiency = 1, .latency = {}};
    FabricSpec cluster = gpu_spec(48);
    cluster.gpu->nvlink = {.bandwidth = {k * kNvlinkRate}, .efficiency = 1, .latency = {}};
    cluster.gpu->nic = {.bandwidth = {k * kNicRate}, .efficiency = 1, .latency = {}};
    return std::array{build_fabric(box), build_fabric(cluster)};
  };
  const auto slow = fabrics(1), fast = fabrics(7);
  for (std::size_t i = 0; i < slow.size(); ++i)
    for (const CollectiveKind kind : kReductions) {
      const Collective collective = {kind, {1e11}};
      const double slow_ps =
          static_cast<double>(predict(slow[i], plan(slow[i], collective, all_chips(slow[i]))).ps);
      const double fast_ps =
          static_cast<double>(predict(fast[i], plan(fast[i], collective, all_chips(fast[i]))).ps);
      EXPECT_NEAR(slow_ps / fast_ps, 7, 7e-9);
    }
}

TEST(CollectiveLaw, more_bytes_never_take_less_time) {
  for (const Fabric& fabric : {torus({4, 4, 2}), gpus(32, 8, true), multislice({4, 2, 1}, 2)})
    for (const CollectiveKind kind : kReductions) {
      Time before;
      for (double bytes = 1; bytes < 1e12; bytes *= 10) {
        const Time time = predict(fabric, plan(fabric, {kind, {bytes}}, all_chips(fabric)));
        EXPECT_GE(time, before);
        before = time;
      }
    }
}

}  // namespace
}  // namespace podsim::collective_symmetry_test
