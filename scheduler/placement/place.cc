// Lays the device mesh on the fabric.
#include "scheduler/placement/place.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "collectives/collective.h"
#include "engine/check.h"
#include "scheduler/question/spec.h"
#include "topology/fabric_kind.h"

namespace podsim {
namespace {

// Torus dimensions (major to minor) of each mesh axis inside one slice.
using Assignment = std::vector<std::vector<int>>;

int product(const std::vector<int>& dimensions, std::span<const int> shape) {
  int total = 1;
  for (int d : dimensions) total *= shape[d];
  return total;
}

// Gives axis `axis` (and then those outside it) unused whole dimensions. Small sets come first, so that an
// axis does not swallow dimensions of length 1.
bool assign(int axis, unsigned used, const std::vector<int>& sizes, std::span<const int> shape,
            Assignment& result) {
  if (axis < 0) return true;
  if (!result[axis].empty() || sizes[axis] == 1) return assign(axis - 1, used, sizes, shape, result);
  static constexpr unsigned kSubsets[] = {1, 2, 4, 3, 5, 6, 7};
  for (unsigned subset : kSubsets) {
    if (subset & used) continue;
    std::vector<int> dimensions;
    for (int d = 2; d >= 0; --d)
      if (subset >> d & 1) dimensions.push_back(d);
    if (product(dimensions, shape) != sizes[axis]) continue;
    result[axis] = dimensions;
    if (assign(axis - 1, used | subset, sizes, shape, result)) return true;
    result[axis].clear();
  }
  return false;
}

// Sizes of the axes inside one slice: the outermost axes are divided by the number of slices.
std::vector<int> sizes_in_slice(const Mesh& mesh, int slices) {
  std::vector<int> sizes;
  for (const MeshAxis& axis : mesh.axes) {
    int shared = std::gcd(axis.size, slices);
    sizes.push_back(axis.size / shared);
    slices /= shared;
  }
  return sizes;
}

ChipId chip_in_slice(const TorusSlice& slice, const Assignment& assignment, std::vector<int> at) {
  std::array<int, 3> coordinate = {0, 0, 0};
  for (std::size_t a = 0; a < assignment.size(); ++a) {
    for (auto d = assignment[a].rbegin(); d != assignment[a].rend(); ++d) {
      coordinate[*d] = at[a] % slice.shape[*d];
      at[a] /= slice.shape[*d];
    }
  }
  return slice.chip(coordinate);
}

}  // namespace

bool ChipList::in_order() const {
  if (chips_.empty()) return first_ == 0;
  for (std::size_t i = 0; i < chips_.size(); ++i)
    if (std::cmp_not_equal(chips_[i], i)) return false;
  return true;
}

bool operator==(const ChipList& a, const ChipList& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin());
}

std::string explain_invalid(const FabricSpec& fabric, const Mesh& mesh,
                            const std::vector<AxisPlacement>& chosen) {
  if (chosen.empty()) return "";
  const std::span<const int> lengths = kind_of(fabric).dimensions(fabric);
  if (lengths.empty())
    return "a mesh axis can be placed on torus dimensions only, and " + fabric.name + " is not a torus";
  std::vector<int> sizes = sizes_in_slice(mesh, fabric.slices);
  unsigned used = 0;
  for (const AxisPlacement& placed : chosen) {
    int axis = mesh.find(placed.axis);
    if (axis < 0) return "there is no mesh axis " + placed.axis;
    int chips = 1;
    for (int d : placed.dimensions) {
      if (d < 0 || d > 2) return "torus dimensions are 0 (x), 1 (y) and 2 (z), not " + std::to_string(d);
      if (used >> d & 1) return "torus dimension " + std::to_string(d) + " is given to two mesh axes";
      used |= 1u << d;
      chips *= lengths[d];
    }
    if (chips != sizes[axis])
      return "axis " + placed.axis + " has " + std::to_string(sizes[axis]) +
             " devices in a slice, but its torus dimensions hold " + std::to_string(chips);
  }
  Assignment assignment(mesh.axes.size());
  for (const AxisPlacement& placed : chosen) assignment[mesh.find(placed.axis)] = placed.dimensions;
  if (!assign(static_cast<int>(mesh.axes.size()) - 1, used, sizes, lengths, assignment))
    return "the other mesh axes do not fit the torus dimensions that are left";
  return "";
}

Placement place(const Fabric& fabric, const Mesh& mesh, const std::vector<AxisPlacement>& chosen,
                ChipId first_chip) {
  const int devices = mesh.devices();
  PODSIM_CHECK(devices <= fabric.chips - first_chip, "the mesh must have a chip for each device");
  Placement placement{ChipList(first_chip, static_cast<std::size_t>(devices))};
  if (fabric.slices.empty()) return placement;

  std::span<const int> shape = fabric.slices[0].shape;
  const int slice_chips = fabric.slices[0].chips();
  PODSIM_CHECK(first_chip % slice_chips == 0 && devices % slice_chips == 0, "a job has whole slices");
  std::vector<int> sizes = sizes_in_slice(mesh, devices / slice_chips);
  Assignment assignment(mesh.axes.size());
  unsigned used = 0;
  for (const AxisPlacement& placed : chosen) {
    assignment[mesh.find(placed.axis)] = placed.dimensions;
    for (int d : placed.dimensions) used |= 1u << d;
  }
  if (std::accumulate(sizes.begin(), sizes.end(), 1, std::multiplies<>()) != slice_chips) return placement;
  if (!assign(static_cast<int>(mesh.axes.size()) - 1, used, sizes, shape, assignment)) return placement;

  std::vector<ChipId> chips(static_cast<std::size_t>(devices));
  const TorusSlice* first_slice = &fabric.slices[first_chip / slice_chips];
  for (int device = 0; device < devices; ++device) {
    std::vector<int> at = mesh.coordinates(device);
    int slice = 0;
    for (std::size_t a = 0; a < at.size(); ++a) {
      int per_slice = sizes[a];
      slice = slice * (mesh.axes[a].size / per_slice) + at[a] / per_slice;
      at[a] %= per_slice;
    }
    chips[static_cast<std::size_t>(device)] = chip_in_slice(first_slice[slice], assignment, at);
  }
  return {std::move(chips)};
}

std::vector<std::size_t> steps_in_group(const Mesh& mesh, const AxisList& axes) {
  std::vector<std::size_t> steps = {0};
  for (const AxisRef& ref : axes) {
    const auto distance = static_cast<std::size_t>(stride(mesh, ref));
    std::vector<std::size_t> longer;
    longer.reserve(steps.size() * static_cast<std::size_t>(ref.size));
    for (const std::size_t step : steps)
      for (int i = 0; i < ref.size; ++i) longer.push_back(step + static_cast<std::size_t>(i) * distance);
    steps = std::move(longer);
  }
  return steps;
}

std::vector<std::size_t> steps_in_group(const Mesh& mesh, AxisSet axes) {
  AxisList whole;
  for (int axis = 0; std::cmp_less(axis, mesh.axes.size()); ++axis)
    if (axes & axis_bit(axis)) whole.push_back(whole_axis(mesh, axis));
  return steps_in_group(mesh, whole);
}

ChipGroups groups_along(const Mesh& mesh, const Placement& placement, AxisSet axes) {
  const ChipList& chips = placement.chip_of_device;
  PODSIM_CHECK(std::cmp_equal(chips.size(), mesh.devices()), "a mesh has a chip for each device");
  const std::vector<std::size_t> along = steps_in_group(mesh, axes), across = steps_in_group(mesh, ~axes);
  std::vector<ChipId> groups;
  groups.reserve(chips.size());
  for (const std::size_t first : across)
    for (const std::size_t step : along) groups.push_back(chips[first + step]);
  return {along.size(), std::move(groups)};
}

}  // namespace podsim
