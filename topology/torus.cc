// Torus slices: coordinates, wraps and twists, and the ICI links of a slice.
#include <algorithm>

#include "topology/builders.h"

namespace podsim {
namespace {

int modulo(int value, int length) {
  const int rest = value % length;
  return rest < 0 ? rest + length : rest;
}

bool is_whole_cubes(const TorusSpec& spec) {
  for (int d = 0; d < spec.dimensions; ++d)
    if (spec.shape[d] % spec.cube != 0) return false;
  return true;
}

bool closes_to_ring(const TorusSpec& spec, int d) {
  const int length = spec.shape[d];
  if (length <= 2) return false;
  if (spec.cube > 0) return is_whole_cubes(spec);
  return spec.wrap_lengths.empty() || std::ranges::count(spec.wrap_lengths, length) > 0;
}

void add_slice_links(Fabric& fabric, const TorusSlice& slice, const TorusSpec& spec) {
  for (ChipId chip = slice.first_chip; chip < slice.first_chip + slice.chips(); ++chip) {
    const auto at = slice.coordinate(chip);
    for (int d = 0; d < 3; ++d) {
      const ChipId next = slice.neighbour(chip, d, +1);
      if (next < 0) continue;
      const bool leaves_cube = spec.cube > 0 && at[d] % spec.cube == spec.cube - 1;
      add_cable(fabric, chip, next, leaves_cube ? LinkKind::kIciOptical : LinkKind::kIci, spec.ici);
    }
  }
}

}  // namespace

std::array<int, 3> TorusSlice::coordinate(ChipId chip) const {
  const int index = chip - first_chip;
  return {index % shape[0], index / shape[0] % shape[1], index / (shape[0] * shape[1])};
}

ChipId TorusSlice::chip(std::array<int, 3> at) const {
  return first_chip + at[0] + shape[0] * (at[1] + shape[1] * at[2]);
}

ChipId TorusSlice::neighbour(ChipId from, int d, int direction) const {
  auto at = coordinate(from);
  at[d] += direction;
  if (at[d] >= 0 && at[d] < shape[d]) return chip(at);
  if (!wrap[d]) return -1;
  at[d] = modulo(at[d], shape[d]);
  for (int e = 0; e < 3; ++e) at[e] = modulo(at[e] + direction * twist[d][e], shape[e]);
  return chip(at);
}

TorusSlice lay_slice(const TorusSpec& spec, ChipId first_chip) {
  TorusSlice slice{.first_chip = first_chip, .shape = spec.shape};
  slice.cube = spec.cube;
  for (int d = 0; d < spec.dimensions; ++d) slice.wrap[d] = closes_to_ring(spec, d);
  if (spec.twisted) {
    // n x n x 2n: x and y wraps shift z; n x 2n x 2n: the x wrap shifts y and z; always by n.
    const int n = spec.shape[0];
    slice.twist[0][2] = n;
    (spec.shape[1] == n ? slice.twist[1][2] : slice.twist[0][1]) = n;
  }
  return slice;
}

void add_tori(Fabric& fabric, const FabricSpec& spec) {
  for (int chip = 0; chip < spec.chips; ++chip) add_node(fabric, NodeKind::kChip, 0);
  for (int s = 0; s < spec.slices; ++s) {
    fabric.slices.push_back(lay_slice(*spec.torus, s * (spec.chips / spec.slices)));
    add_slice_links(fabric, fabric.slices.back(), *spec.torus);
  }
}

}  // namespace podsim
