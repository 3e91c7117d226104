// Nodes and links of a network: chips, switches, and directed cables with capacity and latency.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/units.h"

namespace podsim {

using NodeId = std::int32_t;  // index into Fabric::nodes; chips come first, so a ChipId is a NodeId
using ChipId = std::int32_t;  // 0 .. chips-1
using LinkId = std::int32_t;  // index into Fabric::links

enum class NodeKind : std::uint8_t { kChip, kNvSwitch, kLeaf, kSpine, kCore, kHost, kDcn };
enum class LinkKind : std::uint8_t { kIci, kIciOptical, kNvlink, kNic, kTrunk, kPcie, kDcn };
std::string_view to_string(NodeKind kind);
std::string_view to_string(LinkKind kind);

struct Node {
  NodeKind kind;
  std::int8_t tier;           // 0 = chip; a switch is one above the highest thing it serves
  std::int32_t parallel = 1;  // equal switches that this node stands for
  friend bool operator==(const Node&, const Node&) = default;
};

// One direction of a cable, or of a bundle of parallel equal cables that share traffic evenly.
struct Link {
  NodeId from, to;
  LinkKind kind;
  Bandwidth bandwidth;  // payload: nominal * efficiency, this direction
  Time latency;         // one way
  friend bool operator==(const Link&, const Link&) = default;
};

// Whether the link is of the kind; links between cubes are ICI links to whoever says "this chip's ICI is
// slow".
bool is_of_kind(const Link& link, LinkKind kind);

// Links that chips reach through a NIC, where libraries reach a share of the rate.
constexpr bool is_between_servers(LinkKind kind) {
  return kind == LinkKind::kNic || kind == LinkKind::kTrunk;
}

}  // namespace podsim
