// What a step may do to the axes of a layout.
#include <algorithm>
#include <map>
#include <set>

#include "tests/sharding/replay.h"

namespace podsim::testing {
namespace {

// Every axis cut at all places where any of the lists cuts it.
class Pieces {
 public:
  void note(const AxisList& list) {
    for (const AxisRef& ref : list) {
      cuts_[ref.axis].insert(ref.pre);
      cuts_[ref.axis].insert(ref.pre * ref.size);
    }
  }
  void note(const Layout& layout) {
    for (const AxisList& dim : layout.dims) note(dim);
    note(layout.unreduced);
  }

  AxisList split(const AxisList& list) const {
    AxisList pieces;
    for (const AxisRef& ref : list) {
      int from = ref.pre;
      for (const int cut : cuts_.at(ref.axis)) {
        if (cut <= from || cut > ref.pre * ref.size) continue;
        pieces.push_back({ref.axis, from, cut / from});
        from = cut;
      }
    }
    return pieces;
  }

  // Each place of an axis divides the next and the axis.
  bool divide(const Mesh& mesh) const {
    for (const auto& [axis, cuts] : cuts_) {
      int before = 1;
      for (const int cut : cuts) {
        if (cut % before != 0) return false;
        before = cut;
      }
      if (mesh.axes[static_cast<std::size_t>(axis)].size % before != 0) return false;
    }
    return true;
  }

 private:
  std::map<int, std::set<int>> cuts_;
};

using Set = std::set<AxisRef>;

Set set_of(const AxisList& list) { return {list.begin(), list.end()}; }

Set minus(const Set& a, const Set& b) {
  Set left;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::inserter(left, left.end()));
  return left;
}

// One layout in pieces.
struct Split {
  std::vector<AxisList> dims;
  Set unreduced;

  Set used() const {
    Set all = unreduced;
    for (const AxisList& dim : dims) all.insert(dim.begin(), dim.end());
    return all;
  }
};

Split split(const Pieces& pieces, const Layout& layout) {
  Split result;
  for (const AxisList& dim : layout.dims) result.dims.push_back(pieces.split(dim));
  result.unreduced = set_of(pieces.split(layout.unreduced));
  return result;
}

// The tails behind the common prefix of two lists.
struct Tails {
  Set lost, gained;
};

Tails tails(const AxisList& before, const AxisList& after) {
  std::size_t same = 0;
  while (same < before.size() && same < after.size() && before[same] == after[same]) ++same;
  const auto from = static_cast<std::ptrdiff_t>(same);
  return {{before.begin() + from, before.end()}, {after.begin() + from, after.end()}};
}

int product(const Set& set) {
  int n = 1;
  for (const AxisRef& ref : set) n *= ref.size;
  return n;
}

// What changed on the dimensions as a whole.
struct Change {
  Set lost, gained;   // over all dimensions
  bool both = false;  // some dimension lost and gained
};

Change change(const Split& before, const Split& after) {
  Change all;
  for (std::size_t d = 0; d < before.dims.size(); ++d) {
    const Tails dim = tails(before.dims[d], after.dims[d]);
    all.lost.insert(dim.lost.begin(), dim.lost.end());
    all.gained.insert(dim.gained.begin(), dim.gained.end());
    all.both |= !dim.lost.empty() && !dim.gained.empty();
  }
  return all;
}

// A slice drops nothing that another device would miss: what leaves a dimension becomes unreduced.
bool slice_fits(const Split& before, const Split& after, const Change& dims) {
  const Set summed = minus(after.unreduced, before.unreduced);
  if (dims.both || !minus(before.unreduced, after.unreduced).empty()) return false;
  if (!minus(dims.lost, summed).empty()) return false;
  const Set used = before.used();
  for (const AxisRef& ref : dims.gained)
    if (used.count(ref)) return false;
  for (const AxisRef& ref : summed)
    if (used.count(ref) && !dims.lost.count(ref)) return false;
  return true;
}

bool shard_counts_kept(const Split& before, const Split& after) {
  const auto count = [](const AxisList& list) { return product(set_of(list)); };
  for (std::size_t d = 0; d < before.dims.size(); ++d)
    if (count(before.dims[d]) != count(after.dims[d])) return false;
  return product(before.unreduced) == product(after.unreduced);
}

// A window gathers or scatters block by block.
bool window_fits(const Split& before, const Split& after, const Change& dims, const Set& axes) {
  if (dims.gained.empty()) return dims.lost == axes && before.unreduced == after.unreduced;
  return dims.lost.empty() && dims.gained == axes && minus(before.unreduced, after.unreduced) == axes &&
         minus(after.unreduced, before.unreduced).empty();
}

bool fits(const PlanStep& step, const Split& before, const Split& after, const Set& axes) {
  const Change dims = change(before, after);
  const bool sums_kept = before.unreduced == after.unreduced;
  const Set summed = minus(before.unreduced, after.unreduced);
  const bool no_new_sums = minus(after.unreduced, before.unreduced).empty();
  switch (step.kind) {
    case StepKind::kSlice:
      return slice_fits(before, after, dims);
    case StepKind::kPermute:
      return step.count > 1 ? window_fits(before, after, dims, axes) : shard_counts_kept(before, after);
    case StepKind::kAllToAll:
      return !dims.both && sums_kept && dims.lost == dims.gained && dims.lost == axes;
    case StepKind::kAllGather:
      return dims.gained.empty() && sums_kept && dims.lost == axes;
    case StepKind::kReduceScatter:
      return dims.lost.empty() && no_new_sums && summed == axes && dims.gained == axes;
    case StepKind::kAllReduce:
      return dims.lost.empty() && dims.gained.empty() && no_new_sums && summed == axes;
    case StepKind::kHalo:
      return before.dims == after.dims && sums_kept;
    case StepKind::kCompute:
      return false;
  }
  return false;
}

bool used_twice(const Split& split) {
  std::size_t count = split.unreduced.size();
  for (const AxisList& dim : split.dims) count += dim.size();
  return count != split.used().size();
}

}  // namespace

bool same_layout(const Layout& a, const Layout& b) {
  if (a.dims.size() != b.dims.size()) return false;
  for (std::size_t d = 0; d < a.dims.size(); ++d)
    if (merged(a.dims[d]) != merged(b.dims[d])) return false;
  return canonical(a.unreduced) == canonical(b.unreduced);
}

Faults judge_axes(const Mesh& mesh, const Layout& before, const PlanStep& step) {
  if (before.dims.size() != step.after.dims.size()) return {"the number of dimensions changes"};
  Pieces pieces;
  pieces.note(before);
  pieces.note(step.after);
  pieces.note(step.axes);
  if (!pieces.divide(mesh)) return {"pieces of an axis do not divide each other"};
  const Split old = split(pieces, before), next = split(pieces, step.after);
  Faults faults;
  if (used_twice(next)) faults.push_back("an axis is used twice in " + to_string(mesh, step.after));
  if (!fits(step, old, next, set_of(pieces.split(step.axes))))
    faults.push_back("axes " + to_string(mesh, step.axes) + " do not take " + to_string(mesh, before) +
                     " to " + to_string(mesh, step.after));
  return faults;
}

}  // namespace podsim::testing
