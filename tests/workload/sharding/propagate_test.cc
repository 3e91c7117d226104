// Propagation through programs of several operations: levels, priorities, origins and conflicts.
#include "workload/sharding/propagate.h"

#include <gtest/gtest.h>

namespace podsim::testing::propagate_test {
namespace {

using Sizes = std::vector<std::int64_t>;

// A program whose tensors are named; every tensor is unset until annotated.
class Program {
 public:
  explicit Program(std::vector<MeshAxis> axes) : mesh{std::move(axes)} {}

  int tensor(const std::string& name, const Sizes& dims, const std::string& annotation = "unset") {
    const ParsedAnnotation parsed = parse_annotation(mesh, dims.size(), annotation);
    EXPECT_FALSE(parsed.problem) << annotation;
    tensors.push_back({name, dims, parsed.annotation});
    return static_cast<int>(tensors.size()) - 1;
  }
  void op(const std::string& name, OpRule rule, std::vector<int> operands, std::vector<int> results) {
    ops.push_back({name, std::move(rule), std::move(operands), std::move(results)});
  }
  void matmul(const std::string& name, int x, int weight, int y) {
    op(name, einsum_rule({"bk", "kj"}, {"bj"}, {dims(x), dims(weight)}, {dims(y)}), {x, weight}, {y});
  }
  void elementwise(const std::string& name, const std::vector<int>& operands, int to) {
    op(name, elementwise_rule(dims(to), static_cast<int>(operands.size())), operands, {to});
  }

  void run() { result = propagate(mesh, tensors, ops); }
  std::string of(int tensor) const {
    return to_string(mesh, result.annotations[static_cast<std::size_t>(tensor)]);
  }
  const Origin& origin(int tensor, std::size_t dim) const {
    return result.origins[static_cast<std::size_t>(tensor)][dim].at(0);
  }

  Mesh mesh;
  std::vector<ShardedTensor> tensors;
  std::vector<ShardedOp> ops;
  Propagated result;

 private:
  const Sizes& dims(int tensor) const { return tensors[static_cast<std::size_t>(tensor)].dims; }
};

// x -> ffn up -> gelu -> ffn down -> residual add with x.
struct Mlp : Program {
  Mlp(const std::string& input, const std::string& up, const std::string& down)
      : Program({{"data", 4}, {"tensor", 2}}) {
    x = tensor("x", {32, 16}, input);
    w1 = tensor("w1", {16, 64}, up);
    w2 = tensor("w2", {64, 16}, down);
    hidden = tensor("hidden", {32, 64});
    active = tensor("active", {32, 64});
    y = tensor("y", {32, 16});
    sum = tensor("sum", {32, 16});
    matmul("ffn up", x, w1, hidden);
    elementwise("gelu", {hidden}, active);
    matmul("ffn down", active, w2, y);
    elementwise("residual add", {x, y}, sum);
  }
  int x, w1, w2, hidden, active, y, sum;
};

TEST(Propagate, weights_cut_as_in_tensor_parallelism_cut_the_hidden_activations_and_nothing_else) {
  Mlp mlp("unset", "[{},{tensor}]", "[{tensor},{}]");
  mlp.run();
  EXPECT_EQ(mlp.of(mlp.hidden), "[{?},{tensor,?}]");
  EXPECT_EQ(mlp.of(mlp.active), "[{?},{tensor,?}]");
  for (int whole : {mlp.x, mlp.y, mlp.sum}) EXPECT_EQ(mlp.of(whole), "unset");
  EXPECT_TRUE(mlp.result.conflicts.empty());
}

TEST(Propagate, the_batch_of_the_input_reaches_every_activation_and_no_weight) {
  Mlp mlp("[{data},{}]", "unset", "unset");
  mlp.run();
  for (int activation : {mlp.hidden, mlp.active, mlp.y, mlp.sum})
    EXPECT_EQ(mlp.of(activation), "[{data,?},{?}]");
  EXPECT_EQ(mlp.of(mlp.w1), "unset");
  EXPECT_EQ(mlp.of(mlp.w2), "unset");
}

TEST(Propagate, batch_and_tensor_axes_meet_on_the_hidden_activations) {
  Mlp mlp("[{data},{}]", "[{},{tensor}]", "unset");
  mlp.run();
  EXPECT_EQ(mlp.of(mlp.active), "[{data,?},{tensor,?}]");
  EXPECT_EQ(mlp.of(mlp.w2), "[{tensor,?},{?}]");  // the cut of the contracted dimension comes to the weight
  EXPECT_EQ(mlp.of(mlp.y), "[{data,?},{?}]");
}

TEST(Propagate, shardings_go_backward_through_a_whole_program) {
  Mlp mlp("unset", "unset", "unset");
  mlp.tensors[static_cast<std::size_t>(mlp.sum)].annotation =
      parse_annotation(mlp.mesh, 2, "[{data},{}]").annotation;
  mlp.run();
  for (int activation : {mlp.x, mlp.hidden, mlp.active, mlp.y})
    EXPECT_EQ(mlp.of(activation), "[{data,?},{?}]");
}

TEST(Propagate, origins_name_the_operation_and_the_tensor_an_axis_came_from) {
  Mlp mlp("[{data},{}]", "unset", "unset");
  mlp.run();
  EXPECT_EQ(mlp.origin(mlp.x, 0).op, -1);
  EXPECT_EQ(mlp.origin(mlp.hidden, 0).op, 0);
  EXPECT_EQ(mlp.origin(mlp.hidden, 0).source, mlp.x);
  EXPECT_EQ(mlp.origin(mlp.active, 0).op, 1);
  EXPECT_EQ(mlp.origin(mlp.active, 0).source, mlp.hidden);
}

TEST(Propagate, a_residual_add_of_two_batches_cut_otherwise_keeps_what_they_share_and_tells) {
  Program p({{"data", 4}, {"fsdp", 2}, {"tensor", 2}});
  const int x = p.tensor("x", {32, 16}, "[{tensor,data},{}]"),
            y = p.tensor("y", {32, 16}, "[{tensor,fsdp},{}]");
  const int sum = p.tensor("sum", {32, 16});
  p.elementwise("residual add", {x, y}, sum);
  p.run();
  EXPECT_EQ(p.of(sum), "[{tensor,?},{?}]");
  ASSERT_EQ(p.result.conflicts.size(), 1u);
  EXPECT_EQ(p.result.conflicts[0].tensor, x);
  EXPECT_EQ(p.result.conflicts[0].other, y);
  EXPECT_EQ(p.result.conflicts[0].text,
            "residual add: x has tensor+data on dimension 0, y has tensor+fsdp on it; only tensor passes on");
}

TEST(Propagate, an_axis_that_two_dimensions_want_goes_with_the_larger_tensor) {
  Program p({{"a", 2}});
  const int x = p.tensor("x", {8, 4}, "[{a},{}]"), w = p.tensor("w", {4, 16}, "[{},{a}]"),
            y = p.tensor("y", {8, 16});
  p.matmul("matmul", x, w, y);
  p.run();
  EXPECT_EQ(p.of(y), "[{?},{a,?}]");
  ASSERT_EQ(p.result.conflicts.size(), 1u);
  EXPECT_EQ(p.result.conflicts[0].text,
            "matmul: x has a on dimension 0, y keeps it on dimension 1, from w, the larger tensor");
}

TEST(Propagate, a_vector_takes_its_sharding_from_a_sum_early_and_gives_its_own_last) {
  Program p({{"data", 4}});
  const int x = p.tensor("x", {32, 16}), bias = p.tensor("bias", {16}, "[{data}]"),
            y = p.tensor("y", {32, 16});
  const int w = p.tensor("w", {16, 16}), z = p.tensor("z", {32, 16}, "[{data},{}]");
  OpRule add = einsum_rule({"bk", "k"}, {"bk"}, {{32, 16}, {16}}, {{32, 16}});
  add.elementwise = true;
  add.rule_class = RuleClass::kElementwise;
  p.op("bias add", add, {x, bias}, {y});
  p.matmul("matmul", y, w, z);
  p.run();
  // The batch comes backward through the matmul before the vector may cut the other dimension.
  EXPECT_EQ(p.of(y), "[{data,?},{?}]");
  EXPECT_EQ(p.of(x), "[{data,?},{?}]");
}

TEST(Propagate, a_broadcast_passes_backward_before_it_passes_forward) {
  Program p({{"a", 2}});
  const int row = p.tensor("row", {8}, "[{a,?}]"), wide = p.tensor("wide", {4, 8});
  const int w = p.tensor("w", {4, 4}, "[{a},{}]"), out = p.tensor("out", {4, 8});
  p.op("broadcast", broadcast_rule({8}, {4, 8}, {1}), {row}, {wide});
  p.op("matmul", einsum_rule({"ij", "jk"}, {"ik"}, {{4, 4}, {4, 8}}, {{4, 8}}), {w, wide}, {out});
  p.run();
  // Along rows of the matmul `a` has come to `out` before the broadcast speaks.
  EXPECT_EQ(p.of(out), "[{a,?},{?}]");
  Program back({{"a", 2}});
  const int source = back.tensor("row", {8}), target = back.tensor("wide", {4, 8}, "[{},{a}]");
  back.op("broadcast", broadcast_rule({8}, {4, 8}, {1}), {source}, {target});
  back.run();
  EXPECT_EQ(back.of(source), "[{a,?}]");
}

TEST(Propagate, heads_merge_into_one_dimension_and_split_out_of_it_with_pieces_of_axes) {
  Program p({{"tensor", 8}, {"data", 2}});
  const int heads = p.tensor("heads", {2, 4, 16}, "[{data},{tensor:(1)4},{}]"),
            merged = p.tensor("merged", {2, 64});
  p.op("merge", reshape_rule({2, 4, 16}, {2, 64}), {heads}, {merged});
  const int fused = p.tensor("fused", {64}, "[{tensor}]"), split = p.tensor("split", {4, 16});
  p.op("split", reshape_rule({64}, {4, 16}), {fused}, {split});
  p.run();
  EXPECT_EQ(p.of(merged), "[{data,?},{tensor:(1)4,?}]");
  EXPECT_EQ(p.of(split), "[{tensor:(1)4,?},{tensor:(4)2,?}]");
}

TEST(Propagate, a_minor_factor_stays_whole_behind_a_major_one_that_is_not_cut_to_the_end) {
  Program p({{"a", 2}, {"b", 2}});
  const int in = p.tensor("in", {4, 8}, "[{a},{b}]"), out = p.tensor("out", {32});
  p.op("merge", reshape_rule({4, 8}, {32}), {in}, {out});
  const int minor = p.tensor("minor", {4, 8}, "[{},{b}]"), whole = p.tensor("whole", {32});
  p.op("merge", reshape_rule({4, 8}, {32}), {minor}, {whole});
  p.run();
  EXPECT_EQ(p.of(out), "[{a,?}]");
  EXPECT_EQ(p.of(whole), "unset");
}

TEST(Propagate, an_axis_that_does_not_divide_a_factor_stops_there) {
  Program p({{"three", 3}, {"six", 6}});
  const int in = p.tensor("in", {8}, "[{three}]"), out = p.tensor("out", {2, 4});
  p.op("split", reshape_rule({8}, {2, 4}), {in}, {out});
  const int other = p.tensor("other", {8}, "[{six}]"), part = p.tensor("part", {2, 4});
  p.op("split", reshape_rule({8}, {2, 4}), {other}, {part});
  p.run();
  EXPECT_EQ(p.of(out), "unset");
  EXPECT_EQ(p.of(part), "[{six:(1)2,?},{?}]");
}

// `shared` is added to `left` and to `right`; each sum has a use of its own.
TEST(Propagate, operations_whose_operands_have_one_use_go_first) {
  const auto result_of = [](bool reused) {
    Program p({{"a", 2}});
    const int x = p.tensor("x", {8, 8}, "[{a,?},{?}]"), y = p.tensor("y", {8, 8});
    const int z = p.tensor("z", {8, 8}, "[{?},{a,?}]"), t = p.tensor("t", {8, 8});
    p.elementwise("first", {x}, y);
    if (reused) p.elementwise("again", {x}, p.tensor("u", {8, 8}));
    p.elementwise("second", {z}, t);
    p.op("transpose", transpose_rule({8, 8}, {0, 1}), {y}, {t});
    p.run();
    return p.of(y);
  };
  EXPECT_EQ(result_of(false), "[{a,?},{?}]");
  // With another use of x, `second` and the copy speak before `first` may.
  EXPECT_EQ(result_of(true), "[{?},{a,?}]");
}

TEST(Propagate, a_lower_priority_number_is_decided_first) {
  const auto shardings = [](const std::string& first, const std::string& second) {
    Program p({{"a", 2}});
    const int x = p.tensor("x", {8, 8}, first), y = p.tensor("y", {8, 8}, second), z = p.tensor("z", {8, 8});
    p.elementwise("add", {x, y}, z);
    p.run();
    return p.of(z);
  };
  EXPECT_EQ(shardings("[{a},{}]", "[{},{a}]"), "[{a,?},{?}]");
  EXPECT_EQ(shardings("[{a}p1,{}]", "[{},{a}p0]"), "[{?},{a,?}]");
}

TEST(Propagate, an_annotation_of_later_priority_is_not_overwritten) {
  Program p({{"a", 2}, {"b", 2}});
  const int x = p.tensor("x", {8, 8}, "[{a},{}]"), y = p.tensor("y", {8, 8}, "[{b,?}p1,{a,?}p1]");
  p.elementwise("copy", {x}, y);
  p.run();
  EXPECT_EQ(p.of(y), "[{b,?}p1,{a,?}p1]");
}

TEST(Propagate, replicated_and_unreduced_axes_are_not_used_on_their_tensor) {
  Program p({{"a", 2}, {"b", 4}});
  const int x = p.tensor("x", {8, 8}, "[{a},{b}]");
  const int y = p.tensor("y", {8, 8}, "[{?},{?}] replicated={a}"),
            z = p.tensor("z", {8, 8}, "[{?},{?}] unreduced={b:(2)2}");
  p.op("copy", transpose_rule({8, 8}, {0, 1}), {x}, {y});
  p.op("copy", transpose_rule({8, 8}, {0, 1}), {x}, {z});
  p.run();
  EXPECT_EQ(p.of(y), "[{?},{b,?}] replicated={a}");
  EXPECT_EQ(p.of(z), "[{a,?},{b:(1)2,?}] unreduced={b:(2)2}");
}

TEST(Propagate, slices_by_a_moving_index_pass_forward_first_and_never_along_the_sliced_dimension) {
  Program p({{"a", 2}, {"b", 2}});
  const int x = p.tensor("x", {8, 8}, "[{a},{b}]"), y = p.tensor("y", {8, 1});
  p.op("slice", dynamic_slice_rule({8, 8}, {8, 1}), {x}, {y});
  p.run();
  EXPECT_EQ(p.of(y), "[{a,?},{?}]");
}

TEST(Propagate, rows_of_a_table_do_not_reach_what_was_looked_up) {
  Program p({{"data", 2}, {"tensor", 2}});
  const int table = p.tensor("table", {100, 16}, "[{tensor},{}]"),
            ids = p.tensor("ids", {4, 8}, "[{data},{}]");
  const int out = p.tensor("out", {4, 8, 16});
  p.op("lookup", gather_rule({100, 16}, {4, 8}), {table, ids}, {out});
  p.run();
  EXPECT_EQ(p.of(out), "[{data,?},{?},{?}]");
}

TEST(Propagate, closed_annotations_that_cut_one_dimension_otherwise_are_a_mistake_that_names_both) {
  Program p({{"data", 4}, {"fsdp", 2}});
  const int x = p.tensor("x", {32, 16}, "[{data},{}]"), y = p.tensor("y", {32, 16}, "[{fsdp},{}]");
  p.tensors[0].dim_names = p.tensors[1].dim_names = {"batch", "embed"};
  const int open = p.tensor("open", {32, 16}, "[{fsdp,?},{}]"),
            whole = p.tensor("whole", {32, 16}, "[{},{}]");
  p.elementwise("add", {x, y}, whole);
  p.elementwise("copy", {x}, open);
  p.op("join", concatenate_rule({{32, 16}}, 0), {x}, {p.tensor("joined", {32, 16}, "[{fsdp},{}]")});
  const std::vector<Conflict> mistakes = conflicting_annotations(p.mesh, p.tensors, p.ops);
  ASSERT_EQ(mistakes.size(), 1u);
  EXPECT_EQ(mistakes[0].tensor, x);
  EXPECT_EQ(mistakes[0].other, y);
  EXPECT_EQ(mistakes[0].text,
            "add: x has data on dimension batch, y has fsdp on it; one of them must change or be open "
            "(annotated [{data},{}] and [{fsdp},{}])");
}

}  // namespace
}  // namespace podsim::testing::propagate_test
