// Sizes, names and strides of mesh axes.
#include "workload/mesh/mesh.h"

#include <algorithm>
#include <cstdint>

namespace podsim {

int Mesh::devices() const {
  std::int64_t product = 1;
  for (const MeshAxis& axis : axes) product = std::min<std::int64_t>(product * axis.size, INT32_MAX);
  return static_cast<int>(product);
}

int Mesh::find(const std::string& name) const {
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    if (axes[axis].name == name) return static_cast<int>(axis);
  }
  return -1;
}

int Mesh::stride(int axis) const {
  int product = 1;
  for (std::size_t inner = static_cast<std::size_t>(axis) + 1; inner < axes.size(); ++inner)
    product *= axes[inner].size;
  return product;
}

std::vector<int> Mesh::coordinates(int device) const {
  std::vector<int> at(axes.size());
  for (std::size_t axis = axes.size(); axis-- > 0;) {
    at[axis] = device % axes[axis].size;
    device /= axes[axis].size;
  }
  return at;
}

int shard_count(const Mesh& mesh, AxisSet axes) {
  int count = 1;
  for (std::size_t axis = 0; axis < mesh.axes.size(); ++axis) {
    if (axes & axis_bit(static_cast<int>(axis))) count *= mesh.axes[axis].size;
  }
  return count;
}

std::string axis_names(const Mesh& mesh, AxisSet axes) {
  std::string names;
  for (std::size_t axis = 0; axis < mesh.axes.size(); ++axis) {
    if (!(axes & axis_bit(static_cast<int>(axis)))) continue;
    if (!names.empty()) names += '+';
    names += mesh.axes[axis].name;
  }
  return names.empty() ? "none" : names;
}

}  // namespace podsim
