// Routing rules on tori: dimension order, hashing and static choices against minimal adaptive routes.
#include <gtest/gtest.h>

#include <random>

#include "tests/topology/fabrics.h"
#include "tests/topology/routes.h"

namespace podsim::routing_test {
namespace {

Fabric torus_with(FabricSpec spec, Routing routing, std::uint64_t seed = 1) {
  spec.routing = routing;
  spec.routing_seed = seed;
  return build_fabric(spec);
}

std::vector<ChipId> chips_along(const Fabric& fabric, ChipId from, ChipId to) {
  std::vector<ChipId> chips = {from};
  for (const RouteHop& hop : route(fabric, from, to)) {
    EXPECT_EQ(fabric.links[hop.link].from, chips.back());
    chips.push_back(fabric.links[hop.link].to);
  }
  return chips;
}

int hops_between(const Fabric& adaptive, ChipId from, ChipId to) {
  return static_cast<int>(
      std::llround(route_latency(adaptive, route(adaptive, from, to)).in_seconds() * 1e6));
}

TEST(DimensionOrder, walks_x_then_y_then_z) {
  const Fabric fabric = torus_with(torus_spec({5, 5, 5}, 0), Routing::kDimensionOrder);
  const TorusSlice& slice = fabric.slices[0];
  const std::vector<ChipId> expected = {
      slice.chip({0, 0, 0}), slice.chip({1, 0, 0}), slice.chip({2, 0, 0}),
      slice.chip({2, 4, 0}), slice.chip({2, 4, 1}),
  };
  EXPECT_EQ(chips_along(fabric, expected.front(), expected.back()), expected);
}

TEST(DimensionOrder, halfway_ties_go_forward_from_even_coordinates_and_back_from_odd_ones) {
  const Fabric fabric = torus_with(torus_spec({8, 1, 1}, 0), Routing::kDimensionOrder);
  EXPECT_EQ(chips_along(fabric, 2, 6), (std::vector<ChipId>{2, 3, 4, 5, 6}));
  EXPECT_EQ(chips_along(fabric, 3, 7), (std::vector<ChipId>{3, 2, 1, 0, 7}));
}

// N d / 8 on rings of even d.
TEST(DimensionOrder, all_to_all_on_8x8x8_loads_every_link_with_512) {
  for (const double load : all_to_all_loads(torus_with(ocs_spec({8, 8, 8}), Routing::kDimensionOrder)))
    ASSERT_EQ(load, 512);
}

TEST(SinglePathRouting, is_one_minimal_path_that_carries_everything_on_every_torus) {
  std::mt19937_64 random(3);
  for (const auto& spec : {ocs_spec({4, 4, 8}), ocs_spec({4, 4, 8}, true), ocs_spec({4, 8, 8}, true),
                           ocs_spec({4, 4, 2}), flat_spec(8, 16), torus_spec({5, 3, 2}, 0)}) {
    const Fabric adaptive = build_fabric(spec);
    for (const Routing routing : {Routing::kDimensionOrder, Routing::kEcmp, Routing::kStatic}) {
      const Fabric fabric = torus_with(spec, routing);
      for (int pair = 0; pair < 300; ++pair) {
        const ChipId from = static_cast<ChipId>(random() % fabric.chips);
        const ChipId to = static_cast<ChipId>(random() % fabric.chips);
        ASSERT_NO_FATAL_FAILURE(expect_unit_flow(fabric, from, to));
        ASSERT_EQ(static_cast<int>(route(fabric, from, to).size()), hops_between(adaptive, from, to));
      }
    }
  }
}

TEST(Ecmp, a_seed_gives_one_path_and_another_seed_another) {
  const FabricSpec spec = ocs_spec({8, 8, 8});
  const Fabric one = torus_with(spec, Routing::kEcmp, 1), same = torus_with(spec, Routing::kEcmp, 1),
               other = torus_with(spec, Routing::kEcmp, 2);
  const ChipId far = one.slices[0].chip({4, 4, 4});
  EXPECT_EQ(chips_along(one, 0, far), chips_along(same, 0, far));
  EXPECT_NE(chips_along(one, 0, far), chips_along(other, 0, far));
}

TEST(Ecmp, many_transfers_use_links_about_as_spraying_does) {
  const auto loads = all_to_all_loads(torus_with(ocs_spec({4, 4, 8}), Routing::kEcmp));
  double sum = 0;
  for (const double load : loads) sum += load;
  const auto sprayed = all_to_all_loads(build_fabric(ocs_spec({4, 4, 8})));
  double sprayed_sum = 0;
  for (const double load : sprayed) sprayed_sum += load;
  EXPECT_NEAR(sum, sprayed_sum, 1e-6);  // all paths are shortest
  EXPECT_LT(std::ranges::max(loads), 1.35 * std::ranges::max(sprayed));
}

}  // namespace
}  // namespace podsim::routing_test
