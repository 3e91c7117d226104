// The device mesh: axes by name, sets of them, and the place of each device.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace podsim {

// One axis of the device mesh. Axes are ordered major to minor; the last is innermost on the fabric unless
// placed.
struct MeshAxis {
  std::string name;
  int size = 1;
  friend bool operator==(const MeshAxis&, const MeshAxis&) = default;
};

// Devices are numbered row-major: the last axis varies fastest.
struct Mesh {
  std::vector<MeshAxis> axes;

  int devices() const;                      // product of sizes, 1 when empty, 2^31 - 1 at most
  int find(const std::string& name) const;  // index or -1
  int stride(int axis) const;  // from a device to the next along the axis: product of those inside
  // [axis] Where the device lies. REQUIRES: 0 <= device < devices().
  std::vector<int> coordinates(int device) const;
  friend bool operator==(const Mesh&, const Mesh&) = default;
};

// A set of mesh axes: bit i = axis i.
using AxisSet = std::uint32_t;

constexpr AxisSet axis_bit(int axis) { return AxisSet{1} << axis; }

// Product of the sizes of the axes.
int shard_count(const Mesh& mesh, AxisSet axes);

// Which axes a set has, as "data+fsdp"; "none" for the empty set.
std::string axis_names(const Mesh& mesh, AxisSet axes);

}  // namespace podsim
