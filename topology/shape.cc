// Tries the divisors of the chip count.
#include "topology/shape.h"

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

}  // namespace podsim
