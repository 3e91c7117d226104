// The switches of a regular tree above chips at equal distances, by runs of switches that are alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "topology/regular_tree.h"

namespace podsim {

// Switches of one tier, one after the other: of leaves, those of one rail. Above each are as many of the
// chips.
struct SwitchRun {
  NodeId first;
  std::int32_t switches;
  std::int32_t chips;
};

// Those of tier t above `count` chips from `first` on, `stride` apart, in order. O(1) where switches of the
// tier are above whole strides; else O(count). REQUIRES: whole domains are a stride, and the tree has the
// chips.
std::vector<SwitchRun> switches_above(const RegularTree& tree, std::size_t t, ChipId first,
                                      std::int32_t count, ChipId stride);

}  // namespace podsim
