// Links of a regular tree by where they lie above the members of a group.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "topology/regular_tree.h"

namespace podsim {

// The first four are links of a member itself; then come, tier by tier, the way up from the switch above it
// and the way down to that.
using TreeWay = std::int32_t;
inline constexpr TreeWay kNvlinkUp = 0, kNvlinkDown = 1, kNicUp = 2, kNicDown = 3, kOwnWays = 4;

struct TreePlace {
  std::int32_t member;
  TreeWay way;
  std::int32_t switches = 1;  // above which it lies, from that one on; of leaves, those of its rail
  bool own() const { return way < kOwnWays; }
};

// The links between switches have numbers of their own: 0 .. trunks - 1.
class TreeTrunks {
 public:
  explicit TreeTrunks(const RegularTree& tree);

  std::int32_t count() const { return count_; }
  std::int32_t above(ChipId chip, TreeWay way) const;  // REQUIRES: a way between switches
  LinkId link(std::int32_t trunk) const;
  std::int32_t of(const TreeLink& link) const;  // REQUIRES: it is above a switch
  // Of the switch that a link leads to from below, or comes from, in the same direction; -1 = none.
  std::int32_t above_link(const TreeLink& link) const;

 private:
  const RegularTree& tree_;
  std::vector<std::int32_t> first_;  // [tier that leads up]
  std::int32_t count_ = 0;
};

constexpr std::size_t tier_of_way(TreeWay way) { return static_cast<std::size_t>((way - kOwnWays) / 2); }
constexpr bool way_leads_down(TreeWay way) { return way % 2 == 1; }
constexpr TreeWay way_of_tier(std::size_t t, bool down) {
  return kOwnWays + 2 * static_cast<TreeWay>(t) + down;
}

// At which way above the chips below it a link lies.
TreeWay way_above(const RegularTree& tree, const TreeLink& link);

// The link at a way above a chip.
LinkId link_above(const RegularTree& tree, ChipId chip, TreeWay way);

// The lowest member of a group below each switch.
class MembersBelow {
 public:
  MembersBelow(const RegularTree& tree, std::span<const ChipId> group);

  std::int32_t member(NodeId of) const;  // REQUIRES: a switch of a tier that leads up, above a member

 private:
  const RegularTree& tree_;
  std::vector<std::int32_t> lowest_;  // [node] from the first leaf on, -1 = none
};

// Where links lie above a group. REQUIRES: each is of a member, or above one.
std::vector<TreePlace> places_of(const RegularTree& tree, std::span<const ChipId> group,
                                 std::span<const LinkId> links);

}  // namespace podsim
