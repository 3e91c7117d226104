// Mesh axes and pieces of them, in the order in which they cut a dimension of a tensor.
#include "workload/mesh/axes.h"

#include <algorithm>

#include "engine/check.h"

namespace podsim {
namespace {

int axis_size(const Mesh& mesh, int axis) { return mesh.axes[static_cast<std::size_t>(axis)].size; }

// A piece covers the digits of the device's coordinate from `pre` up to here.
int end_of(const AxisRef& ref) { return ref.pre * ref.size; }

// What is left of `ref` beside `gone`, major to minor. REQUIRES: the pieces' boundaries divide each other.
AxisList pieces_without(const AxisRef& ref, const AxisRef& gone) {
  if (!overlap(ref, gone)) return {ref};
  AxisList left;
  if (gone.pre > ref.pre) {
    PODSIM_CHECK(gone.pre % ref.pre == 0, "pieces of one axis are cut at boundaries that divide each other");
    left.push_back({ref.axis, ref.pre, gone.pre / ref.pre});
  }
  if (end_of(gone) < end_of(ref)) {
    PODSIM_CHECK(end_of(ref) % end_of(gone) == 0,
                 "pieces of one axis are cut at boundaries that divide each other");
    left.push_back({ref.axis, end_of(gone), end_of(ref) / end_of(gone)});
  }
  return left;
}

}  // namespace

AxisRef whole_axis(const Mesh& mesh, int axis) { return {axis, 1, axis_size(mesh, axis)}; }

bool is_whole(const Mesh& mesh, const AxisRef& ref) { return ref == whole_axis(mesh, ref.axis); }

int stride(const Mesh& mesh, const AxisRef& ref) {
  return axis_size(mesh, ref.axis) / end_of(ref) * mesh.stride(ref.axis);
}

bool overlap(const AxisRef& a, const AxisRef& b) {
  return a.axis == b.axis && a.pre < end_of(b) && b.pre < end_of(a);
}

bool overlap(const AxisList& a, const AxisList& b) {
  return std::any_of(a.begin(), a.end(), [&](const AxisRef& x) {
    return std::any_of(b.begin(), b.end(), [&](const AxisRef& y) { return overlap(x, y); });
  });
}

int shard_count(const AxisList& axes) {
  int count = 1;
  for (const AxisRef& ref : axes) count *= ref.size;
  return count;
}

AxisList merged(AxisList axes) {
  AxisList result;
  for (const AxisRef& ref : axes) {
    if (!result.empty() && result.back().axis == ref.axis && end_of(result.back()) == ref.pre) {
      result.back().size *= ref.size;
    } else {
      result.push_back(ref);
    }
  }
  return result;
}

AxisList canonical(AxisList axes) {
  std::sort(axes.begin(), axes.end());
  return merged(std::move(axes));
}

AxisList without(const AxisList& axes, const AxisList& gone) {
  AxisList left = axes;
  for (const AxisRef& removed : gone) {
    AxisList next;
    for (const AxisRef& ref : left) {
      const AxisList pieces = pieces_without(ref, removed);
      next.insert(next.end(), pieces.begin(), pieces.end());
    }
    left = std::move(next);
  }
  return left;
}

AxisSet axis_set(const AxisList& axes) {
  AxisSet set = 0;
  for (const AxisRef& ref : axes) {
    PODSIM_CHECK(ref.pre == 1, "the axis is whole");
    set |= AxisSet{1} << ref.axis;
  }
  return set;
}

std::string to_string(const Mesh& mesh, const AxisRef& ref) {
  std::string text = mesh.axes[static_cast<std::size_t>(ref.axis)].name;
  if (!is_whole(mesh, ref)) text += ":(" + std::to_string(ref.pre) + ")" + std::to_string(ref.size);
  return text;
}

std::string to_string(const Mesh& mesh, const AxisList& axes) {
  std::string text;
  for (const AxisRef& ref : axes) text += (text.empty() ? "" : "+") + to_string(mesh, ref);
  return text.empty() ? "none" : text;
}

}  // namespace podsim
