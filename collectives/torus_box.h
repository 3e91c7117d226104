// Groups that fill a sub-box of a torus slice, and the orders in which a multi-ring may pass its dimensions.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "topology/fabric.h"

namespace podsim {

// Chips at regularly spaced coordinates of each dimension: origin, origin + stride, ... A range may lie
// across the wrap of its dimension.
struct TorusBox {
  const TorusSlice* slice;
  std::array<int, 3> origin;
  std::array<int, 3> extent;  // chips in each dimension
  std::array<int, 3> stride = {1, 1, 1};

  // The chip at these positions, each below the extent.
  ChipId chip(const std::array<int, 3>& position) const;
  bool contains(const std::array<int, 3>& at) const;
  bool covers_whole_slice() const { return extent == slice->shape; }
  // Is each dimension covered whole or at one coordinate?
  bool covers_whole_dimensions() const;
  // Do the chips of a dimension lie evenly round its ring?
  bool closes(int d) const;
  bool is_twisted() const;
};

// The box that a group of chips fills in any order, if it does; in a twisted slice only whole dimensions
// count. O(chips).
std::optional<TorusBox> find_torus_box(const Fabric& fabric, std::span<const ChipId> group);

struct BoxLink {
  LinkId link;
  int dimension;
};

// Neighbours whose link is missing, both ways round.
struct BoxGap {
  ChipId from, to;
  int dimension;
};

// The ways between chips of the box that are next to each other in a dimension, ascending. Where the stride
// is more than 1 they pass chips between. O(chips).
struct BoxWays {
  std::vector<BoxLink> links;
  std::vector<BoxGap> gaps;
};
BoxWays box_ways(const Fabric& fabric, const TorusBox& box);

// How the chips that one stage of a multi-ring joins along a dimension are wired.
enum class Closure : std::uint8_t {
  kRing,  // the last is next to the first
  kLine,  // it is not, and links exist only between them; also two chips, which share one cable
  kCut,   // a twist leads from the last to another part of the data: a piece of a longer ring
};

struct TorusStage {
  int dimension;
  int length;  // chips joined
  Closure closure;
  int stride = 1;  // links between one chip and the next
};

// Load on each link of the dimension, in either direction, per byte that a chip holds before a reduce-scatter
// of the stage.
double link_load(const TorusStage& stage);

// Links that one step passes at most: a ring folded on a line skips every other chip.
int links_per_step(const TorusStage& stage);

// The stages of a reduce-scatter over the box for each order of its dimensions of length > 1. Lengths
// multiply to the chips of the box. In a twisted slice, the first dimension has the ring that its links close
// (longer than the side), and later ones join the chips that hold equal parts.
std::vector<std::vector<TorusStage>> stage_orders(const TorusBox& box);

// Load of each order on a link of each dimension, in either direction, per byte of the data. Groups of a mesh
// that lie between the chips of one with a stride are as it is and send over the same links: all of them
// count.
std::vector<std::array<double, 3>> order_loads(const std::vector<std::vector<TorusStage>>& orders);

}  // namespace podsim
