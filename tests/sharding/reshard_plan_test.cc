// The cheapest steps between two layouts, each plan replayed. Byte figures follow the conventions of one
// device's local shapes; cases named after a compiler's tests compare with what that compiler sends.
#include "workload/resharding/reshard_plan.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/sharding/replay.h"
#include "workload/resharding/known_reshards.h"

namespace podsim::testing::reshard_plan_test {
namespace {

TensorShape tensor(std::initializer_list<std::int64_t> dims, double element_bytes = 4) {
  TensorShape shape{.dims = {}, .element_bytes = element_bytes};
  for (const std::int64_t size : dims) shape.dims.push_back({"", {{size}}});
  return shape;
}

// Axes by position: {0} = the first axis, whole.
AxisList axes(const Mesh& mesh, std::initializer_list<int> indices) {
  AxisList list;
  for (const int axis : indices) list.push_back(whole_axis(mesh, axis));
  return list;
}

struct Planned {
  std::vector<StepKind> collectives;
  double sent = 0;
};

// Plans, replays, and returns the collectives in order.
Planned plan(const ReshardProblem& problem, const CostModel& cost = SentBytes()) {
  const std::vector<PlanStep> steps =
      plan_reshard(problem.mesh, problem.shape, problem.from, problem.to, cost);
  for (const std::string& fault : check(problem, steps)) ADD_FAILURE() << fault;
  Planned planned;
  for (const PlanStep& step : steps) {
    if (collective_of(step.kind)) planned.collectives.push_back(step.kind);
    planned.sent += step.sent.value;
  }
  return planned;
}

using Kinds = std::vector<StepKind>;
constexpr StepKind kGather = StepKind::kAllGather, kExchange = StepKind::kAllToAll,
                   kMove = StepKind::kPermute, kReduce = StepKind::kAllReduce,
                   kScatter = StepKind::kReduceScatter;

const Mesh k8{{{"x", 8}}};
const Mesh k222{{{"x", 2}, {"y", 2}, {"z", 2}}};
const AxisList kX{{0, 1, 8}};

TEST(ReshardPlan, one_axis_takes_the_collective_of_the_definition) {
  const TensorShape shape = tensor({1024, 512}, 2);
  const Layout whole{{{}, {}}, {}}, rows{{kX, {}}, {}}, columns{{{}, kX}, {}}, partial{{{}, {}}, kX};
  const double bytes = 1024 * 512 * 2;
  const auto expect = [&](const Layout& from, const Layout& to, const Kinds& kinds, double sent) {
    const Planned planned = plan({k8, shape, from, to});
    EXPECT_EQ(planned.collectives, kinds);
    EXPECT_DOUBLE_EQ(planned.sent, sent);
  };
  expect(whole, rows, {}, 0);
  expect(whole, partial, {}, 0);
  expect(rows, partial, {}, 0);
  expect(rows, rows, {}, 0);
  expect(partial, partial, {}, 0);
  expect(rows, whole, {kGather}, bytes * 7 / 8);
  expect(rows, columns, {kExchange}, bytes / 8 * 7 / 8);
  expect(partial, whole, {kReduce}, 2 * bytes * 7 / 8);
  expect(partial, rows, {kScatter}, bytes * 7 / 8);
}

TEST(ReshardPlan, axes_of_equal_size_swap_by_one_permute) {
  const Planned planned = plan({k222,
                                tensor({16, 8}),
                                {{axes(k222, {0}), axes(k222, {1})}, {}},
                                {{axes(k222, {1}), axes(k222, {0})}, {}}});
  EXPECT_EQ(planned.collectives, Kinds{kMove});
  EXPECT_DOUBLE_EQ(planned.sent, 128);
}

TEST(ReshardPlan, slices_come_before_what_they_make_smaller) {
  const Planned planned = plan({k222,
                                tensor({16, 8}),
                                {{axes(k222, {0}), axes(k222, {1})}, {}},
                                {{axes(k222, {0, 1}), axes(k222, {2})}, {}}});
  EXPECT_EQ(planned.collectives, Kinds{kMove});
  EXPECT_DOUBLE_EQ(planned.sent, 64);
}

TEST(ReshardPlan, a_bigger_axis_gives_way_to_a_smaller_one_by_a_permute_and_a_gather_of_the_rest) {
  const Mesh mesh{{{"x", 4}, {"y", 2}, {"z", 4}}};
  const Planned planned = plan({mesh,
                                tensor({16, 8}),
                                {{axes(mesh, {2}), axes(mesh, {0})}, {}},
                                {{axes(mesh, {2}), axes(mesh, {1})}, {}}});
  EXPECT_EQ(planned.collectives, (Kinds{kMove, kGather}));
  EXPECT_DOUBLE_EQ(planned.sent, 64);
}

TEST(ReshardPlan, several_dimensions_exchange_in_one_all_to_all) {
  const Mesh mesh{{{"x", 4}, {"y", 2}}};
  const Planned planned = plan({mesh,
                                tensor({64, 64, 64, 64}),
                                {{{}, axes(mesh, {0}), axes(mesh, {1}), {}}, {}},
                                {{axes(mesh, {1}), {}, {}, axes(mesh, {0})}, {}}});
  EXPECT_EQ(planned.collectives, Kinds{kExchange});
  EXPECT_DOUBLE_EQ(planned.sent, 7340032);
}

TEST(ReshardPlan, axes_are_split_where_sizes_must_match) {
  const Mesh mesh{{{"x", 4}, {"y", 6}}};
  const TensorShape shape = tensor({12, 12});
  const Planned down = plan({mesh, shape, {{axes(mesh, {1}), {}}, {}}, {{axes(mesh, {0}), {}}, {}}});
  EXPECT_EQ(down.collectives, (Kinds{kMove, kGather}));
  EXPECT_DOUBLE_EQ(down.sent, 144);
  const Planned up = plan({mesh, shape, {{axes(mesh, {0}), {}}, {}}, {{axes(mesh, {1}), {}}, {}}});
  EXPECT_EQ(up.collectives, (Kinds{kMove, kGather}));
  EXPECT_DOUBLE_EQ(up.sent, 96);
}

TEST(ReshardPlan, whole_axes_are_not_split) {
  const Mesh mesh{{{"x", 4}, {"y", 8}}};
  const ReshardProblem problem{mesh,
                               tensor({64, 64}),
                               {{axes(mesh, {0}), axes(mesh, {1})}, {}},
                               {{axes(mesh, {1}), axes(mesh, {0})}, {}}};
  const auto steps =
      plan_reshard(mesh, problem.shape, problem.from, problem.to, SentBytes(), AxisSplit::kAsLaidOut);
  EXPECT_TRUE(check(problem, steps).empty());
  for (const PlanStep& step : steps)
    for (const AxisRef& ref : step.axes) EXPECT_TRUE(is_whole(mesh, ref));
}

TEST(ReshardPlan, a_reduce_scatter_and_a_gather_beat_an_all_reduce_of_replicas) {
  const Mesh mesh{{{"x", 4}, {"y", 2}}};
  const Planned planned = plan({mesh, tensor({64, 64}), {{{}, {}}, axes(mesh, {0})}, {{{}, {}}, {}}});
  const double bytes = 64 * 64 * 4;
  EXPECT_EQ(planned.collectives, (Kinds{kScatter, kGather}));
  EXPECT_DOUBLE_EQ(planned.sent, bytes / 2 * 3 / 4 + bytes * 7 / 8);
}

TEST(ReshardPlan, blocks_that_an_axis_does_not_cut_stay_whole) {
  const Mesh mesh{{{"x", 4}, {"y", 2}}};
  TensorShape shape = tensor({64, 64});
  shape.dims[1].blocks = {{.size = 64}, {.size = 16, .cut = 2}};
  const ReshardProblem problem{mesh, shape, {{{}, axes(mesh, {0})}, {}}, {{{}, {}}, {}}};
  EXPECT_DOUBLE_EQ(plan(problem).sent, 64 * 80 * 4 * 3.0 / 4);
}

// Gathers cost nothing on the fast axis y, and time is what counts.
class FastAxis : public CostModel {
 public:
  double collective(CollectiveKind kind, const AxisList& list, Bytes bytes) const override {
    double seconds = 1e-6;
    for (const AxisRef& ref : list)
      seconds += sent_bytes(kind, ref.size, bytes).value * (ref.axis == 1 ? 1e-12 : 1e-9);
    return seconds;
  }
  double compute(Flops) const override { return 0; }
  bool timed() const override { return true; }
};

TEST(ReshardPlan, time_decides_where_there_is_a_fabric) {
  const Mesh mesh{{{"x", 4}, {"y", 4}}};
  const TensorShape shape = tensor({4096, 4096});
  const ReshardProblem slow{mesh, shape, {{axes(mesh, {0, 1}), {}}, {}}, {{axes(mesh, {0}), {}}, {}}};
  EXPECT_EQ(plan(slow, FastAxis()).collectives, Kinds{kGather});
  // What x has to bring is cut over y first, and y brings the rest.
  const ReshardProblem replicas{mesh, shape, {{axes(mesh, {0}), {}}, {}}, {{{}, {}}, {}}};
  EXPECT_EQ(plan(replicas, FastAxis()).collectives, (Kinds{kGather, kGather}));
  EXPECT_EQ(plan(replicas).collectives, Kinds{kGather});
}

// Small gathers over many chips take fewer steps than over few, as where few make a ring.
class FastCrowd : public CostModel {
 public:
  double collective(CollectiveKind, const AxisList& list, Bytes) const override {
    return 1e-6 / shard_count(list);
  }
  double compute(Flops) const override { return 0; }
  bool timed() const override { return true; }
};

TEST(ReshardPlan, axes_stay_where_they_are_to_lie_whatever_a_detour_might_save) {
  const Mesh mesh{{{"x", 4}, {"y", 4}}};
  const TensorShape shape = tensor({4096, 4096});
  const auto gathered = [&](const Layout& from, const Layout& to) {
    const std::vector<PlanStep> steps = plan_reshard(mesh, shape, from, to, FastCrowd());
    EXPECT_EQ(steps.size(), 1U);
    return steps.empty() ? AxisList{} : steps.front().axes;
  };
  EXPECT_EQ(gathered({{axes(mesh, {0}), axes(mesh, {1})}, {}}, {{axes(mesh, {0}), {}}, {}}), axes(mesh, {1}));
  EXPECT_EQ(gathered({{axes(mesh, {0, 1}), {}}, {}}, {{axes(mesh, {0}), {}}, {}}), axes(mesh, {1}));
}

TEST(KnownReshards, are_what_a_search_finds_whatever_was_asked_before) {
  const TensorShape shape = tensor({8, 8, 12});
  std::vector<Layout> layouts;
  for (std::size_t places = 0; places < 64; ++places) {
    layouts.push_back(replicated(3));
    for (std::size_t axis = 0, rest = places; axis < 3; ++axis, rest /= 4)
      if (rest % 4 < 3) layouts.back().dims[rest % 4].push_back(whole_axis(k222, static_cast<int>(axis)));
  }
  KnownReshards known;
  int given_up = 0;
  for (const double give_up_at : {500.0, std::numeric_limits<double>::infinity(), 1000.0})
    for (std::size_t from = 0; from < layouts.size(); from += 5)
      for (std::size_t to = 0; to < layouts.size(); to += 3) {
        const auto searched = planned_reshard(k222, shape, layouts[from], layouts[to], SentBytes(),
                                              AxisSplit::kAsLaidOut, give_up_at);
        const auto found = known.reshard(k222, shape, layouts[from], layouts[to], SentBytes(),
                                         AxisSplit::kAsLaidOut, give_up_at);
        EXPECT_EQ(found->cost, searched->cost) << from << ' ' << to;
        given_up += searched->cost.value >= give_up_at;
      }
  EXPECT_GT(given_up, 10);
}

}  // namespace
}  // namespace podsim::testing::reshard_plan_test
