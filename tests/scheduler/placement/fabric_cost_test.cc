// The cost of a collective on a placed mesh is its predicted time.
#include "scheduler/placement/fabric_cost.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/scheduler/fixture.h"
#include "workload/resharding/reshard_space.h"

namespace podsim::fabric_cost_test {
namespace {

struct Placed {
  Fabric fabric = build_fabric(testing::gpu_fabric(16, 4, 16));
  Mesh mesh{{{"node", 4}, {"chip", 4}}};
  Placement placement = place(fabric, mesh, {});
  FabricCost cost{fabric, mesh, placement, FlopRate{1e12}};

  double predicted(CollectiveKind kind, const std::vector<ChipId>& group, double bytes) const {
    return predict(fabric, plan(fabric, {kind, {bytes}}, group)).in_seconds();
  }
};

// Predictions are rounded to the picosecond in every phase.
void expect_same(double cost, double predicted) { EXPECT_NEAR(cost, predicted, 1e-11); }

TEST(FabricCost, is_the_predicted_time_of_the_first_group_along_the_axes) {
  const Placed p;
  const double bytes = 0x1p28;
  expect_same(p.cost.collective(CollectiveKind::kAllGather, {{1, 1, 4}}, Bytes{bytes}),
              p.predicted(CollectiveKind::kAllGather, {0, 1, 2, 3}, bytes));
  expect_same(p.cost.collective(CollectiveKind::kAllReduce, {{0, 1, 4}}, Bytes{bytes}),
              p.predicted(CollectiveKind::kAllReduce, {0, 4, 8, 12}, bytes));
  EXPECT_DOUBLE_EQ(
      p.cost.collective(CollectiveKind::kAllToAll, {{0, 1, 4}, {1, 1, 4}}, Bytes{bytes}),
      p.predicted(CollectiveKind::kAllToAll, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, bytes));
}

TEST(FabricCost, a_piece_of_an_axis_is_a_group_of_its_own) {
  const Placed p;
  expect_same(p.cost.collective(CollectiveKind::kAllGather, {{0, 1, 2}}, Bytes{0x1p28}),
              p.predicted(CollectiveKind::kAllGather, {0, 8}, 0x1p28));
  expect_same(p.cost.collective(CollectiveKind::kAllGather, {{1, 2, 2}}, Bytes{0x1p28}),
              p.predicted(CollectiveKind::kAllGather, {0, 1}, 0x1p28));
}

TEST(FabricCost, never_falls_with_the_size_nor_below_what_a_chip_can_take_in) {
  const Placed p;
  for (const CollectiveKind kind :
       {CollectiveKind::kAllGather, CollectiveKind::kReduceScatter, CollectiveKind::kAllReduce,
        CollectiveKind::kAllToAll, CollectiveKind::kPermute}) {
    for (const AxisList& axes : {AxisList{{0, 1, 4}}, AxisList{{1, 1, 4}}, AxisList{{0, 1, 4}, {1, 1, 4}}}) {
      double before = 0;
      for (double bytes = 1; bytes < 1e10; bytes *= 1.7) {
        const double seconds = p.cost.collective(kind, axes, Bytes{bytes});
        const int n = shard_count(axes);
        EXPECT_GE(seconds, before);
        EXPECT_GE(seconds * (1 + 1e-9), p.cost.at_least(Bytes{bytes * (n - 1) / n})) << to_string(kind);
        before = seconds;
      }
    }
  }
}

// Domains of four, filled by the innermost axis and a part of the next.
struct Straddling {
  Fabric fabric = build_fabric(testing::gpu_fabric(32, 4, 32));
  Mesh mesh{{{"outer", 2}, {"straddling", 8}, {"inner", 2}}};
  Placement placement = place(fabric, mesh, {});
  FabricCost cost{fabric, mesh, placement, FlopRate{1e12}};
  TensorShape shape{{{"", {{64, 7}}}, {"", {{64, 7}}}, {"", {{4096, 7}}}}, 2};
  std::vector<AxisRef> axes = {{0, 1, 2}, {1, 1, 8}, {2, 1, 2}};
  ReshardSpace space{shape, {0, 1, 2}, axes, cost};
  std::mt19937 random{3};

  Layout layout() {
    Layout made = replicated(3);
    std::vector<AxisRef> order = axes;
    std::shuffle(order.begin(), order.end(), random);
    for (const AxisRef& axis : order)
      if (const std::size_t dim = random() % 4; dim < 3) made.dims[dim].push_back(axis);
    return made;
  }
  PlanCost planned(const Layout& from, const Layout& to) const {
    return total_cost(plan_reshard(mesh, shape, from, to, cost, AxisSplit::kAsLaidOut), cost);
  }
};

TEST(FabricCost, no_way_between_two_layouts_costs_less_than_what_domains_lack_takes_by_their_nics) {
  Straddling p;
  int bounded = 0;
  for (int i = 0; i < 300; ++i) {
    const Layout from = p.layout(), to = p.layout();
    const double least = p.space.at_least_from_afar(p.space.state_of(from), p.space.state_of(to));
    const PlanCost found = p.planned(from, to);
    EXPECT_GE(found.value, least) << i;
    bounded += least > 0.5 * found.value;
  }
  EXPECT_GT(bounded, 50) << "it says something of many";
}

// Domains of eight below one or two leaves, filled by the inner axes; sizes that are no powers of two, too.
TEST(FabricCost, no_collective_costs_less_than_what_comes_from_other_domains_takes_by_its_nics) {
  int bounded = 0;
  for (const std::vector<int>& sizes : {std::vector{3, 4, 2}, {2, 6, 4}, {5, 2, 8}, {2, 2, 12}, {4, 16, 1}}) {
    const int chips = sizes[0] * sizes[1] * sizes[2];
    const Fabric fabric = build_fabric(testing::gpu_fabric(chips, 8, 32));
    const Mesh mesh{{{"outer", sizes[0]}, {"middle", sizes[1]}, {"inner", sizes[2]}}};
    const Placement placement = place(fabric, mesh, {});
    const FabricCost cost(fabric, mesh, placement, FlopRate{1e12});
    std::vector<AxisRef> atoms;
    for (int axis = 0; axis < 3; ++axis)
      if (sizes[static_cast<std::size_t>(axis)] > 1)
        atoms.push_back({axis, 1, sizes[static_cast<std::size_t>(axis)]});
    const ReshardSpace space({{{"", {{1 << 20, 1}}}}, 2}, {0}, atoms, cost);
    for (unsigned chosen = 1; chosen >> atoms.size() == 0; ++chosen) {
      Pile labels = 0;
      for (int label = 1; label <= space.labels(); ++label)
        if (chosen >> (label - 1) & 1) labels = inserted(labels, label);
      for (const CollectiveKind kind : {CollectiveKind::kAllGather, CollectiveKind::kReduceScatter,
                                        CollectiveKind::kAllReduce, CollectiveKind::kAllToAll})
        for (double bytes = 1e3; bytes < 1e11; bytes *= 100) {
          const double least = space.price_at_least(kind, labels, bytes);
          const double price = space.price(kind, labels, bytes);
          EXPECT_LE(least, price * (1 + 1e-9))
              << to_string(kind) << " of " << bytes << " bytes, mesh of " << chips;
          bounded += least > 0.9 * price && least > cost.at_least(Bytes{bytes});
        }
    }
  }
  EXPECT_GT(bounded, 20) << "it says something of many";
}

// Whether or not a search looks for such a way.
TEST(FabricCost, no_way_that_is_found_costs_more_than_a_permute_and_a_gather) {
  Straddling p;
  int permuted = 0;
  for (int i = 0; i < 20'000; ++i) {
    p.shape.element_bytes = i % 2 == 0 ? 2 : 0.01;  // bandwidth decides, or latency
    p.space = ReshardSpace(p.shape, {0, 1, 2}, p.axes, p.cost);
    const Layout from = p.layout(), between = p.layout();
    const PileState start = p.space.state_of(from), middle = p.space.state_of(between);
    bool alike = true;
    for (std::size_t d = 0; d < 3; ++d) alike &= p.space.shards(start.at[d]) == p.space.shards(middle.at[d]);
    if (!alike || from == between) continue;
    Layout to = between;
    PileState end = middle;
    Pile gathered = 0;
    if (const std::size_t d = p.random() % 4; d < 3 && middle.at[d] != 0) {
      gathered = inserted(0, top(middle.at[d]));
      to.dims[d].pop_back();
      end = p.space.state_of(to);
    }
    double way = p.space.price(CollectiveKind::kPermute, p.space.moved(start, middle), p.space.bytes(start));
    if (gathered != 0) way += p.space.price(CollectiveKind::kAllGather, gathered, p.space.bytes(end));
    const PlanCost found = p.planned(from, to);
    EXPECT_LE(found.value, way * (1 + 1e-9)) << i;
    permuted += found.value > way * (1 - 1e-9);
  }
  EXPECT_GT(permuted, 50) << "it is the cheapest of many";
}

TEST(FabricCost, of_meshes_that_share_what_lies_alike_is_that_of_each_alone) {
  const Fabric fabric = build_fabric(testing::gpu_fabric(16, 4, 16));
  FabricCost::Shared shared;
  std::size_t asked = 0;
  for (const std::vector<int>& sizes : {std::vector<int>{16}, {4, 4}, {2, 8}, {2, 2, 4}, {4, 2, 2}}) {
    Mesh mesh;
    for (const int size : sizes) mesh.axes.push_back({std::to_string(mesh.axes.size()), size});
    const Placement placement = place(fabric, mesh, {});
    const FabricCost alone(fabric, mesh, placement, FlopRate{1e12}),
        sharing(fabric, mesh, placement, FlopRate{1e12}, &shared);
    for (unsigned chosen = 1; chosen >> sizes.size() == 0; ++chosen) {
      AxisList axes;
      for (std::size_t i = 0; i < sizes.size(); ++i)
        if (chosen >> i & 1) axes.push_back(whole_axis(mesh, static_cast<int>(i)));
      for (const CollectiveKind kind : {CollectiveKind::kAllGather, CollectiveKind::kAllReduce,
                                        CollectiveKind::kAllToAll, CollectiveKind::kPermute}) {
        ++asked;
        for (const double bytes : {1e3, 1e6, 1e9})
          EXPECT_EQ(sharing.collective(kind, axes, Bytes{bytes}), alone.collective(kind, axes, Bytes{bytes}));
      }
    }
  }
  EXPECT_LT(shared.size(), asked) << "some lie alike";
}

// A channel that is measured for all-reduces alone must not make a scatter and a gather look cheaper.
TEST(FabricCost, an_all_reduce_costs_no_more_than_its_halves_whatever_its_ramp) {
  FabricSpec spec = testing::gpu_fabric(16, 4, 16);
  ChannelSpec channel;
  channel.algorithm = "ring";
  channel.kind = "all-reduce";
  channel.chunk = {1e6};
  channel.chunk_overhead = Time::seconds(1e-5);
  spec.channels = {channel};
  spec.collective_launch = Time::seconds(1e-5);
  Placed p;
  p.fabric = build_fabric(spec);
  const AxisList axes = {{1, 1, 4}};
  for (const double bytes : {1e3, 1e6, 2e6, 1e8})
    EXPECT_LE(p.cost.collective(CollectiveKind::kAllReduce, axes, Bytes{bytes}),
              p.cost.collective(CollectiveKind::kReduceScatter, axes, Bytes{bytes}) +
                  p.cost.collective(CollectiveKind::kAllGather, axes, Bytes{bytes}) + 1e-12);
}

TEST(FabricCost, an_axis_of_one_device_costs_nothing) {
  EXPECT_EQ(Placed().cost.collective(CollectiveKind::kAllGather, {}, Bytes{1e9}), 0);
}

}  // namespace
}  // namespace podsim::fabric_cost_test
