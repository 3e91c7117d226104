// Random meshes, tensors, layouts and operations, each a function of its number alone.
#include "tests/sharding/random_problem.h"

#include <algorithm>

namespace podsim::testing {
namespace {

class Draw {
 public:
  explicit Draw(std::uint64_t entity) : entity_(entity) {}
  int below(int n) {
    return static_cast<int>(random_bits(29, RandomPurpose::kTest, entity_, next_++) %
                            static_cast<std::uint64_t>(n));
  }
  bool one_in(int n) { return below(n) == 0; }

 private:
  std::uint64_t entity_, next_ = 0;
};

constexpr int kAxisSizes[] = {2, 2, 2, 3, 4, 4, 6, 8};
constexpr std::int64_t kDimSizes[] = {8, 12, 16, 24, 48, 64, 64, 96, 7, 10, 30, 33, 1, 2};

Mesh some_mesh(Draw& draw, int axes, int devices) {
  Mesh mesh;
  const int count = 1 + draw.below(axes);
  for (int i = 0; i < count; ++i) {
    const int size = kAxisSizes[draw.below(8)];
    if (mesh.devices() * size <= devices)
      mesh.axes.push_back({std::string(1, static_cast<char>('p' + i)), size});
  }
  if (mesh.axes.empty()) mesh.axes.push_back({"p", 2});
  return mesh;
}

// The axes, some of them in two pieces.
AxisList some_pieces(Draw& draw, const Mesh& mesh) {
  AxisList pieces;
  for (std::size_t i = 0; i < mesh.axes.size(); ++i) {
    const int axis = static_cast<int>(i), size = mesh.axes[i].size;
    const int cut = size % 2 == 0 && size > 2 && draw.one_in(6) ? 2 : 1;
    if (cut > 1) pieces.push_back({axis, 1, cut});
    pieces.push_back({axis, cut, size / cut});
  }
  return pieces;
}

// Every piece on some dimension, unreduced, or unused; at most as many shards as there are indices.
Layout some_layout(Draw& draw, AxisList pieces, const std::vector<std::int64_t>& dims, int sums_one_in) {
  Layout layout = replicated(dims.size());
  while (!pieces.empty()) {
    const auto pick = pieces.begin() + draw.below(static_cast<int>(pieces.size()));
    const AxisRef piece = *pick;
    pieces.erase(pick);
    if (sums_one_in > 0 && draw.one_in(sums_one_in)) {
      layout.unreduced.push_back(piece);
      continue;
    }
    const int dim = draw.below(static_cast<int>(dims.size()) + 1);
    if (dim == static_cast<int>(dims.size())) continue;
    AxisList& axes = layout.dims[static_cast<std::size_t>(dim)];
    if (shard_count(axes) * piece.size <= dims[static_cast<std::size_t>(dim)]) axes.push_back(piece);
  }
  for (AxisList& dim : layout.dims) dim = merged(std::move(dim));
  layout.unreduced = canonical(std::move(layout.unreduced));
  return layout;
}

TensorShape drawn_shape(const std::vector<std::int64_t>& dims) {
  TensorShape shape;
  for (const std::int64_t size : dims) shape.dims.push_back({"", {{size}}});
  return shape;
}

}  // namespace

Mesh random_mesh(std::uint64_t number, int axes, int devices) {
  Draw draw(number);
  return some_mesh(draw, axes, devices);
}

ReshardProblem random_reshard(std::uint64_t number, int axes, int devices, int rank) {
  Draw draw(number);
  const Mesh mesh = some_mesh(draw, axes, devices);
  std::vector<std::int64_t> dims(static_cast<std::size_t>(1 + draw.below(rank)));
  for (std::int64_t& size : dims) size = kDimSizes[draw.below(14)];
  const AxisList pieces = some_pieces(draw, mesh);
  const int from_sums = draw.one_in(3) ? 4 : 0, to_sums = draw.one_in(6) ? 4 : 0;
  const Layout from = some_layout(draw, pieces, dims, from_sums);
  return {mesh, drawn_shape(dims), from, some_layout(draw, pieces, dims, to_sums)};
}

RandomOperation random_einsum(std::uint64_t number, int axes, int devices) {
  Draw draw(number);
  RandomOperation random{.mesh = some_mesh(draw, axes, devices), .problem = {}};
  std::string letters[3];  // lhs, rhs, result
  const int count = 2 + draw.below(4);
  for (int i = 0; i < count; ++i) {
    const char letter = static_cast<char>('a' + i);
    const int where = 1 + draw.below(7);  // at least one operand
    const bool lhs = where & 1 || where == 4, rhs = where & 2, out = where & 4;
    if (lhs) letters[0] += letter;
    if (rhs) letters[1] += letter;
    if (out) letters[2] += letter;
  }
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(count));
  for (std::int64_t& size : sizes) size = kDimSizes[draw.below(14)];
  std::vector<std::int64_t> dims[3];
  for (int t = 0; t < 3; ++t)
    for (const char letter : letters[t]) dims[t].push_back(sizes[static_cast<std::size_t>(letter - 'a')]);

  OpProblem& problem = random.problem;
  problem.rule = einsum_rule({letters[0], letters[1]}, {letters[2]}, {dims[0], dims[1]}, {dims[2]});
  problem.split = draw.one_in(2) ? AxisSplit::kAsLaidOut : AxisSplit::kByFactors;
  const AxisList pieces = problem.split == AxisSplit::kAsLaidOut ? [&] {
    AxisList whole;
    for (std::size_t i = 0; i < random.mesh.axes.size(); ++i)
      whole.push_back(whole_axis(random.mesh, static_cast<int>(i)));
    return whole;
  }()
                                             : some_pieces(draw, random.mesh);
  for (int t = 0; t < 2; ++t) {
    OpOperand operand{.shape = drawn_shape(dims[t]),
                      .available = {some_layout(draw, pieces, dims[t], draw.one_in(8) ? 4 : 0)}};
    if (draw.one_in(4)) operand.available.push_back(some_layout(draw, pieces, dims[t], 0));
    if (draw.one_in(6)) operand.repeats = 2;
    problem.operands.push_back(std::move(operand));
  }
  OpResult result{.shape = drawn_shape(dims[2]), .wanted = {}, .partial_allowed = draw.one_in(5)};
  if (!draw.one_in(5)) result.wanted = some_layout(draw, pieces, dims[2], 0);
  problem.results.push_back(std::move(result));
  return random;
}

}  // namespace podsim::testing
