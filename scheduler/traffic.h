// Groups of chips and the load each collective puts on links: communicators and their patterns, before any
// folding.
#pragma once

#include <span>
#include <vector>

#include "engine/sharing.h"
#include "scheduler/lower.h"
#include "scheduler/place.h"

namespace podsim {

// All groups of one scope. Point to point: group g holds {source, destination} and every chip is source of at
// most one group and destination of at most one.
struct Communicator {
  Scope scope;
  std::vector<std::vector<ChipId>> groups;
  std::vector<std::int32_t> group_of;              // [chip], point to point: as source; -1 = none
  std::vector<std::int32_t> group_as_destination;  // [chip], point to point only

  bool point_to_point() const { return scope.neighbour != 0; }
};

// One phase of one group. Uses are relative to the link that limits the group when it is alone, so that the
// phase takes work_per_byte * bytes of the message / rate of the activity.
struct PhaseTraffic {
  Time latency;
  Ramp ramp;
  double work_per_byte = 0;  // bytes on the limiting link per byte of message
  std::vector<Use> uses;     // resource = LinkId; empty when there is no work
};

// Traffic of one message kind on every group of a communicator; sizes scale it.
struct Pattern {
  int communicator;
  CollectiveKind kind;
  Algorithm algorithm;  // of the first group; others fall back to their best where it does not apply
  Time launch;
  std::vector<std::vector<PhaseTraffic>> groups;  // [group][phase]
};

struct Traffic {
  std::vector<Communicator> communicators;
  std::vector<Pattern> patterns;
  std::vector<std::int32_t> pattern_of;       // [message]
  std::vector<std::int32_t> communicator_of;  // [message]
};

// The algorithm of a message is the one of least predicted time for the first group at the message's size.
// `jobs` are those that the messages' scopes name; no chip belongs to two of them.
Traffic plan_traffic(const Fabric& fabric, std::span<const LaidMesh> jobs,
                     const std::vector<Message>& messages);

}  // namespace podsim
