// Parts of a fabric that may be slow or busy by themselves, and the domains that they have in common.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "topology/fabric.h"

namespace podsim {

// What computes: a chip, a host with all its chips. What carries: all links of one kind at a chip, the DCN
// link of a host, all links of a switch, or those that lead up from it; always both directions.
enum class PartKind : std::uint8_t {
  kChip,
  kHost,
  kNic,
  kNvlink,
  kIci,
  kDcn,
  kNvSwitch,
  kLeaf,
  kLeafUplink,
  kSpine,
  kSpineUplink,
  kCore
};
inline constexpr int kPartKinds = 12;
std::string_view to_string(PartKind kind);  // "chip", "leaf_uplink", ...

inline bool computes(PartKind kind) { return kind == PartKind::kChip || kind == PartKind::kHost; }
inline bool is_switch(PartKind kind) { return kind >= PartKind::kNvSwitch; }

// What fails together is slow together: a host (or a compute tray), an NVLink domain (a rack of 72), a cube
// of an OCS pod, the chips below one leaf, a slice, or everything.
enum class Domain : std::uint8_t { kNone, kHost, kNvlinkDomain, kCube, kLeaf, kSlice, kAll };
inline constexpr int kDomains = 7;
std::string_view to_string(Domain domain);  // "host", "nvlink_domain", ...

// Hosts before the network is built, as Parts numbers them: the last of a slice, or of a cluster, may have
// fewer chips.
int host_of(const FabricSpec& spec, ChipId chip);
int host_count(const FabricSpec& spec);
std::vector<ChipId> chips_of_host(const FabricSpec& spec, int host);

class Parts {
 public:
  // Hosts are `chips_per_host` consecutive chips of a slice or of a cluster. REQUIRES: the fabric outlives
  // this object.
  Parts(const Fabric& fabric, int chips_per_host);

  int count(PartKind kind) const;  // 0 where the fabric has none

  // Parts of switches count within their kind (node_name), hosts from 0, the others as their chips.
  std::vector<ChipId> chips(PartKind kind, int number) const;  // of a host or chip; none of a switch
  std::vector<LinkId> links(PartKind kind, int number) const;  // ascending; none of what computes

  // Whether the fabric has such domains, and the one of a part: of a switch only kAll.
  bool has(Domain domain) const;
  int domain_of(Domain domain, PartKind kind, int number) const;

 private:
  ChipId first_chip(PartKind kind, int number) const;
  int host_of(ChipId chip) const;
  int cube_of(ChipId chip) const;
  void add_links_of(NodeId node, LinkKind kind, std::vector<LinkId>& links) const;
  void add_links_up(NodeId node, bool all, std::vector<LinkId>& links) const;
  NodeId switch_node(PartKind kind, int number) const;

  const Fabric& fabric_;
  int chips_per_host_, slice_chips_, hosts_per_slice_;
};

}  // namespace podsim
