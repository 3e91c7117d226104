// What is missing from a fabric: failed links, switches and optical circuit switches.
#pragma once

#include <array>
#include <span>
#include <string>
#include <variant>

#include "topology/fabric.h"

namespace podsim {

// The cable between two neighbouring nodes, both directions; one cable of a bundle.
struct FailedCable {
  NodeId a, b;
};

// All cables of one kind at a chip, both directions; kIci stands for the optical too.
struct FailedPort {
  ChipId chip;
  LinkKind kind;
};

// A switch with all of its cables; number within its kind, as node_name counts them. Where a node stands for
// parallel switches, one of these: its part of their cables is gone, and the rest shares the traffic evenly.
struct FailedSwitch {
  NodeKind kind;
  int index;
};

// An optical circuit switch of a pod: in every slice, all optical links of `dimension` at one position of the
// cubes' faces. `position` = the other two coordinates modulo the side of a cube, lower dimension first.
struct FailedOcs {
  int dimension;  // 0 = x
  std::array<int, 2> position;
};

using Failure = std::variant<FailedCable, FailedPort, FailedSwitch, FailedOcs>;

// "ocs x (0, 1)", "cable chip 0 - chip 1", "nic of chip 3", "spine 2".
std::string describe(const Fabric& fabric, const Failure& failure);

// Why this cannot fail ("chip 3 has no NIC"), or why the rest would not hang together ("nothing leads from
// chip 3 to chip 4 any more"); empty when it can. Slices must hang together over their ICI alone.
std::string explain_impossible(const Fabric& fabric, std::span<const Failure> failures);

// The fabric without what failed; marked damaged when links are missing, not when they are only narrower.
// Nodes keep their numbers, links do not. REQUIRES: explain_impossible is empty.
Fabric with_failures(Fabric fabric, std::span<const Failure> failures);

}  // namespace podsim
