// The form in which a group lies on a network of switches: groups of one form send the same over the links at
// the same places.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topology/fabric.h"

namespace podsim {

// Where a link is among the nodes of a group: a way out of one of them, or the other direction of that cable.
struct LinkPlace {
  std::int32_t node;   // whose link it is, by its number among them
  std::int32_t way;    // number of the link among those out of that node
  bool comes = false;  // the cable's other direction: into the node
};

// A group has the nodes of its members and of all switches above them, tier by tier up to the first tier
// where one is above all. Two groups have the same form when they are the same but for the numbers of their
// nodes: members as far from each other, equal switches and cables, members below the same one or not. What
// is planned for one is planned for the other over the links at the same places, to the last bit: routes
// climb no higher, and plans ask of chips only how they lie to each other.
class GroupForms {
 public:
  // Where nothing is missing, no routes are chosen by number, and there are no slices.
  static bool tell(const Fabric& fabric);

  // REQUIRES: tell(fabric). The fabric must outlive this. O(nodes + links).
  explicit GroupForms(const Fabric& fabric);

  // Looks at a group; what follows is of the group that was looked at last. O(members, tiers).
  void look(std::span<const ChipId> group);

  // Equal for groups of one form, different for others.
  const std::vector<std::int32_t>& form() const { return form_; }

  // REQUIRES: both ends of the link are nodes of the group.
  LinkPlace place_of(LinkId link) const;
  LinkId at(const LinkPlace& place) const {
    const LinkId out = fabric_.out_first[nodes_[place.node]] + place.way;
    return place.comes ? reverse_[out] : out;
  }

 private:
  // Together, because a way that leads to a node asks for all of it.
  struct Standing {
    std::int32_t sort;       // nodes of the same number have equal cables and are equal
    std::int32_t group = 0;  // that has it, by the number of looks
    std::int32_t place = 0;  // in nodes_
    std::int32_t tier;
  };

  void sort_nodes();
  void add_ways_up(std::int32_t tier, LinkId first, LinkId end);

  const Fabric& fabric_;
  std::vector<LinkId> reverse_;     // [link] the other direction of its cable
  std::vector<Standing> standing_;  // [node]
  std::int32_t looks_ = 0;
  std::vector<NodeId> nodes_;
  std::vector<std::int32_t> form_;
};

}  // namespace podsim
