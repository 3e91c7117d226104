// Cuts a group at NVLink domains or slices.
#include "collectives/blocks.h"

#include <algorithm>
#include <utility>

namespace podsim {
namespace {

bool has_nvlink(const Fabric& fabric, ChipId chip) {
  return std::ranges::any_of(fabric.out(chip),
                             [](const Link& link) { return link.kind == LinkKind::kNvlink; });
}

int domain_of(const Fabric& fabric, ChipId chip) {
  if (fabric.gpus_per_domain > 0 && fabric.damaged && !has_nvlink(fabric, chip)) return fabric.chips + chip;
  if (fabric.gpus_per_domain > 0) return chip / fabric.gpus_per_domain;
  const TorusSlice* slice = fabric.slice_of(chip);
  return slice == nullptr ? chip : static_cast<int>(slice - fabric.slices.data());
}

struct Member {
  int domain;
  std::size_t seen;  // group position of the member, then of the first one of its domain
  ChipId chip;
};

// Groups mostly come in order, and the largest have 100,000 members.
template <class Key>
void sort_unless_sorted(std::vector<Member>& members, Key&& key) {
  if (!std::ranges::is_sorted(members, {}, key)) std::ranges::sort(members, {}, key);
}

// Of members that ascend.
Blocks cut_in_order(std::span<const ChipId> group, int chips_per_domain) {
  Blocks blocks;
  blocks.chips.assign(group.begin(), group.end());
  const auto spanned = static_cast<std::size_t>(group.back() - group.front());
  blocks.first.reserve(std::min(group.size(), spanned / static_cast<std::size_t>(chips_per_domain) + 2) + 1);
  ChipId end = 0;  // of the domain
  for (std::size_t i = 0; i < group.size(); ++i) {
    if (group[i] < end) continue;
    blocks.first.push_back(i);
    end = (group[i] / chips_per_domain + 1) * chips_per_domain;
  }
  blocks.first.push_back(group.size());
  return blocks;
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

Blocks cut_at_domains(const Fabric& fabric, std::span<const ChipId> group) {
  if (fabric.gpus_per_domain > 0 && !fabric.damaged && std::ranges::is_sorted(group))
    return cut_in_order(group, fabric.gpus_per_domain);
  std::vector<Member> members;
  members.reserve(group.size());
  for (std::size_t i = 0; i < group.size(); ++i)
    members.push_back({domain_of(fabric, group[i]), i, group[i]});
  sort_unless_sorted(members, [](const Member& m) { return std::pair(m.domain, m.seen); });
  for (std::size_t i = 1; i < members.size(); ++i)
    if (members[i].domain == members[i - 1].domain) members[i].seen = members[i - 1].seen;
  sort_unless_sorted(members, [](const Member& m) { return std::pair(m.seen, m.chip); });
  Blocks blocks;
  blocks.chips.reserve(group.size());
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (i == 0 || members[i].seen != members[i - 1].seen) blocks.first.push_back(i);
    blocks.chips.push_back(members[i].chip);
  }
  blocks.first.push_back(group.size());
  return blocks;
}

}  // namespace podsim
