// Mesh axes and pieces of them, in the order in which they cut a dimension of a tensor.
#pragma once

#include <compare>
#include <string>
#include <vector>

#include "workload/mesh/mesh.h"

namespace podsim {

// An axis of the mesh, or a piece of one: an axis of size n read as [pre, size, n / (pre size)], the middle
// taken. A whole axis has pre = 1 and size = n. Text: "x", or "x:(pre)size" for a piece.
// INVARIANT: pre * size divides n; size >= 1.
struct AxisRef {
  int axis = 0;  // index in the mesh
  int pre = 1;
  int size = 1;
  friend auto operator<=>(const AxisRef&, const AxisRef&) = default;
};

// Axes on one dimension, major to minor. INVARIANT: no two overlap.
using AxisList = std::vector<AxisRef>;

AxisRef whole_axis(const Mesh& mesh, int axis);
bool is_whole(const Mesh& mesh, const AxisRef& ref);
bool overlap(const AxisRef& a, const AxisRef& b);  // some device coordinate bit belongs to both
bool overlap(const AxisList& a, const AxisList& b);
int shard_count(const AxisList& axes);             // product of sizes, 1 when empty
int stride(const Mesh& mesh, const AxisRef& ref);  // from a device to the next along the piece

// Neighbours that continue each other become one: x:(1)2 x:(2)4 -> x:(1)8.
AxisList merged(AxisList axes);
// Sorted by axis and pre, then merged: a set of axes in its one canonical form (groups, partial sums).
AxisList canonical(AxisList axes);
// `axes` without what `gone` covers, split where `gone` covers a part. Order is kept.
AxisList without(const AxisList& axes, const AxisList& gone);

// The axes as a set where all are whole. REQUIRES: all are whole.
AxisSet axis_set(const AxisList& axes);

// "x", "x:(1)2"; of a list "x+y:(2)4", "none" when empty.
std::string to_string(const Mesh& mesh, const AxisRef& ref);
std::string to_string(const Mesh& mesh, const AxisList& axes);

}  // namespace podsim
