// The kinds of network there are, and what each answers for itself.
#pragma once

#include <span>
#include <string>

#include "topology/fabric.h"
#include "topology/fabric_spec.h"

namespace podsim {

// A kind of network, as functions of what is said of one.
struct FabricKind {
  bool (*is)(const FabricSpec& spec) = nullptr;

  // Validity: what keeps it from being built ("lengths must be multiples of 4"), or empty. REQUIRES: the spec
  // has chips, and equal slices.
  std::string (*explain_invalid)(const FabricSpec& spec) = nullptr;

  // Adds nodes and links. REQUIRES: an empty fabric.
  void (*add)(Fabric& fabric, const FabricSpec& spec) = nullptr;

  // Place: lengths of the dimensions on which mesh axes may be laid by the user's choice; none: only by rule.
  std::span<const int> (*dimensions)(const FabricSpec& spec) = nullptr;

  // Cut: why one of several jobs cannot have these chips, or empty; and the network of so many chips.
  std::string (*explain_cut)(const FabricSpec& spec, int first, int chips) = nullptr;
  FabricSpec (*cut)(const FabricSpec& spec, int chips) = nullptr;

  // Rescale: the same with another number of chips, or why not.
  std::string (*resize)(FabricSpec& spec, int chips) = nullptr;
};

extern const FabricKind kTorusPod, kGpuCluster;

// REQUIRES: the spec is of one kind.
const FabricKind& kind_of(const FabricSpec& spec);

// Of how many kinds a spec is: one, where it is right.
int kinds_of(const FabricSpec& spec);

}  // namespace podsim
