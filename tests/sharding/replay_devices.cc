// What a step does to the blocks that devices hold: every device of a small mesh, block by block.
#include <algorithm>
#include <map>
#include <numeric>

#include "tests/sharding/replay.h"

namespace podsim::testing {
namespace {

// Coordinates of a device, row-major over the mesh.
std::vector<int> coordinates(const Mesh& mesh, int device) {
  std::vector<int> at(mesh.axes.size());
  for (std::size_t i = mesh.axes.size(); i-- > 0;) {
    at[i] = device % mesh.axes[i].size;
    device /= mesh.axes[i].size;
  }
  return at;
}

int digit(const Mesh& mesh, const std::vector<int>& at, const AxisRef& ref) {
  const auto axis = static_cast<std::size_t>(ref.axis);
  return at[axis] / (mesh.axes[axis].size / (ref.pre * ref.size)) % ref.size;
}

int index(const Mesh& mesh, const std::vector<int>& at, const AxisList& axes) {
  int result = 0;
  for (const AxisRef& ref : axes) result = result * ref.size + digit(mesh, at, ref);
  return result;
}

// Per dimension [begin, end) of a grid fine enough for both layouts.
struct Block {
  std::vector<std::pair<int, int>> ranges;
  friend auto operator<=>(const Block&, const Block&) = default;

  std::int64_t volume() const {
    std::int64_t product = 1;
    for (const auto& [begin, end] : ranges) product *= std::max(0, end - begin);
    return product;
  }
};

Block intersection(const Block& a, const Block& b) {
  Block both = a;
  for (std::size_t d = 0; d < a.ranges.size(); ++d)
    both.ranges[d] = {std::max(a.ranges[d].first, b.ranges[d].first),
                      std::min(a.ranges[d].second, b.ranges[d].second)};
  return both;
}

bool inside(const Block& part, const Block& whole) { return intersection(part, whole) == part; }

// What every device holds, before or after a step.
struct Held {
  std::vector<Block> blocks;  // [device]
  std::vector<int> term;      // [device] which summand of a partial sum
  int terms = 1;
};

Held hold(const Mesh& mesh, const Layout& layout, const std::vector<int>& grid) {
  Held held;
  held.terms = shard_count(layout.unreduced);
  for (int device = 0; device < mesh.devices(); ++device) {
    const std::vector<int> at = coordinates(mesh, device);
    Block block;
    for (std::size_t d = 0; d < layout.dims.size(); ++d) {
      const int width = grid[d] / shard_count(layout.dims[d]);
      const int begin = index(mesh, at, layout.dims[d]) * width;
      block.ranges.push_back({begin, begin + width});
    }
    held.blocks.push_back(std::move(block));
    held.term.push_back(index(mesh, at, layout.unreduced));
  }
  return held;
}

// Devices that differ in the step's axes only.
std::vector<std::vector<int>> groups(const Mesh& mesh, const AxisList& axes) {
  std::map<std::vector<int>, std::vector<int>> by_rest;
  for (int device = 0; device < mesh.devices(); ++device) {
    std::vector<int> rest = coordinates(mesh, device);
    const std::vector<int> at = rest;
    for (const AxisRef& ref : axes) {
      const auto axis = static_cast<std::size_t>(ref.axis);
      rest[axis] -= digit(mesh, at, ref) * (mesh.axes[axis].size / (ref.pre * ref.size));
    }
    by_rest[rest].push_back(device);
  }
  std::vector<std::vector<int>> result;
  for (auto& [rest, devices] : by_rest) result.push_back(std::move(devices));
  return result;
}

// Parts are disjoint, lie inside the whole and fill it.
bool partition(const std::vector<Block>& parts, const Block& whole) {
  std::int64_t volume = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!inside(parts[i], whole)) return false;
    for (std::size_t j = 0; j < i; ++j)
      if (intersection(parts[i], parts[j]).volume() != 0) return false;
    volume += parts[i].volume();
  }
  return volume == whole.volume();
}

// The blocks of a group, and the terms its members hold.
struct Group {
  std::vector<Block> before, after;
  bool one_term_before = true, one_term_after = true;  // members hold the same summand
};

Group of(const std::vector<int>& devices, const Held& before, const Held& after) {
  Group group;
  for (const int device : devices) {
    const auto i = static_cast<std::size_t>(device);
    group.before.push_back(before.blocks[i]);
    group.after.push_back(after.blocks[i]);
    group.one_term_before &= before.term[i] == before.term[static_cast<std::size_t>(devices[0])];
    group.one_term_after &= after.term[i] == after.term[static_cast<std::size_t>(devices[0])];
  }
  return group;
}

bool all_equal(const std::vector<Block>& blocks) {
  return std::all_of(blocks.begin(), blocks.end(), [&](const Block& b) { return b == blocks[0]; });
}

bool exchanged(const Group& group) {
  const auto n = static_cast<std::int64_t>(group.before.size());
  for (const Block& wanted : group.after)
    for (const Block& source : group.before)
      if (intersection(wanted, source).volume() * n != wanted.volume()) return false;
  return true;
}

// Along every dimension a device keeps a part, or pads what it has with zeros and so makes a summand of it.
bool sliced(const Held& before, const Held& after) {
  for (std::size_t i = 0; i < before.blocks.size(); ++i) {
    for (std::size_t d = 0; d < before.blocks[i].ranges.size(); ++d) {
      const auto [old_begin, old_end] = before.blocks[i].ranges[d];
      const auto [begin, end] = after.blocks[i].ranges[d];
      const bool keeps_part = begin >= old_begin && end <= old_end;
      const bool pads = begin <= old_begin && end >= old_end && after.terms > before.terms;
      if (!keeps_part && !pads) return false;
    }
  }
  return after.terms >= before.terms;
}

bool permuted(Held before, Held after) {
  std::sort(before.blocks.begin(), before.blocks.end());
  std::sort(after.blocks.begin(), after.blocks.end());
  return before.blocks == after.blocks && before.terms == after.terms;
}

bool group_fits(StepKind kind, const Group& group) {
  switch (kind) {
    case StepKind::kAllGather:
      return all_equal(group.after) && partition(group.before, group.after[0]) && group.one_term_before;
    case StepKind::kAllToAll:
      return exchanged(group) && group.one_term_before && group.one_term_after;
    case StepKind::kReduceScatter:
      return all_equal(group.before) && partition(group.after, group.before[0]) && group.one_term_after;
    case StepKind::kAllReduce:
      return all_equal(group.before) && group.before == group.after && group.one_term_after;
    default:
      return true;
  }
}

}  // namespace

Faults judge_devices(const Mesh& mesh, const Layout& before, const PlanStep& step) {
  std::vector<int> grid;
  for (std::size_t d = 0; d < before.dims.size(); ++d)
    grid.push_back(std::lcm(shard_count(before.dims[d]), shard_count(step.after.dims[d])));
  const Held old = hold(mesh, before, grid), next = hold(mesh, step.after, grid);
  if (step.kind == StepKind::kSlice && !sliced(old, next)) return {"a device keeps what it did not have"};
  if (step.kind == StepKind::kPermute && step.count == 1 && !permuted(old, next))
    return {"blocks are not those that devices held before"};
  for (const std::vector<int>& devices : groups(mesh, step.axes))
    if (!group_fits(step.kind, of(devices, old, next))) return {"the blocks of a group do not fit the step"};
  return {};
}

}  // namespace podsim::testing
