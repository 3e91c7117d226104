// The network as a graph: chips, switches, and directed links with capacity and latency.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/index_iterator.h"
#include "engine/units.h"
#include "topology/fabric_spec.h"
#include "topology/fabric_table.h"
#include "topology/node_link.h"
#include "topology/regular_tree.h"

namespace podsim {

// Where a torus slice lies.
// - Chip of coordinate (x, y, z) = first_chip + x + X * (y + Y * z).
// - Lengths of 1 and 2 never wrap: two chips have one cable.
// - Twist: going past the + end of dimension d adds twist[d][e] to coordinate e; past the - end subtracts it.
struct TorusSlice {
  ChipId first_chip = 0;
  std::array<int, 3> shape = {1, 1, 1};
  std::array<bool, 3> wrap = {false, false, false};
  std::array<std::array<int, 3>, 3> twist = {};
  int cube = 0;  // side of the OCS cubes of which the slice is made or a part; 0 without OCS

  int chips() const { return shape[0] * shape[1] * shape[2]; }
  std::array<int, 3> coordinate(ChipId chip) const;  // REQUIRES: the chip is in this slice
  ChipId chip(std::array<int, 3> at) const;
  // The chip one step along dimension d, direction +1 or -1; -1 where the slice ends there.
  ChipId neighbour(ChipId chip, int d, int direction) const;
  friend bool operator==(const TorusSlice&, const TorusSlice&) = default;
};

// Immutable after build_fabric.
// INVARIANT:
// - Links are sorted by (from, to), at most one for a pair of nodes, each with its reverse.
// - out_first has nodes.size() + 1 entries: the links out of node v are out_first[v] .. out_first[v + 1] - 1.
// - Nodes are sorted by kind, and a switch comes after all that it serves. So the last link out of a node
//   that has anything above it leads up the fat-tree or the DCN; unless individual_switches, it is the only
//   one that does (a GPU's NVLink leads aside).
struct Fabric {
  // Stored, or told by the rule of a regular tree.
  using Nodes = FabricTable<Node, &RegularTree::node, &RegularTree::nodes>;
  using Links = FabricTable<Link, &RegularTree::link, &RegularTree::links>;

  std::string name;
  int chips = 0;
  Nodes nodes;
  Links links;
  FabricTable<LinkId, &RegularTree::first_out, &RegularTree::first_outs> out_first;
  std::vector<TorusSlice> slices;      // empty for a GPU cluster
  int gpus_per_domain = 0;             // NVLink domain of chip c = c / gpus_per_domain; 0 for a torus
  bool nvlink_mesh = false;            // NVLink joins GPUs of a domain pair by pair, without a switch
  bool nvls = false;                   // NVLink switches can reduce
  bool sharp = false;                  // switches of the fat-tree can
  std::vector<ChannelSpec> channels;   // their efficiencies are shares of the links' payload, (0, 1]
  std::optional<LibrarySpec> library;  // likewise
  Time collective_launch;              // fixed cost of starting one collective
  Routing routing = Routing::kAdaptive;
  std::uint64_t routing_seed = 1;
  Transport transport;
  bool individual_switches = false;  // parallel switches are nodes of their own: several links lead up
  bool damaged = false;  // links or switches are missing (topology/failures.h): nothing may count on symmetry

  // Those out of a node, by where they lead, ascending. REQUIRES: a node of this fabric.
  ListRange<Links, Link> out(NodeId node) const {
    return {links.begin() + out_first[node], links.begin() + out_first[node + 1]};
  }
  // Kind, bandwidth and latency of a link, found more quickly than its ends, which say nothing.
  const Link& cable(LinkId link) const {
    const RegularTree* rule = links.rule();
    return rule ? rule->cable(link) : (*links.list())[static_cast<std::size_t>(link)];
  }
  // The rule that tells nodes and links, or nullptr where they are listed.
  const RegularTree* tree() const {
    const bool all = links.rule() == nodes.rule() && links.rule() == out_first.rule();
    return all ? links.rule() : nullptr;
  }
  // The slice of a chip, or nullptr when the fabric has none.
  const TorusSlice* slice_of(ChipId chip) const;
  // The link from -> to, or -1. O(log degree).
  LinkId link_between(NodeId from, NodeId to) const;
  friend bool operator==(const Fabric&, const Fabric&) = default;
};

// "chip 3", "nvswitch 0", "leaf 5", ...; number within its kind.
std::string node_name(const Fabric& fabric, NodeId node);

// REQUIRES: `explain_invalid(spec)` is empty. Throws TooManyChips. O(nodes + links).
Fabric build_fabric(const FabricSpec& spec);

// An equal fabric whose nodes and links are told by arithmetic, where it is so regular; else as build_fabric.
// O(1) then. Whoever changes one of its nodes or links has them all listed, which throws TooManyChips.
Fabric build_fabric_by_rule(const FabricSpec& spec);

// An equal fabric whose nodes and links are listed, for who passes over all of them. Throws TooManyChips.
Fabric listed(Fabric fabric);

// Why this fabric cannot be built ("the pod cannot make a 4x5x8 slice: lengths must be multiples of 4"), or
// empty. Never allocates in proportion to the chip count.
std::string explain_invalid(const FabricSpec& spec);

// A fabric with the bandwidth of some links multiplied. REQUIRES: factor > 0.
struct SlowLink {
  ChipId chip;
  LinkKind kind;  // all links of this kind at the chip, both directions; kIci stands for the optical too
  double factor;
};
Fabric with_slow_links(Fabric fabric, std::span<const SlowLink> slow);

}  // namespace podsim
