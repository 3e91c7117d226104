// Halos of operations of a program, forward and backward.
#include "workload/op_planning/operation_halos.h"

#include <gtest/gtest.h>

#include "workload/model/autodiff.h"

namespace podsim::testing::operation_halos_test {
namespace {

// A 7x7 convolution of stride 2 on 224 rows, as the first of ResNet-50; rows are cut over axis 0.
struct Stem {
  Stem() {
    const auto dim = [](std::int64_t size) { return TensorDim{"", {{.size = size}}}; };
    const TensorId image = graph.add({.name = "image", .dims = {dim(8), dim(224), dim(224), dim(4)}});
    const TensorId filter = graph.add(
        {.name = "filter", .role = TensorRole::kParameter, .dims = {dim(7), dim(7), dim(4), dim(64)}});
    const TensorId out = graph.add({.name = "out", .dims = {dim(8), dim(112), dim(112), dim(64)}});
    const LetterWindow window{.letter = 'h', .size = 7, .stride = 2, .pad_low = 3, .pad_high = 3};
    LetterWindow across = window;
    across.letter = 'w';
    graph.operations = {{.name = "stem",
                         .kind = OperationKind::kConvolution,
                         .inputs = {{image, "bhwc"}, {filter, "xyco"}},
                         .outputs = {{out, "bhwo"}},
                         .windows = {window, across}}};
    graph.input = image;
    graph.output = out;
  }

  // Width of each exchange of the operation's first input, where its rows are cut in `shards`.
  std::vector<std::int64_t> widths(const Operation& op, int shards) const {
    const OpRule rule = rule_of(graph, op);
    std::vector<TensorShape> shapes;
    for (const Operand& input : op.inputs)
      shapes.push_back({graph.tensors[static_cast<std::size_t>(input.tensor)].dims, 2});
    const AxisRef axis{.axis = 0, .pre = 1, .size = shards};
    std::vector<AxisList> factors(rule.factors.size());
    factors[1] = {axis};
    Layout layout = replicated(4);
    layout.dims[1] = {axis};
    const auto steps = halo_exchanges(rule, shapes)(0, factors, layout);
    EXPECT_TRUE(steps.has_value());
    std::vector<std::int64_t> found;
    for (const PlanStep& step : *steps) {
      EXPECT_EQ(step.kind, StepKind::kHalo);
      EXPECT_EQ(step.halo_dim, 1);
      found.push_back(step.halo_width);
    }
    return found;
  }

  Graph graph;
};

TEST(OperationHalos, a_forward_convolution_reads_pad_rows_before_and_the_rest_of_the_window_after) {
  const Stem stem;
  EXPECT_EQ(stem.widths(stem.graph.operations.front(), 2), (std::vector<std::int64_t>{3, 2}));
}

TEST(OperationHalos, the_gradient_of_the_filter_reads_the_same_rows) {
  Stem stem;
  const Backward backward = differentiate(stem.graph, 4);
  ASSERT_EQ(backward.operations.size(), 2u);
  EXPECT_EQ(backward.operations[1].name, "stem wgrad");
  EXPECT_EQ(stem.widths(backward.operations[1], 2), (std::vector<std::int64_t>{3, 2}));
}

// Image row r is in the windows of output rows ceil((r - 3) / 2) to floor((r + 3) / 2).
TEST(OperationHalos, the_gradient_of_the_image_reads_the_outputs_whose_windows_it_was_in) {
  Stem stem;
  const Backward backward = differentiate(stem.graph, 4);
  EXPECT_EQ(backward.operations[0].name, "stem dgrad");
  EXPECT_EQ(stem.widths(backward.operations[0], 2), (std::vector<std::int64_t>{1, 2}));
}

TEST(OperationHalos, nothing_moves_where_no_window_is_cut) {
  const Stem stem;
  EXPECT_FALSE(halo_exchanges(OpRule{}, {}));
  const OpRule rule = rule_of(stem.graph, stem.graph.operations.front());
  std::vector<TensorShape> shapes(2, {stem.graph.tensors[0].dims, 2});
  const auto steps =
      halo_exchanges(rule, shapes)(0, std::vector<AxisList>(rule.factors.size()), replicated(4));
  ASSERT_TRUE(steps.has_value());
  EXPECT_TRUE(steps->empty());
}

}  // namespace
}  // namespace podsim::testing::operation_halos_test
