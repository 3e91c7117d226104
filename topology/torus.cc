// Torus slices: coordinates, wraps and twists, and the ICI links of a slice.
#include <algorithm>
#include <utility>

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

// Every chip has its own ends of its cables, in the order of their other ends: sorted as they come.
class SliceLinks {
 public:
  SliceLinks(Fabric& fabric, const TorusSlice& slice, const TorusSpec& spec)
      : links_(fabric.links.stored()),
        slice_(slice),
        latency_(spec.ici.latency),
        bandwidth_(spec.ici.payload()),
        apart_{1, slice.shape[0], slice.shape[0] * slice.shape[1]} {
    for (int d = 0; d < 3; ++d) {
      optical_behind_[d].assign(static_cast<std::size_t>(slice.shape[d]), false);
      for (int x = 0; spec.cube > 0 && x < slice.shape[d]; ++x)
        optical_behind_[d][x] = x % spec.cube == spec.cube - 1;
    }
  }

  void add() {
    ChipId chip = slice_.first_chip;
    std::array<int, 3> at;
    for (at[2] = 0; at[2] < slice_.shape[2]; ++at[2])
      for (at[1] = 0; at[1] < slice_.shape[1]; ++at[1])
        for (at[0] = 0; at[0] < slice_.shape[0]; ++at[0]) add_out_of(chip++, at);
  }

 private:
  // Neighbours below chip are those one step back in z, y, x, those above one step on in x, y, z: in order
  // but for wraps.
  void add_out_of(ChipId chip, const std::array<int, 3>& at) {
    const auto first = links_.size();
    for (int d = 2; d >= 0; --d) add_step(chip, at, d, -1);
    for (int d = 0; d < 3; ++d) add_step(chip, at, d, +1);
    for (std::size_t i = first + 1; i < links_.size(); ++i)
      for (std::size_t k = i; k > first && links_[k].to < links_[k - 1].to; --k)
        std::swap(links_[k], links_[k - 1]);
  }

  void add_step(ChipId chip, const std::array<int, 3>& at, int d, int direction) {
    const int next = at[d] + direction, length = slice_.shape[d];
    const bool inside = next >= 0 && next < length;
    if (!inside && !slice_.wrap[d]) return;
    const ChipId to = inside ? chip + direction * apart_[d] : slice_.neighbour(chip, d, direction);
    const int lower = direction > 0 ? at[d] : inside ? next : length - 1;  // the cable is that behind it
    links_.push_back(
        {chip, to, optical_behind_[d][lower] ? LinkKind::kIciOptical : LinkKind::kIci, bandwidth_, latency_});
  }

  std::vector<Link>& links_;
  const TorusSlice& slice_;
  const Time latency_;
  const Bandwidth bandwidth_;
  const std::array<int, 3> apart_;                   // numbers of neighbours in a dimension
  std::array<std::vector<bool>, 3> optical_behind_;  // [dimension][coordinate] towards the next
};

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
    // Even of two chips: the twist leads from the second to a third.
    slice.wrap[0] = true;
    if (spec.shape[1] == n) slice.wrap[1] = true;
  }
  return slice;
}

void add_tori(Fabric& fabric, const FabricSpec& spec) {
  add_chips(fabric, spec.chips);
  fabric.links.reserve(std::size_t{2} * spec.torus->dimensions * spec.chips);
  for (int s = 0; s < spec.slices; ++s) {
    fabric.slices.push_back(lay_slice(*spec.torus, s * (spec.chips / spec.slices)));
    SliceLinks(fabric, fabric.slices.back(), *spec.torus).add();
  }
}

}  // namespace podsim
