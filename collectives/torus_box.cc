// Finds the sub-box of a torus slice that a group fills, and walks its rings.
#include "collectives/torus_box.h"

#include <algorithm>
#include <cstddef>

#include "engine/check.h"

namespace podsim {
namespace {

// Chips of the slice that the stages so far join with the lowest corner of the box.
class Joined {
 public:
  explicit Joined(const TorusBox& box) : box_(box), has_(box.slice->chips(), false) {
    add(box.slice->chip(box.origin));
  }

  // Walks from the corner along d until it leaves the box or meets a chip that is joined already, and joins
  // all on the way.
  TorusStage walk(int d) {
    const TorusSlice& slice = *box_.slice;
    const ChipId start = chips_[0];
    int length = 0;
    ChipId at = start;
    do {
      at = slice.neighbour(at, d, +1);
      ++length;
    } while (at >= 0 && box_.contains(slice.coordinate(at)) && !has(at));
    join(d, length);
    const bool closes = at == start && length > 2;
    const bool meets_another_part = at >= 0 && at != start && has(at);
    return {d, length, closes ? Closure::kRing : meets_another_part ? Closure::kCut : Closure::kLine};
  }

 private:
  bool has(ChipId chip) const { return has_[chip - box_.slice->first_chip]; }
  void add(ChipId chip) {
    has_[chip - box_.slice->first_chip] = true;
    chips_.push_back(chip);
  }
  void join(int d, int length) {
    const std::vector<ChipId> before = chips_;
    for (ChipId chip : before)
      for (int step = 1; step < length; ++step) {
        chip = box_.slice->neighbour(chip, d, +1);
        PODSIM_CHECK(chip >= 0 && !has(chip), "the rings of a torus box overlap");
        add(chip);
      }
  }

  const TorusBox& box_;
  std::vector<bool> has_;
  std::vector<ChipId> chips_;
};

bool twists(const TorusSlice& slice) {
  return std::ranges::any_of(slice.twist,
                             [](const std::array<int, 3>& shifts) { return shifts != std::array<int, 3>{}; });
}

TorusStage straight_stage(const TorusBox& box, int d) {
  return {d, box.extent[d], box.closes(d) ? Closure::kRing : Closure::kLine, box.stride[d]};
}

// Ascending by chip where no range lies across a wrap.
template <class Visit>
void for_each_in(const TorusBox& box, Visit&& visit) {
  std::array<int, 3> i;
  for (i[2] = 0; i[2] < box.extent[2]; ++i[2])
    for (i[1] = 0; i[1] < box.extent[1]; ++i[1])
      for (i[0] = 0; i[0] < box.extent[0]; ++i[0]) visit(box.chip(i), i);
}

// Evenly spaced coordinates in one dimension.
struct Range {
  int origin, extent, stride;
};

// The range that the marked coordinates fill, if they do. On a ring it begins after the largest gap.
std::optional<Range> find_range(const std::vector<bool>& marked, bool ring) {
  std::vector<int> at;
  for (int x = 0; x < static_cast<int>(marked.size()); ++x)
    if (marked[x]) at.push_back(x);
  const int count = static_cast<int>(at.size());
  if (count == 1) return Range{at[0], 1, 1};
  std::size_t first = 0;
  if (ring) {
    int largest = at.front() + static_cast<int>(marked.size()) - at.back();
    for (std::size_t i = 1; i < at.size(); ++i)
      if (at[i] - at[i - 1] > largest) {
        largest = at[i] - at[i - 1];
        first = i;
      }
  }
  const auto coordinate = [&](int i) {
    const std::size_t index = first + static_cast<std::size_t>(i);
    return index < at.size() ? at[index] : at[index - at.size()] + static_cast<int>(marked.size());
  };
  const int stride = coordinate(1) - coordinate(0);
  for (int i = 2; i < count; ++i)
    if (coordinate(i) - coordinate(i - 1) != stride) return std::nullopt;
  // A folded ring leaps over two strides; where the other way round the ring is no longer, routes would take
  // it.
  const int length = static_cast<int>(marked.size());
  if (ring && count > 2 && count * stride < length && 4 * stride >= length) return std::nullopt;
  return Range{coordinate(0), count, stride};
}

}  // namespace

ChipId TorusBox::chip(const std::array<int, 3>& position) const {
  std::array<int, 3> at;
  for (int d = 0; d < 3; ++d) at[d] = (origin[d] + position[d] * stride[d]) % slice->shape[d];
  return slice->chip(at);
}

bool TorusBox::contains(const std::array<int, 3>& at) const {
  for (int d = 0; d < 3; ++d) {
    const int length = slice->shape[d], offset = (at[d] - origin[d] + length) % length;
    if (offset % stride[d] != 0 || offset / stride[d] >= extent[d]) return false;
  }
  return true;
}

bool TorusBox::covers_whole_dimensions() const {
  for (int d = 0; d < 3; ++d)
    if (extent[d] != 1 && extent[d] != slice->shape[d]) return false;
  return true;
}

bool TorusBox::closes(int d) const {
  return slice->wrap[d] && extent[d] > 1 && extent[d] * stride[d] == slice->shape[d];
}

bool TorusBox::is_twisted() const {
  for (int d = 0; d < 3; ++d)
    if (extent[d] > 1 && std::ranges::any_of(slice->twist[d], [](int shift) { return shift != 0; }))
      return true;
  return false;
}

std::optional<TorusBox> find_torus_box(const Fabric& fabric, std::span<const ChipId> group) {
  const TorusSlice* slice = fabric.slice_of(group[0]);
  if (slice == nullptr) return std::nullopt;
  std::array<std::vector<bool>, 3> marked;
  for (int d = 0; d < 3; ++d) marked[d].resize(slice->shape[d]);
  for (const ChipId chip : group) {
    if (chip < slice->first_chip || chip >= slice->first_chip + slice->chips()) return std::nullopt;
    const auto at = slice->coordinate(chip);
    for (int d = 0; d < 3; ++d) marked[d][at[d]] = true;
  }
  TorusBox box{slice, {}, {}};
  std::size_t chips = 1;
  for (int d = 0; d < 3; ++d) {
    const auto range = find_range(marked[d], slice->wrap[d]);
    if (!range) return std::nullopt;
    box.origin[d] = range->origin;
    box.extent[d] = range->extent;
    box.stride[d] = range->stride;
    chips *= box.extent[d];
  }
  if (chips != group.size()) return std::nullopt;
  if (twists(*slice) && !box.covers_whole_dimensions()) return std::nullopt;
  return box;
}

BoxWays box_ways(const Fabric& fabric, const TorusBox& box) {
  const TorusSlice& slice = *box.slice;
  const std::array<int, 3> apart = {1, slice.shape[0], slice.shape[0] * slice.shape[1]};  // chip numbers
  const bool twisted = twists(slice);
  BoxWays ways;
  ways.links.reserve(std::size_t{6} * box.extent[0] * box.extent[1] * box.extent[2]);
  const auto walk = [&](ChipId at, int x, int d, int direction) {
    for (int step = 0; step < box.stride[d]; ++step) {
      x += direction;
      const bool wraps = x < 0 || x >= slice.shape[d];
      const ChipId next = wraps ? slice.neighbour(at, d, direction) : at + direction * apart[d];
      if (wraps) x -= direction * slice.shape[d];
      if (!twisted || box.contains(slice.coordinate(next))) {
        const LinkId link = fabric.link_between(at, next);
        if (link >= 0)
          ways.links.push_back({link, d});
        else
          ways.gaps.push_back({at, next, d});
      }
      at = next;
    }
  };
  for_each_in(box, [&](ChipId chip, const std::array<int, 3>& i) {
    const auto first = static_cast<std::ptrdiff_t>(ways.links.size());
    for (int d = 0; d < 3; ++d) {
      if (box.extent[d] == 1) continue;
      const int x = (box.origin[d] + i[d] * box.stride[d]) % slice.shape[d];
      if (i[d] + 1 < box.extent[d] || box.closes(d)) walk(chip, x, d, +1);
      if (i[d] > 0 || box.closes(d)) walk(chip, x, d, -1);
    }
    std::ranges::sort(ways.links.begin() + first, ways.links.end(), {}, &BoxLink::link);
  });
  // Chips come in order, and so do their links, but for boxes with strides or across a wrap.
  if (!std::ranges::is_sorted(ways.links, {}, &BoxLink::link))
    std::ranges::sort(ways.links, {}, &BoxLink::link);
  return ways;
}

double link_load(const TorusStage& stage) {
  const double passed = static_cast<double>(stage.length - 1) / stage.length;
  switch (stage.closure) {
    case Closure::kRing:
      return passed / 2;  // half each way round
    case Closure::kLine:
      return passed;  // a folded ring passes every link once each way
    case Closure::kCut:
      return passed * passed;  // as a line; the data is cut in pieces, and each starts at another chip
  }
  return 0;
}

int links_per_step(const TorusStage& stage) {
  return (stage.closure == Closure::kRing || stage.length == 2 ? 1 : 2) * stage.stride;
}

std::vector<std::vector<TorusStage>> stage_orders(const TorusBox& box) {
  std::vector<int> order;
  for (int d = 0; d < 3; ++d)
    if (box.extent[d] > 1) order.push_back(d);
  const bool twisted = box.is_twisted();
  std::vector<std::vector<TorusStage>> orders;
  do {
    std::vector<TorusStage> stages;
    Joined joined(box);
    for (const int d : order) {
      const TorusStage stage = twisted ? joined.walk(d) : straight_stage(box, d);
      if (stage.length > 1) stages.push_back(stage);
    }
    orders.push_back(std::move(stages));
  } while (std::ranges::next_permutation(order).found);
  return orders;
}

std::vector<std::array<double, 3>> order_loads(const std::vector<std::vector<TorusStage>>& orders) {
  std::vector<std::array<double, 3>> loads;
  for (const auto& stages : orders) {
    std::array<double, 3>& load = loads.emplace_back();
    double held = 1;
    for (const TorusStage& stage : stages) {
      load[stage.dimension] += held * link_load(stage) * stage.stride;
      held /= stage.length;
    }
  }
  return loads;
}

}  // namespace podsim
