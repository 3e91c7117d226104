// The parts from which build_fabric assembles a fabric; used only inside this folder.
#pragma once

#include <cstdint>

#include "topology/fabric.h"
#include "topology/fabric_spec.h"

namespace podsim {

// Chips must be added first and higher tiers later, kinds in the order of NodeKind: see the invariants of
// Fabric.
NodeId add_node(Fabric& fabric, NodeKind kind, int tier);
void add_chips(Fabric& fabric, int count);  // to a fabric without nodes

// Adds both directions of a cable, or of a bundle of `count` parallel ones (not necessarily whole).
void add_cable(Fabric& fabric, NodeId a, NodeId b, LinkKind kind, const LinkSpec& cable, double count = 1);

// Sorts the links and finds those of each node: the last step, and again after links were taken out. O(nodes
// + links), no sort where they come in order.
void index_links(Fabric& fabric);

// Where the chips from `first_chip` lie as one slice, which dimensions close to a ring, and with which twist.
TorusSlice lay_slice(const TorusSpec& spec, ChipId first_chip);

// Adds the chips and ICI links of all slices. REQUIRES: an empty fabric.
void add_tori(Fabric& fabric, const FabricSpec& spec);

// Adds hosts and the data-centre network above the slices. REQUIRES: add_tori was called.
void add_dcn(Fabric& fabric, const FabricSpec& spec);

// Says how GPUs of a domain are joined, and what switches do.
void set_domains(Fabric& fabric, const GpuClusterSpec& gpu);

// Adds GPUs, NVLink domains and the fat-tree. REQUIRES: an empty fabric.
void add_gpu_cluster(Fabric& fabric, const FabricSpec& spec);

// Tiers above the leaves, and cables to them, where parallel switches are nodes.
struct IndividualTree {
  int tiers = 0;            // built above the leaves
  std::int64_t cables = 0;  // at most INT64_MAX / 2
};
// REQUIRES: the fat-tree can join the GPUs, and the uplinks of all its tiers are whole.
IndividualTree size_individual_tree(const FabricSpec& spec);

// Why a torus pod, or a GPU cluster, cannot be, or empty.
std::string explain_torus(const FabricSpec& spec);
std::string explain_gpu_cluster(const FabricSpec& spec);

// Why the channels cannot be, or empty.
std::string explain_channels(const FabricSpec& spec);

// The channels of a fabric with efficiencies as shares of its links' payload bandwidth. REQUIRES:
// explain_channels is empty.
std::vector<ChannelSpec> channels_of_payload(const FabricSpec& spec);

// Likewise the library of a GPU cluster; it sustains no more than its links carry.
std::optional<LibrarySpec> library_of_payload(const FabricSpec& spec);

}  // namespace podsim
