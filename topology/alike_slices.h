// Slices of one fabric that are alike: what the links of one carry tells what all carry.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "topology/fabric.h"

namespace podsim {

class AlikeSlices {
 public:
  // Nothing where there is one slice only, where routes depend on the numbers of chips, or where anything in
  // a slice or above it differs from the first. The fabric must outlive the result. O(nodes + links).
  static std::optional<AlikeSlices> of(const Fabric& fabric);

  // The link at the same place in the first slice. Those between a slice and the core of the DCN are of the
  // slice.
  LinkId in_first(LinkId link) const;

  // Of a group that goes on alike from slice to slice: its members in its first slice. Otherwise all.
  std::size_t ranks_in_first(std::span<const ChipId> group) const;

 private:
  explicit AlikeSlices(const Fabric& fabric);
  NodeId in_first_slice(NodeId node) const;
  bool alike() const;

  const Fabric* fabric_;
  int slice_chips_;
  NodeId hosts_, first_switch_, core_;  // hosts of a slice; the first slice's switch; the core of the DCN
};

}  // namespace podsim
