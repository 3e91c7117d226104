// Multi-rings of groups that fill part of a dimension: ranges, strides, both; against counted hops and
// bounds.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "tests/collectives/fabrics.h"

namespace podsim::torus_range_test {
namespace {

constexpr Collective kGather = {CollectiveKind::kAllGather, {1e9}};

// Every coordinate first, first + stride, ... of each dimension, round the torus.
std::vector<ChipId> box(const Fabric& fabric, std::array<int, 3> first, std::array<int, 3> count,
                        std::array<int, 3> stride = {1, 1, 1}) {
  const TorusSlice& slice = fabric.slices[0];
  std::vector<ChipId> group;
  for (int x = 0; x < count[0]; ++x)
    for (int y = 0; y < count[1]; ++y)
      for (int z = 0; z < count[2]; ++z)
        group.push_back(slice.chip({(first[0] + x * stride[0]) % slice.shape[0],
                                    (first[1] + y * stride[1]) % slice.shape[1],
                                    (first[2] + z * stride[2]) % slice.shape[2]}));
  return group;
}

// The hops of one ring through the chips of a line, out over every other chip and back over the rest, each
// walked along x; (n - 1) / n of the data passes each.
std::map<LinkId, double> folded_ring_loads(const Fabric& fabric, const std::vector<ChipId>& line,
                                           int stride) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < line.size(); i += 2) order.push_back(i);
  for (std::size_t i = line.size() - line.size() % 2; i-- > 0;)
    if (i % 2 == 1) order.push_back(i);
  std::map<LinkId, double> loads;
  const double passed = static_cast<double>(line.size() - 1) / static_cast<double>(line.size());
  for (std::size_t hop = 0; hop < order.size(); ++hop) {
    const auto from = order[hop], to = order[(hop + 1) % order.size()];
    const int direction = to > from ? +1 : -1;
    ChipId at = line[from];
    for (std::size_t step = 0; step < stride * (std::max(from, to) - std::min(from, to)); ++step) {
      const ChipId next = fabric.slices[0].neighbour(at, 0, direction);
      loads[fabric.link_between(at, next)] += passed * 1e9;
      at = next;
    }
  }
  return loads;
}

TEST(TorusRange, part_of_a_ring_is_a_line_with_the_loads_of_a_folded_ring) {
  const Fabric fabric = torus({16, 4, 1});
  for (const int count : {2, 3, 4, 5, 7})
    for (const int stride : {1, 2})
      for (const int first : {0, 3, 14}) {
        const auto line = box(fabric, {first, 1, 0}, {count, 1, 1}, {stride, 1, 1});
        const auto plan = plan_with(Algorithm::kTorus, fabric, kGather, line);
        ASSERT_TRUE(plan);
        const auto expected = folded_ring_loads(fabric, line, stride);
        ASSERT_EQ(plan->phases[0].loads.size(), expected.size());
        for (const LinkLoad& load : plan->phases[0].loads)
          ASSERT_NEAR(load.bytes, expected.at(load.link), 1e-3);
        EXPECT_EQ(plan->phases[0].latency, (count - 1) * stride * (count == 2 ? 1 : 2) * kIciLatency);
      }
}

TEST(TorusRange, every_sth_chip_of_a_ring_is_a_ring_over_all_its_links) {
  const Fabric fabric = torus({12, 4, 1});
  for (const int stride : {2, 3, 4, 6}) {
    const int count = 12 / stride;
    const auto ring = box(fabric, {1, 2, 0}, {count, 1, 1}, {stride, 1, 1});
    const auto plan = plan_with(Algorithm::kTorus, fabric, kGather, ring);
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->phases[0].loads.size(), 24u);
    for (const LinkLoad& load : plan->phases[0].loads)
      ASSERT_NEAR(load.bytes, 1e9 * (count - 1) / count / 2, 1e-3);
    EXPECT_EQ(plan->phases[0].latency, (count - 1) * stride * kIciLatency);
  }
}

// Half of the data goes along x first, half along y.
TEST(TorusRange, a_square_of_lines_shares_its_load_between_the_dimensions) {
  const Fabric fabric = torus({8, 8, 8});
  const auto plan = plan_with(Algorithm::kTorus, fabric, kGather, box(fabric, {6, 3, 5}, {4, 4, 1}));
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->phases[0].loads.size(), 2u * 2 * 4 * 3);
  EXPECT_NEAR(busiest_bytes(fabric, plan->phases[0], LinkKind::kIci), (3.0 / 4 + 3.0 / 16) / 2 * 1e9, 1e-3);
  EXPECT_EQ(busiest_bytes(fabric, plan->phases[0], LinkKind::kIci),
            least_bytes(fabric, plan->phases[0], LinkKind::kIci));
}

// Along x last, where the blocks are smallest: all `stride` groups put (n - 1) / n S / 4 on links of y and z
// and no more than that on those of x.
TEST(TorusRange, groups_that_fill_each_others_gaps_leave_the_dimension_that_they_share_its_part) {
  const Fabric fabric = torus({8, 8, 8});
  for (const int stride : {2, 4}) {
    std::map<LinkId, double> sum;
    for (int first = 0; first < stride; ++first) {
      const auto group = box(fabric, {first, 0, 0}, {8 / stride, 8, 8}, {stride, 1, 1});
      const auto plan = plan_with(Algorithm::kTorus, fabric, kGather, group);
      ASSERT_TRUE(plan);
      for (const LinkLoad& load : plan->phases[0].loads) sum[load.link] += load.bytes;
    }
    const double data = kGather.bytes.value, each = data * 63 / 64 / 4;
    ASSERT_LE(stride * data / 64 / 2, each);
    for (const auto& [link, bytes] : sum) EXPECT_LE(bytes, each * (1 + 1e-9)) << "stride " << stride;
  }
}

TEST(TorusRange, no_box_is_below_the_bound_and_the_choice_is_never_slower_than_a_ring) {
  std::mt19937_64 random(23);
  int planned = 0;
  for (int round = 0; round < 200; ++round) {
    const Fabric fabric = round % 2 == 0 ? torus({8, 6, 4}) : mesh({8, 6, 4});
    std::array<int, 3> first, count, stride;
    for (int d = 0; d < 3; ++d) {
      const int length = fabric.slices[0].shape[d];
      stride[d] = 1 + static_cast<int>(random() % 3);
      count[d] = 1 + static_cast<int>(random() % ((length - 1) / stride[d] + 1));
      const int span = (count[d] - 1) * stride[d];
      first[d] = static_cast<int>(random() % (fabric.slices[0].wrap[d] ? length : length - span));
    }
    const auto group = box(fabric, first, count, stride);
    if (group.size() < 2) continue;
    for (const double bytes : {1e3, 1e9})
      for (const CollectiveKind kind : {CollectiveKind::kAllReduce, CollectiveKind::kAllGather}) {
        const Collective collective = {kind, {bytes}};
        const auto multi_ring = plan_with(Algorithm::kTorus, fabric, collective, group);
        if (fabric.slices[0].wrap[0] && !multi_ring) continue;  // a wide stride, shorter the other way round
        ASSERT_TRUE(multi_ring);
        ++planned;
        ASSERT_GE(predict(fabric, *multi_ring), lower_bound(fabric, collective, group));
        const Time chosen = predict(fabric, plan(fabric, collective, group));
        for (const Algorithm ring : {Algorithm::kRing, Algorithm::kBidirectionalRing, Algorithm::kTorus})
          ASSERT_LE(chosen, predict(fabric, *plan_with(ring, fabric, collective, group)));
      }
  }
  EXPECT_GT(planned, 400);
}

TEST(TorusRange, bent_and_uneven_groups_have_no_multi_ring) {
  const Fabric fabric = torus({8, 8, 1});
  EXPECT_FALSE(plan_with(Algorithm::kTorus, fabric, kGather, std::vector<ChipId>{0, 1, 3}));
  EXPECT_FALSE(plan_with(Algorithm::kTorus, fabric, kGather, std::vector<ChipId>{0, 1, 9}));
  const Fabric twisted = twisted_torus({4, 4, 8});
  EXPECT_FALSE(plan_with(Algorithm::kTorus, twisted, kGather, std::vector<ChipId>{0, 1}));
}

}  // namespace
}  // namespace podsim::torus_range_test
