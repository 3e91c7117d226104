// NVLink domains below a fat-tree whose switches are all full but the last of each tier: its nodes and links
// by arithmetic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "topology/fabric_spec.h"
#include "topology/node_link.h"

namespace podsim {

// Where a link lies: above a chip or a switch, whose NVLink it may be, and whether it leads down to that.
struct TreeLink {
  NodeId below;
  bool nvlink, down;
};

// Tells the nodes and links that build_fabric(spec) lists, by the same numbers, and takes no room for them.
class RegularTree {
 public:
  // Switches that serve as many things below, but for the last. Those of the rails of a scalable unit are a
  // set: they serve the same domains.
  struct Tier {
    NodeKind kind = NodeKind::kLeaf;
    std::int32_t parallel = 1;
    NodeId first = 0;
    std::int32_t switches = 0;
    std::int32_t in_set = 1;
    std::int32_t below = 0;       // links down of a switch
    std::int32_t below_last = 0;  // of one of the last set
    bool leads_up = false;
    LinkId first_link = 0;
    Link up = {};  // the cable up; its ends say nothing
  };

  // Where domains have switches and are all full, one does not hold all chips, and one node stands for all
  // parallel switches of the tree.
  static bool tells(const FabricSpec& spec);
  // Nothing where it does not tell the spec.
  static std::optional<RegularTree> of(const FabricSpec& spec);

  std::int32_t nodes() const { return nodes_; }
  std::int32_t links() const { return links_; }
  std::int32_t first_outs() const { return nodes_ + 1; }
  Node node(std::size_t number) const;
  Link link(std::size_t number) const;
  LinkId first_out(std::size_t number) const;  // all links for one past the last node

  std::int32_t chips() const { return chips_; }
  std::int32_t domain() const { return domain_; }
  std::size_t tiers() const { return tiers_.size() - first_tier_; }  // of the fat-tree
  // Of the fat-tree, leaves first.
  const Tier& tier(std::size_t t) const { return tiers_[first_tier_ + t]; }
  std::int32_t chips_below_leaves() const { return leaf_chips_; }  // those of one set of leaves
  // Whether the leaves of a set are below the same switches, so that its rails are alike.
  bool rails_stay_together() const;
  // Chips below a switch of tier t, where it is full; of leaves, below their set. REQUIRES: rails stay
  // together.
  std::int64_t chips_below(std::size_t t) const;
  NodeId above(std::size_t t, ChipId chip) const;  // the switch of that tier
  // The switch above one of tier t. REQUIRES: the tier leads up.
  NodeId parent(std::size_t t, NodeId of) const {
    return tier(t + 1).first + (of - tier(t).first) / tier(t + 1).below;
  }

  // Whether every switch has as much above it as below, so that no link between switches is ever fuller than
  // those below it.
  bool trunks_are_wide() const;

  // Links of a chip: to its NVLink switch and to its leaf, and back.
  LinkId nvlink_up(ChipId chip) const { return ways_ * chip; }  // REQUIRES: domain() > 1
  LinkId nvlink_down(ChipId chip) const { return tiers_.front().first_link + chip; }  // likewise
  LinkId nic_up(ChipId chip) const { return ways_ * chip + ways_ - 1; }               // the last of its links
  LinkId nic_down(ChipId chip) const;
  // Links between a switch and the one above it. REQUIRES: the tier leads up.
  LinkId trunk_up(std::size_t t, NodeId of) const;
  LinkId trunk_down(std::size_t t, NodeId of) const;

  // Kind, bandwidth and latency of a link; its ends say nothing.
  const Link& cable(LinkId link) const;

  TreeLink place(LinkId link) const;  // where it lies

  // Visits the links of the route between two chips (topology/route.h), in no order, and returns its latency.
  template <class Visit>
  Time route(ChipId from, ChipId to, Visit&& visit) const;

 private:
  LinkId first_out_of(const Tier& tier, std::int32_t of) const;  // switch of the tier, from 0
  std::int32_t switch_of_link(const Tier& tier, LinkId from_first) const;
  NodeId below(std::size_t all, std::int32_t of, std::int32_t way) const;  // of a tier in tiers_
  const Tier& tier_of_node(NodeId node) const;                             // REQUIRES: a switch

  std::int32_t chips_ = 0;
  std::int32_t domain_ = 1;      // chips of an NVLink domain
  std::int32_t leaf_chips_ = 0;  // below a set of leaves
  std::int32_t ways_ = 1;        // links out of a chip
  std::size_t first_tier_ = 0;   // of the fat-tree in tiers_
  bool rails_ = false;           // each chip of a domain on a leaf of its own
  NodeId nodes_ = 0;
  LinkId links_ = 0;
  Link nvlink_ = {}, nic_ = {};  // cables; their ends say nothing
  std::vector<Tier> tiers_;      // NVLink switches where there are any, and the fat-tree
};

template <class Visit>
Time RegularTree::route(ChipId from, ChipId to, Visit&& visit) const {
  if (from == to) return {};
  // Within a domain over its NVLink switch.
  if (domain_ > 1 && from / domain_ == to / domain_) {
    visit(nvlink_up(from));
    visit(nvlink_down(to));
    return nvlink_.latency + nvlink_.latency;
  }
  // Else tier by tier up to the lowest switch that is above both.
  visit(nic_up(from));
  visit(nic_down(to));
  Time one_way = nic_.latency;
  NodeId a = above(0, from), b = above(0, to);
  for (std::size_t t = 0; a != b; ++t) {
    visit(trunk_up(t, a));
    visit(trunk_down(t, b));
    one_way += tier(t).up.latency;
    a = parent(t, a);
    b = parent(t, b);
  }
  return one_way + one_way;
}

}  // namespace podsim
