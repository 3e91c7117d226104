// Cuts a group at NVLink domains or slices.
#include "collectives/blocks.h"

#include <algorithm>
#include <utility>

namespace podsim {
namespace {

bool has_nvlink(const Fabric& fabric, ChipId chip) {
  const NodeId nvswitch = fabric.chips + chip / fabric.gpus_per_domain;
  return fabric.gpus_per_domain > 1 && fabric.link_between(chip, nvswitch) >= 0;
}

// Below twice the number of chips.
int island_of(const Fabric& fabric, ChipId chip) {
  if (fabric.gpus_per_domain > 0 && fabric.damaged && !has_nvlink(fabric, chip)) return fabric.chips + chip;
  if (fabric.gpus_per_domain > 0) return chip / fabric.gpus_per_domain;
  const TorusSlice* slice = fabric.slice_of(chip);
  return slice == nullptr ? chip : static_cast<int>(slice - fabric.slices.data());
}

}  // namespace

int Blocks::smallest() const {
  std::size_t size = chips.size();
  for (int b = 0; b < count(); ++b) size = std::min(size, (*this)[b].size());
  return static_cast<int>(size);
}

int Blocks::rails() const {
  const int size = smallest();
  const bool equal = static_cast<std::size_t>(size) * count() == chips.size();
  return equal && count() > 1 && size > 1 ? size : 0;
}

Blocks cut_at_islands(const Fabric& fabric, std::span<const ChipId> group) {
  constexpr std::size_t kUnseen = SIZE_MAX;
  std::vector<std::size_t> first_seen(2 * fabric.chips, kUnseen);  // by island, as a group position
  std::vector<std::pair<std::size_t, ChipId>> members;
  members.reserve(group.size());
  for (std::size_t i = 0; i < group.size(); ++i) {
    std::size_t& seen = first_seen[island_of(fabric, group[i])];
    if (seen == kUnseen) seen = i;
    members.push_back({seen, group[i]});
  }
  if (!std::ranges::is_sorted(members)) std::ranges::sort(members);
  Blocks blocks;
  blocks.chips.reserve(group.size());
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (i == 0 || members[i].first != members[i - 1].first) blocks.first.push_back(i);
    blocks.chips.push_back(members[i].second);
  }
  blocks.first.push_back(group.size());
  return blocks;
}

}  // namespace podsim
