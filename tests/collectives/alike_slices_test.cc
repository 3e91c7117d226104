// Where slices are alike, the loads of one tell what a plan takes.
#include <gtest/gtest.h>

#include <vector>

#include "collectives/candidates.h"
#include "tests/collectives/fabrics.h"

namespace podsim::alike_slices_test {
namespace {

// Every `step`-th chip of `slices` slices from `first` on.
std::vector<ChipId> spread_group(const Fabric& fabric, int first, int slices, int step) {
  const int chips = fabric.slices.front().chips();
  std::vector<ChipId> group;
  for (ChipId chip = first * chips; chip < (first + slices) * chips; chip += step) group.push_back(chip);
  return group;
}

TEST(AlikeSlices, one_slice_gives_the_algorithm_and_the_time_of_all) {
  constexpr CollectiveKind kKinds[] = {CollectiveKind::kAllReduce, CollectiveKind::kAllGather,
                                       CollectiveKind::kReduceScatter, CollectiveKind::kAllToAll};
  int smaller = 0;
  for (const int slices : {2, 3, 4, 8}) {
    for (const std::array<int, 3> shape : {std::array{4, 4, 1}, {2, 3, 1}, {4, 2, 2}}) {
      const Fabric fabric = multislice(shape, slices);
      const auto alike = AlikeSlices::of(fabric);
      ASSERT_TRUE(alike);
      for (const std::vector<ChipId>& group :
           {all_chips(fabric), spread_group(fabric, 0, slices, 2), spread_group(fabric, 1, slices - 1, 1),
            spread_group(fabric, 0, slices, fabric.slices.front().chips())}) {
        for (const CollectiveKind kind : kKinds) {
          for (const double bytes : {4e3, 3e5, 2.5e8}) {
            const CollectivePlan whole = plan(fabric, {kind, {bytes}}, group);
            const CollectivePlan one = plan(fabric, {kind, {bytes}}, group, &*alike);
            EXPECT_EQ(one.algorithm, whole.algorithm);
            EXPECT_EQ(predict(fabric, one), predict(fabric, whole));
            ASSERT_EQ(one.phases.size(), whole.phases.size());
            for (std::size_t p = 0; p < one.phases.size(); ++p) {
              EXPECT_EQ(one.phases[p].latency, whole.phases[p].latency);
              smaller += one.phases[p].loads.size() < whole.phases[p].loads.size();
            }
          }
        }
      }
    }
  }
  EXPECT_GT(smaller, 100);
}

TEST(AlikeSlices, are_none_where_one_slice_differs) {
  const Fabric fabric = multislice({4, 4, 1}, 4);
  EXPECT_TRUE(AlikeSlices::of(fabric));
  EXPECT_FALSE(AlikeSlices::of(multislice({4, 4, 1}, 1)));
  EXPECT_FALSE(AlikeSlices::of(gpus(32)));
  const SlowLink slow{37, LinkKind::kIci, 0.5};
  EXPECT_FALSE(AlikeSlices::of(with_slow_links(fabric, {&slow, 1})));
  Fabric damaged = fabric;
  damaged.damaged = true;
  EXPECT_FALSE(AlikeSlices::of(damaged));
}

TEST(AlikeSlices, links_go_to_the_same_place_in_the_first_slice) {
  const Fabric fabric = multislice({4, 4, 1}, 3);
  const auto alike = AlikeSlices::of(fabric);
  ASSERT_TRUE(alike);
  for (ChipId chip = 0; chip < 16; ++chip) {
    for (int slice = 1; slice < 3; ++slice) {
      const ChipId other = chip + 16 * slice;
      for (std::size_t i = 0; i < fabric.out(chip).size(); ++i)
        EXPECT_EQ(alike->in_first(fabric.out_first[other] + static_cast<LinkId>(i)),
                  fabric.out_first[chip] + static_cast<LinkId>(i));
    }
  }
}

TEST(AlikeSlices, groups_repeat_where_they_lie_alike_in_every_slice) {
  const Fabric fabric = multislice({4, 4, 1}, 4);
  const auto alike = AlikeSlices::of(fabric);
  ASSERT_TRUE(alike);
  EXPECT_EQ(alike->ranks_in_first(all_chips(fabric)), 16u);
  EXPECT_EQ(alike->ranks_in_first(spread_group(fabric, 0, 4, 2)), 8u);
  EXPECT_EQ(alike->ranks_in_first(std::vector<ChipId>{3, 19, 35, 51}), 1u);
  EXPECT_EQ(alike->ranks_in_first(std::vector<ChipId>{3, 19, 35, 52}), 4u);
  EXPECT_EQ(alike->ranks_in_first(std::vector<ChipId>{3, 4, 19}), 3u);
  EXPECT_EQ(alike->ranks_in_first(std::vector<ChipId>{3, 4, 5}), 3u);
}

}  // namespace
}  // namespace podsim::alike_slices_test
