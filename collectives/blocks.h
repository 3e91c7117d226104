// A group cut at its domains: the NVLink domains of a GPU cluster or the slices of a multislice fabric.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "topology/fabric.h"

namespace podsim {

// Members of a group, domain by domain. Domains come in the order in which the group first names them; inside
// a domain chips ascend, so that members of equal rank in their blocks lie on one rail (or at one coordinate
// of their slices).
struct Blocks {
  std::vector<ChipId> chips;
  std::vector<std::size_t> first;  // blocks + 1 entries; block b = chips[first[b] .. first[b + 1])

  int count() const { return static_cast<int>(first.size()) - 1; }
  std::span<const ChipId> operator[](int b) const {
    return {chips.data() + first[b], chips.data() + first[b + 1]};
  }
  int smallest() const;

  // Chips of a block when there are at least two blocks of that one size and it is at least two; otherwise 0.
  int rails() const;
};

// An NVLink domain or a slice is a domain; in a fabric with neither, each chip is one, and so is a GPU that
// lost its NVLink. O(n log n) in the members, whatever the size of the fabric.
Blocks cut_at_domains(const Fabric& fabric, std::span<const ChipId> group);

}  // namespace podsim
