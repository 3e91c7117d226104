// The groups of a scope that slow or missing links hold back most: a step waits for them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "scheduler/placement/place.h"
#include "topology/fabric.h"

namespace podsim {

class SlowestGroups {
 public:
  // The fabric must outlive this. O(links).
  explicit SlowestGroups(const Fabric& fabric);

  // For each kind of link the group whose members together have the slowest links of that kind, and those
  // that have a member with the least bandwidth, on its own links together or above a switch on its way up:
  // of groups whose slowest members have the same places among the ranks the first, and the first eight such.
  // Ascending, each once; the first group alone where all chips have the same. REQUIRES: there are groups.
  // O(members).
  std::vector<std::int32_t> of(const ChipGroups& groups) const;

 private:
  static constexpr std::size_t kKinds = static_cast<std::size_t>(LinkKind::kDcn) + 1;
  using Bandwidths = std::array<double, kKinds>;  // bytes/s by kind; infinite where there is no such link

  Bandwidths above(NodeId node) const;
  void add_slowest(std::size_t kind, const ChipGroups& groups, std::vector<std::int32_t>& found) const;

  const Fabric& fabric_;
  std::vector<Bandwidths> least_;  // [node], from it up
  bool alike_ = true;              // all chips
};

}  // namespace podsim
