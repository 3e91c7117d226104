// Laws of propagation, held by random programs with random annotations.
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/random.h"
#include "workload/sharding/factor_projection.h"
#include "workload/sharding/propagate.h"

namespace podsim::testing::propagation_laws_test {
namespace {

using Sizes = std::vector<std::int64_t>;

struct Program {
  Mesh mesh{{{"a", 2}, {"b", 4}, {"c", 6}, {"d", 3}}};
  std::vector<ShardedTensor> tensors;
  std::vector<ShardedOp> ops;

  Propagated run() const { return propagate(mesh, tensors, ops); }
};

// One program per seed: operations on tensors that exist, each with a new result, then annotations.
class RandomProgram {
 public:
  explicit RandomProgram(std::uint64_t seed) : seed_(seed) {}

  Program make(int priorities) {
    for (int i = 0; i < 3; ++i) tensor(random_dims());
    const int operations = 3 + below(10);
    for (int i = 0; i < operations; ++i) operation();
    for (ShardedTensor& tensor : program_.tensors) {
      if (below(3) == 0) annotate(tensor, priorities);
    }
    return std::move(program_);
  }

 private:
  int below(int n) {
    return static_cast<int>(random_bits(seed_, RandomPurpose::kTest, 0, draws_++) %
                            static_cast<std::uint64_t>(n));
  }
  Sizes random_dims() {
    Sizes dims;
    const int rank = 1 + below(3);
    for (int i = 0; i < rank; ++i) dims.push_back(std::int64_t{1} << (1 + below(4)));
    if (below(3) == 0) dims.back() *= 3;
    return dims;
  }
  int tensor(const Sizes& dims) {
    const int index = static_cast<int>(program_.tensors.size());
    program_.tensors.push_back({"t" + std::to_string(index), dims, unset(dims.size())});
    return index;
  }
  const Sizes& dims(int tensor) const { return program_.tensors[static_cast<std::size_t>(tensor)].dims; }
  int any() { return below(static_cast<int>(program_.tensors.size())); }
  void op(OpRule rule, std::vector<int> operands, int result) {
    program_.ops.push_back({"op", std::move(rule), std::move(operands), {result}});
  }

  void operation() {
    int x = any();
    if (dims(x).empty() || dims(x).size() > 3) x = tensor(random_dims());
    const Sizes in = dims(x);  // a copy: new tensors move the others
    const auto rank = static_cast<int>(in.size());
    switch (below(8)) {
      case 0:
      case 1: {
        std::vector<int> alike;
        for (std::size_t i = 0; i < program_.tensors.size(); ++i) {
          if (program_.tensors[i].dims == in) alike.push_back(static_cast<int>(i));
        }
        const int y = alike[static_cast<std::size_t>(below(static_cast<int>(alike.size())))];
        return op(elementwise_rule(in, 2), {x, y}, tensor(in));
      }
      case 2: {
        const Sizes weight = {in.back(), std::int64_t{1} << (1 + below(4))};
        Sizes out = in;
        out.back() = weight[1];
        const std::string batch = std::string("xyz").substr(0, in.size() - 1);
        const int w = tensor(weight);
        return op(einsum_rule({batch + "k", "kj"}, {batch + "j"}, {in, weight}, {out}), {x, w}, tensor(out));
      }
      case 3: {
        std::vector<int> order(in.size());
        for (int i = 0; i < rank; ++i) order[static_cast<std::size_t>(i)] = rank - 1 - i;
        return op(transpose_rule(in, order), {x}, tensor({in.rbegin(), in.rend()}));
      }
      case 4: {
        std::int64_t elements = 1;
        for (std::int64_t size : in) elements *= size;
        const Sizes out = below(2) == 0 ? Sizes{elements} : Sizes{elements / 2, 2};
        return op(reshape_rule(in, out), {x}, tensor(out));
      }
      case 5: {
        Sizes out = in;
        out.insert(out.begin(), 8);
        std::vector<int> to(in.size());
        for (int i = 0; i < rank; ++i) to[static_cast<std::size_t>(i)] = i + 1;
        return op(broadcast_rule(in, out, to), {x}, tensor(out));
      }
      case 6:
        return op(reduce_rule(in, {0}), {x}, tensor({in.begin() + 1, in.end()}));
      default: {
        Sizes out = in;
        out[0] *= 2;
        return op(concatenate_rule({in, in}, 0), {x, x}, tensor(out));
      }
    }
  }

  void annotate(ShardedTensor& tensor, int priorities) {
    std::vector<int> axes = {0, 1, 2, 3};
    for (int i = 3; i > 0; --i)
      std::swap(axes[static_cast<std::size_t>(i)], axes[static_cast<std::size_t>(below(i + 1))]);
    for (DimAnnotation& dim : tensor.annotation.dims) {
      dim.open = below(2) == 0;
      dim.priority = below(priorities);
      for (int i = below(3); i > 0 && !axes.empty(); --i) {
        dim.axes.push_back(whole_axis(program_.mesh, axes.back()));
        axes.pop_back();
      }
    }
    if (!axes.empty() && below(4) == 0)
      tensor.annotation.replicated = {whole_axis(program_.mesh, axes.back())};
  }

  std::uint64_t seed_;
  std::uint64_t draws_ = 0;
  Program program_;
};

constexpr std::uint64_t kPrograms = 1000;

TEST(PropagationLaws, the_same_program_gives_the_same_shardings_origins_and_conflicts) {
  for (std::uint64_t seed = 0; seed < kPrograms; ++seed) {
    const Program program = RandomProgram(seed).make(3);
    const Propagated a = program.run(), b = program.run();
    ASSERT_EQ(a.annotations, b.annotations);
    ASSERT_EQ(a.conflicts.size(), b.conflicts.size());
    for (std::size_t i = 0; i < a.conflicts.size(); ++i) ASSERT_EQ(a.conflicts[i].text, b.conflicts[i].text);
  }
}

TEST(PropagationLaws, annotations_are_only_extended_and_closed_dimensions_stay) {
  std::size_t extended = 0;
  for (std::uint64_t seed = 0; seed < kPrograms; ++seed) {
    const Program program = RandomProgram(seed).make(3);
    const Propagated result = program.run();
    for (std::size_t t = 0; t < program.tensors.size(); ++t) {
      const Annotation &before = program.tensors[t].annotation, &after = result.annotations[t];
      ASSERT_EQ(before.replicated, after.replicated);
      ASSERT_EQ(before.unreduced, after.unreduced);
      for (std::size_t d = 0; d < before.dims.size(); ++d) {
        ASSERT_TRUE(rest_after(before.dims[d].axes, after.dims[d].axes)) << "seed " << seed;
        if (before.dims[d] == after.dims[d]) continue;
        ASSERT_TRUE(before.dims[d].open) << "seed " << seed;
        ++extended;
      }
    }
  }
  EXPECT_GT(extended, kPrograms);
}

TEST(PropagationLaws, no_device_coordinate_serves_a_tensor_twice_and_every_piece_divides_its_axis) {
  for (std::uint64_t seed = 0; seed < kPrograms; ++seed) {
    const Program program = RandomProgram(seed).make(3);
    for (const Annotation& annotation : program.run().annotations) {
      AxisList seen = annotation.replicated;
      for (const DimAnnotation& dim : annotation.dims) {
        for (const AxisRef& ref : dim.axes) {
          ASSERT_FALSE(overlap(seen, {ref})) << "seed " << seed << to_string(program.mesh, annotation);
          ASSERT_EQ(whole_axis(program.mesh, ref.axis).size % (ref.pre * ref.size), 0);
          ASSERT_GT(ref.size, 1);
          seen.push_back(ref);
        }
        ASSERT_EQ(dim.axes, merged(dim.axes));
      }
    }
  }
}

TEST(PropagationLaws, every_axis_has_an_origin_that_has_it) {
  for (std::uint64_t seed = 0; seed < kPrograms; ++seed) {
    const Program program = RandomProgram(seed).make(3);
    const Propagated result = program.run();
    for (std::size_t t = 0; t < program.tensors.size(); ++t) {
      for (std::size_t d = 0; d < result.origins[t].size(); ++d) {
        ASSERT_EQ(result.origins[t][d].size(), result.annotations[t].dims[d].axes.size());
        for (std::size_t i = 0; i < result.origins[t][d].size(); ++i) {
          const Origin& origin = result.origins[t][d][i];
          ASSERT_EQ(origin.axis, result.annotations[t].dims[d].axes[i]);
          if (origin.op < 0) continue;
          AxisList source;
          for (const DimAnnotation& dim : result.annotations[static_cast<std::size_t>(origin.source)].dims)
            source.insert(source.end(), dim.axes.begin(), dim.axes.end());
          ASSERT_TRUE(overlap(source, {origin.axis})) << "seed " << seed;
        }
      }
    }
  }
}

TEST(PropagationLaws, propagating_a_result_changes_nothing) {
  for (std::uint64_t seed = 0; seed < kPrograms; ++seed) {
    Program program = RandomProgram(seed).make(1);
    const std::vector<Annotation> once = program.run().annotations;
    for (std::size_t t = 0; t < program.tensors.size(); ++t) program.tensors[t].annotation = once[t];
    ASSERT_EQ(program.run().annotations, once) << "seed " << seed;
  }
}

TEST(PropagationLaws, the_order_of_the_axes_of_a_mesh_does_not_matter) {
  const auto turned = [](AxisList axes) {
    for (AxisRef& ref : axes) ref.axis = 3 - ref.axis;
    return axes;
  };
  for (std::uint64_t seed = 0; seed < kPrograms; ++seed) {
    Program program = RandomProgram(seed).make(3);
    const std::vector<Annotation> expected = program.run().annotations;
    std::reverse(program.mesh.axes.begin(), program.mesh.axes.end());
    for (ShardedTensor& tensor : program.tensors) {
      for (DimAnnotation& dim : tensor.annotation.dims) dim.axes = turned(dim.axes);
      tensor.annotation.replicated = turned(tensor.annotation.replicated);
    }
    const std::vector<Annotation> found = program.run().annotations;
    for (std::size_t t = 0; t < expected.size(); ++t) {
      for (std::size_t d = 0; d < expected[t].dims.size(); ++d)
        ASSERT_EQ(found[t].dims[d].axes, turned(expected[t].dims[d].axes)) << "seed " << seed;
    }
  }
}

TEST(PropagationLaws, without_annotations_nothing_is_cut) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Program program = RandomProgram(seed).make(1);
    for (ShardedTensor& tensor : program.tensors) tensor.annotation = unset(tensor.dims.size());
    const Propagated result = program.run();
    for (const Annotation& annotation : result.annotations)
      EXPECT_EQ(annotation, unset(annotation.dims.size()));
    EXPECT_TRUE(result.conflicts.empty());
  }
}

}  // namespace
}  // namespace podsim::testing::propagation_laws_test
