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

// The chips one step along each dimension, forward and back; -1 where a step leaves the box or the dimension
// is not in it.
std::array<ChipId, 6> neighbours_in_box(const TorusBox& box, const std::array<int, 3>& at) {
  const TorusSlice& slice = *box.slice;
  const std::array<int, 3> stride = {1, slice.shape[0], slice.shape[0] * slice.shape[1]};
  const ChipId chip = slice.chip(at);
  std::array<ChipId, 6> next;
  next.fill(-1);
  for (int d = 0; d < 3; ++d) {
    if (box.extent[d] == 1) continue;
    for (const int direction : {+1, -1}) {
      const int beyond = at[d] + direction;
      ChipId& to = next[2 * d + (direction < 0)];
      const bool inside = beyond >= 0 && beyond < slice.shape[d];
      to = inside ? chip + direction * stride[d] : slice.neighbour(chip, d, direction);
      if (!inside && to >= 0 && !box.contains(slice.coordinate(to))) to = -1;
    }
  }
  return next;
}

// Ascending by chip.
template <class Visit>
void for_each_in(const TorusBox& box, Visit&& visit) {
  const auto& [x0, y0, z0] = box.origin;
  const auto& [nx, ny, nz] = box.extent;
  std::array<int, 3> at;
  for (at[2] = z0; at[2] < z0 + nz; ++at[2])
    for (at[1] = y0; at[1] < y0 + ny; ++at[1])
      for (at[0] = x0; at[0] < x0 + nx; ++at[0]) visit(at);
}

TorusStage straight_stage(const TorusBox& box, int d) {
  const bool ring = box.slice->wrap[d] && box.extent[d] > 2;
  return {d, box.extent[d], ring ? Closure::kRing : Closure::kLine};
}

}  // namespace

bool TorusBox::contains(const std::array<int, 3>& at) const {
  for (int d = 0; d < 3; ++d)
    if (at[d] < origin[d] || at[d] >= origin[d] + extent[d]) return false;
  return true;
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
  std::array<int, 3> low = slice->coordinate(group[0]);
  std::array<int, 3> high = low;
  for (const ChipId chip : group) {
    if (chip < slice->first_chip || chip >= slice->first_chip + slice->chips()) return std::nullopt;
    const auto at = slice->coordinate(chip);
    for (int d = 0; d < 3; ++d) {
      low[d] = std::min(low[d], at[d]);
      high[d] = std::max(high[d], at[d]);
    }
  }
  TorusBox box{slice, low, {}};
  std::size_t chips = 1;
  for (int d = 0; d < 3; ++d) {
    box.extent[d] = high[d] - low[d] + 1;
    if (box.extent[d] != 1 && box.extent[d] != slice->shape[d]) return std::nullopt;
    chips *= box.extent[d];
  }
  if (chips != group.size()) return std::nullopt;
  return box;
}

std::vector<BoxLink> box_links(const Fabric& fabric, const TorusBox& box) {
  std::vector<BoxLink> links;
  links.reserve(std::size_t{6} * box.extent[0] * box.extent[1] * box.extent[2]);
  for_each_in(box, [&](const std::array<int, 3>& at) {
    const auto next = neighbours_in_box(box, at);
    const ChipId chip = box.slice->chip(at);
    for (LinkId link = fabric.out_first[chip]; link < fabric.out_first[chip + 1]; ++link) {
      const auto found = std::ranges::find(next, fabric.links[link].to);
      if (found != next.end()) links.push_back({link, static_cast<int>(found - next.begin()) / 2});
    }
  });
  return links;
}

std::vector<BoxGap> box_gaps(const Fabric& fabric, const TorusBox& box) {
  std::vector<BoxGap> gaps;
  if (!fabric.damaged) return gaps;
  for_each_in(box, [&](const std::array<int, 3>& at) {
    const auto next = neighbours_in_box(box, at);
    const ChipId chip = box.slice->chip(at);
    for (int way = 0; way < 6; ++way)
      if (next[way] >= 0 && fabric.link_between(chip, next[way]) < 0)
        gaps.push_back({chip, next[way], way / 2});
  });
  return gaps;
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
  return stage.closure == Closure::kRing || stage.length == 2 ? 1 : 2;
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

}  // namespace podsim
