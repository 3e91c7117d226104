// Tries the divisors of the chip count.
#include "topology/shape.h"

#include <algorithm>
#include <bit>
#include <span>

namespace podsim {
namespace {

// A side of a slice in an OCS pod: whole cubes, or a part of one cube.
bool makeable_side(int side, int cube) {
  return cube == 0 || side % cube == 0 || (side < cube && cube % side == 0);
}

bool makeable(const std::array<int, 3>& shape, int cube) {
  bool whole = true, parts = true;
  for (int side : shape) {
    if (!makeable_side(side, cube)) return false;
    whole = whole && cube > 0 && side % cube == 0;
    parts = parts && side <= cube;
  }
  return cube == 0 || whole || parts;
}

}  // namespace

std::optional<std::array<int, 3>> most_cubic_shape(const TorusSpec& torus, int chips) {
  std::optional<std::array<int, 3>> best;
  if (chips < 1 || (torus.max_chips > 0 && chips > torus.max_chips)) return best;
  for (int a = 1; a <= chips / a; ++a) {
    if (chips % a != 0) continue;
    for (int b = a; b <= chips / a / b; ++b) {
      if (chips / a % b != 0) continue;
      std::array<int, 3> shape = {a, b, chips / a / b};
      if (torus.dimensions < 3 && a != 1) continue;
      if (torus.dimensions < 2 && b != 1) continue;
      if (!makeable(shape, torus.cube)) continue;
      if (!best || shape[2] < (*best)[2] || (shape[2] == (*best)[2] && shape[0] > (*best)[0])) best = shape;
    }
  }
  // A two-dimensional slice lies in x and y.
  if (best && torus.dimensions == 2) best = {(*best)[1], (*best)[2], 1};
  if (best && torus.dimensions == 1) best = {(*best)[2], 1, 1};
  return best;
}

std::optional<std::array<int, 3>> largest_shape(const TorusSpec& torus, int cubes, bool powers_of_two) {
  if (torus.cube == 0) return std::nullopt;
  TorusSpec of_cubes;
  of_cubes.dimensions = torus.dimensions;
  const int chips_per_cube = torus.chips_per_cube();
  for (; cubes > 0; --cubes) {
    if (torus.max_chips > 0 && cubes > torus.max_chips / chips_per_cube) continue;
    if (powers_of_two && !std::has_single_bit(static_cast<unsigned>(cubes))) continue;
    auto shape = most_cubic_shape(of_cubes, cubes);
    const auto used = std::span(*shape).first(static_cast<std::size_t>(torus.dimensions));
    if (std::ranges::max(used) > 4 * std::ranges::min(used)) continue;
    for (int& side : used) side *= torus.cube;
    return shape;
  }
  return std::nullopt;
}

}  // namespace podsim
