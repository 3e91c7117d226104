// How a group lies below the switches of a regular tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "collectives/strided_group.h"
#include "topology/regular_tree.h"

namespace podsim {

// Tells the forms of groups, one after the other: equal for groups that send the same over the links at the
// same places, as GroupForms tells them (scheduler/traffic/group_forms.h), by arithmetic. Linear in the
// members.
class TreeForms {
 public:
  // The tree must outlive this.
  explicit TreeForms(const RegularTree& tree) : tree_(tree) {}

  // Valid until the next call. REQUIRES: the group is not empty.
  std::span<const std::int32_t> form_of(std::span<const ChipId> group);
  // The same of a group that is told by its distances, in O(chips of a row + starts, tiers) where its rows
  // lie below a leaf each: to be held only against those of the same group shifted. REQUIRES: starts are
  // whole strides from each other.
  std::span<const std::int32_t> form_of(const StridedGroup& group);

 private:
  // Numbers in the order in which they are met first.
  class Numbers {
   public:
    void clear();
    std::int32_t of(NodeId node);
    const std::vector<NodeId>& seen() const { return seen_; }

   private:
    std::int32_t find(NodeId node) const;  // -1 = it was not met yet

    std::vector<NodeId> seen_;
    bool ascending_ = true;                               // so far, as most groups are
    std::unordered_map<NodeId, std::int32_t> number_of_;  // once they do not ascend
    NodeId last_ = -1;
    std::int32_t last_number_ = 0;
  };

  void add_switches(std::size_t tier);
  void add_row(const StridedGroup& group);
  bool add_borders(std::size_t tier, const StridedGroup& group);

  const RegularTree& tree_;
  Numbers numbers_;
  std::vector<NodeId> below_;  // switches of a tier
  std::vector<std::int32_t> form_;
};

}  // namespace podsim
