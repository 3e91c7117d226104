// On tiny meshes the planner against every layout and every step: shortest paths over all that the replay
// allows but zero padding, any number of permutes included.
#include <gtest/gtest.h>

#include <limits>

#include "tests/sharding/replay.h"

namespace podsim::testing::exhaustive_test {
namespace {

constexpr double kEndless = std::numeric_limits<double>::infinity();

// Every layout of a matrix: each atom on a dimension, in any order, unreduced, or unused.
std::vector<Layout> all_layouts(const AxisList& atoms) {
  std::vector<Layout> layouts{replicated(2)};
  for (const AxisRef& atom : atoms) {
    std::vector<Layout> more;
    for (const Layout& layout : layouts) {
      more.push_back(layout);
      more.push_back(layout);
      more.back().unreduced = [&] {
        AxisList sums = layout.unreduced;
        sums.push_back(atom);
        return sums;
      }();
      for (std::size_t d = 0; d < 2; ++d) {
        for (std::size_t place = 0; place <= layout.dims[d].size(); ++place) {
          more.push_back(layout);
          AxisList& dim = more.back().dims[d];
          dim.insert(dim.begin() + static_cast<std::ptrdiff_t>(place), atom);
        }
      }
    }
    layouts = std::move(more);
  }
  return layouts;
}

// What leaves its dimension, or is reduced.
AxisList taken(StepKind kind, const Layout& before, const Layout& after) {
  if (kind == StepKind::kAllReduce || kind == StepKind::kReduceScatter)
    return without(before.unreduced, after.unreduced);
  AxisList axes;
  for (std::size_t d = 0; d < 2; ++d)
    for (const AxisRef& ref : without(before.dims[d], after.dims[d])) axes.push_back(ref);
  return axes;
}

// The cheapest single step; infinite where none leads there.
double one_step(const Mesh& mesh, const TensorShape& shape, const Layout& before, const Layout& after) {
  double best = kEndless;
  for (const StepKind kind : {StepKind::kSlice, StepKind::kPermute, StepKind::kAllToAll, StepKind::kAllGather,
                              StepKind::kReduceScatter, StepKind::kAllReduce}) {
    PlanStep step{.kind = kind, .axes = taken(kind, before, after), .after = after};
    if (kind == StepKind::kSlice && before.unreduced != after.unreduced) continue;
    if (!judge_axes(mesh, before, step).empty()) continue;
    const auto collective = collective_of(kind);
    const Bytes bytes = local_bytes(shape, kind == StepKind::kAllGather ? after : before);
    best = std::min(best, collective ? sent_bytes(*collective, shard_count(step.axes), bytes).value : 0);
  }
  return best;
}

using Table = std::vector<std::vector<double>>;

Table shortest(Table cost) {
  for (std::size_t via = 0; via < cost.size(); ++via)
    for (std::size_t from = 0; from < cost.size(); ++from)
      for (std::size_t to = 0; to < cost.size(); ++to)
        cost[from][to] = std::min(cost[from][to], cost[from][via] + cost[via][to]);
  return cost;
}

void expect_exact(const Mesh& mesh, const AxisList& atoms) {
  const TensorShape shape{{{"", {{48}}}, {"", {{72}}}}, 1};
  const std::vector<Layout> layouts = all_layouts(atoms);
  Table cost(layouts.size(), std::vector<double>(layouts.size()));
  for (std::size_t i = 0; i < layouts.size(); ++i)
    for (std::size_t j = 0; j < layouts.size(); ++j)
      cost[i][j] = i == j ? 0 : one_step(mesh, shape, layouts[i], layouts[j]);
  const Table best = shortest(std::move(cost));
  for (std::size_t i = 0; i < layouts.size(); ++i) {
    for (std::size_t j = 0; j < layouts.size(); ++j) {
      if (!layouts[j].unreduced.empty()) continue;
      const SentBytes bytes;
      const auto steps = plan_reshard(mesh, shape, layouts[i], layouts[j], bytes);
      EXPECT_NEAR(total_cost(steps, bytes).value, best[i][j], 1e-6)
          << to_string(mesh, layouts[i]) << " -> " << to_string(mesh, layouts[j]);
    }
  }
}

TEST(Exhaustive, two_axes) { expect_exact({{{"x", 2}, {"y", 3}}}, {{0, 1, 2}, {1, 1, 3}}); }

TEST(Exhaustive, two_equal_axes) { expect_exact({{{"x", 4}, {"y", 4}}}, {{0, 1, 4}, {1, 1, 4}}); }

TEST(Exhaustive, three_axes) {
  expect_exact({{{"x", 2}, {"y", 2}, {"z", 2}}}, {{0, 1, 2}, {1, 1, 2}, {2, 1, 2}});
}

TEST(Exhaustive, an_axis_in_two_pieces_and_another) {
  expect_exact({{{"x", 4}, {"y", 2}}}, {{0, 1, 2}, {0, 2, 2}, {1, 1, 2}});
}

TEST(Exhaustive, three_axes_of_two_sizes) {
  expect_exact({{{"x", 2}, {"y", 3}, {"z", 2}}}, {{0, 1, 2}, {1, 1, 3}, {2, 1, 2}});
}

}  // namespace
}  // namespace podsim::testing::exhaustive_test
