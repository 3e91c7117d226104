// The links between switches of a regular tree that hops of rings go over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "collectives/strided_group.h"
#include "topology/regular_tree.h"

namespace podsim {

// Links above switches of one tier, one after the other (of leaves, those of one rail), each of which as many
// hops go over.
struct AlikeTrunks {
  std::size_t tier;       // of the fat-tree, leaves are 0
  bool down;              // to the switch; else from it
  NodeId first;           // switch
  std::int32_t switches;  // RegularTree::Tier::in_set nodes from each to the next
  std::int64_t hops;      // on each link
};

// Counts hops on links. A hop goes up to the lowest switch that is above both of its chips and down again, as
// routes do, so that what counts is whether both are below one switch, tier by tier. In a series of hops at
// equal distances that is so for all but those that leave the last chips below a switch.
class RingTrunks {
 public:
  // Over `both_ways` each hop is made there and back. The tree must outlive this.
  RingTrunks(const RegularTree& tree, bool both_ways) : tree_(tree), both_ways_(both_ways) {}

  // One hop. O(tiers).
  void add(ChipId from, ChipId to);
  // Hops from `from` to `to`, and so on `stride` chips further. O(1) where switches are above whole strides;
  // else O(hops). REQUIRES: from < to <= from + stride, and whole domains are a stride.
  void add_series(ChipId from, ChipId to, std::int32_t hops, ChipId stride);
  // From each member of a domain to the one of its place in the next domain, and from the last domain to the
  // first, where `closes_aside` to the place after that. REQUIRES: the group has `members` in each of its
  // domains, which are several.
  void add_ring(const StridedGroup& group, std::size_t members, bool closes_aside);

  // In as few parts as possible. Leaves none.
  std::vector<AlikeTrunks> take();

 private:
  // From a switch on, all of its tier and rail have as many hops more, in this direction.
  struct Step {
    std::size_t tier;
    bool down;
    std::int32_t rail, at;  // switches of the rail before it
    std::int64_t more;
  };

  void cross(std::size_t t, NodeId first, std::int32_t switches, std::int64_t hops, bool down);
  void add_regular(ChipId from, ChipId to, std::int32_t hops, ChipId stride);

  const RegularTree& tree_;
  bool both_ways_;
  std::vector<Step> steps_;  // in any order
};

}  // namespace podsim
