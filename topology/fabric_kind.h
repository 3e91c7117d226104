// The kinds of network there are, and what each answers for itself.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "topology/fabric.h"
#include "topology/fabric_spec.h"

namespace podsim {

// Cables that lead out of chips.
struct CableClass {
  LinkKind kind;
  const LinkSpec* cable;
  bool used = true;  // false: the network is too small to need them
};

// What of a network is taken out and replaced as one.
struct ReplaceableUnit {
  std::string name;  // "cube", "NVLink domain", "host"
  int hosts = 1;
  int side = 0;             // chips along the side of a cube; 0 without optical switches
  int dimensions = 0;       // of a cube
  int face_chips = 0;       // of a face of it
  int in_pod = 0;           // blocks of the pod that a slice is made of; 0 = not said
  bool any_blocks = false;  // a slice can be made of any of them
  bool any_hosts = false;   // likewise
};

// Chips that stop together when a part fails; 0: this network has no such part.
struct FailureDomain {
  std::string_view name;  // as FailureRate.domain spells it
  int chips;
};

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

  // Links: what leads out of chips, and chips that reach each other without the network between servers or
  // slices.
  std::vector<CableClass> (*cables)(const FabricSpec& spec) = nullptr;
  int (*joined_chips)(const FabricSpec& spec) = nullptr;

  // Jitter: chips whose hosts wait for each other in any case, so that one more of these is one more to wait
  // for.
  int (*chips_in_step)(const FabricSpec& spec) = nullptr;

  // Failures: what is replaced, what stops together, and the numbers of the blocks that have failed; null
  // where any others serve.
  ReplaceableUnit (*block)(const FabricSpec& spec) = nullptr;
  std::vector<FailureDomain> (*failure_domains)(const FabricSpec& spec) = nullptr;
  std::vector<int>* (*failed_blocks)(FabricSpec& spec) = nullptr;
};

extern const FabricKind kTorusPod, kGpuCluster;

// REQUIRES: the spec is of one kind.
const FabricKind& kind_of(const FabricSpec& spec);

// Of how many kinds a spec is: one, where it is right.
int kinds_of(const FabricSpec& spec);

}  // namespace podsim
