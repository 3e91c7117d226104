// Laws of tori: relabelling the chips changes no time; a twist evens out an all-to-all as theory says.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>

#include "tests/collectives/fabrics.h"
#include "topology/failures.h"

namespace podsim::torus_symmetry_test {
namespace {

using Coordinate = std::array<int, 3>;
using Relabelling = std::function<Coordinate(Coordinate)>;

// A translation, all reflections, and all exchanges of the axes of a cube of side n.
std::vector<Relabelling> symmetries(int n) {
  std::vector<Relabelling> all = {[n](Coordinate at) {
    return Coordinate{(at[0] + 1) % n, (at[1] + 3) % n, (at[2] + 2) % n};
  }};
  for (int d = 0; d < 3; ++d)
    all.push_back([n, d](Coordinate at) {
      at[d] = n - 1 - at[d];
      return at;
    });
  std::array<int, 3> order = {0, 1, 2};
  while (std::ranges::next_permutation(order).found)
    all.push_back([order](Coordinate at) { return Coordinate{at[order[0]], at[order[1]], at[order[2]]}; });
  return all;
}

ChipId relabelled(const TorusSlice& slice, const Relabelling& to, ChipId chip) {
  return slice.chip(to(slice.coordinate(chip)));
}

std::vector<ChipId> relabelled(const TorusSlice& slice, const Relabelling& to, std::vector<ChipId> group) {
  for (ChipId& chip : group) chip = relabelled(slice, to, chip);
  return group;
}

constexpr std::array kKinds = {CollectiveKind::kAllReduce, CollectiveKind::kAllGather,
                               CollectiveKind::kReduceScatter, CollectiveKind::kAllToAll,
                               CollectiveKind::kPermute};

TEST(TorusLaw, relabelling_the_chips_of_a_group_changes_no_time) {
  const Fabric fabric = torus({6, 6, 6});
  const TorusSlice& slice = fabric.slices[0];
  const std::vector<std::vector<ChipId>> groups = {
      {0, 1, 2, 3, 4, 5},      {0, 1, 2}, {0, 2, 4}, {0, 1, 6, 7}, {0, 36, 72, 1, 37, 73},
      {3, 8, 44, 70, 101, 215}};
  for (const std::vector<ChipId>& group : groups)
    for (const CollectiveKind kind : kKinds) {
      const Time expected = predict(fabric, plan(fabric, {kind, {1e8}}, group));
      for (const Relabelling& relabelling : symmetries(6))
        EXPECT_EQ(predict(fabric, plan(fabric, {kind, {1e8}}, relabelled(slice, relabelling, group))),
                  expected)
            << to_string(kind);
    }
}

TEST(TorusLaw, relabelling_what_failed_changes_no_time) {
  const Fabric fabric = torus({4, 4, 4});
  const TorusSlice& slice = fabric.slices[0];
  const auto time = [&](const Relabelling& to, CollectiveKind kind) {
    const std::vector<Failure> failures = {FailedCable{relabelled(slice, to, 0), relabelled(slice, to, 1)},
                                           FailedCable{relabelled(slice, to, 21), relabelled(slice, to, 37)}};
    const Fabric damaged = with_failures(fabric, failures);
    return predict(damaged, plan(damaged, {kind, {1e8}}, all_chips(damaged)));
  };
  for (const CollectiveKind kind : {CollectiveKind::kAllReduce, CollectiveKind::kAllToAll})
    for (const Relabelling& relabelling : symmetries(4))
      EXPECT_EQ(time(relabelling, kind), time(std::identity(), kind));
}

double busiest_of_all_to_all(const Fabric& fabric, bool all_equal) {
  const double chips = fabric.chips;
  const auto plan =
      plan_with(Algorithm::kDirect, fabric, {CollectiveKind::kAllToAll, {chips}}, all_chips(fabric));
  double most = 0, least = 1e300;
  for (const LinkLoad& load : plan->phases[0].loads) {
    most = std::max(most, load.bytes);
    least = std::min(least, load.bytes);
  }
  if (all_equal) {
    EXPECT_NEAR(most, least, 1e-9);
  }
  return most;
}

// Loads in units of what a pair sends; ISCA 2023, "TPU v4", measured 0.934 and 0.942 of these gains.
TEST(TorusLaw, a_twist_gains_1_745_on_4x4x8_and_1_391_on_4x8x8) {
  for (const auto& [shape, straight, twisted, gain] :
       {std::tuple{std::array{4, 4, 8}, 128.0, 73.33, 1.745}, {std::array{4, 8, 8}, 256.0, 184.0, 1.391}}) {
    const double before = busiest_of_all_to_all(build_fabric(torus_spec(shape, 4)), false);
    const double after = busiest_of_all_to_all(twisted_torus(shape), true);
    EXPECT_NEAR(before, straight, 1e-9);
    EXPECT_NEAR(after, twisted, 0.005);
    EXPECT_NEAR(before / after, gain, 0.0005);
  }
}

}  // namespace
}  // namespace podsim::torus_symmetry_test
