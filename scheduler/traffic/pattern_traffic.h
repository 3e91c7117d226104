// What a kind of message puts on the links of each form of group.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "engine/sharing.h"
#include "scheduler/lowering/instructions.h"

namespace podsim {

// One phase of one group. Uses are relative to the link that limits the group when it is alone, so that the
// phase takes work_per_byte * bytes of the message / rate of the activity.
struct PhaseTraffic {
  Time latency;
  Ramp ramp;
  double work_per_byte = 0;                // bytes on the limiting link per byte of message
  std::size_t first_use = 0, end_use = 0;  // in PatternTraffic::uses
};

// What one pattern puts on links, for each form of its communicator's groups. Where nothing folds there are a
// million uses, so that they stand in one array.
struct PatternTraffic {
  std::vector<std::size_t> first_phase = {0};  // [form], and the end
  std::vector<PhaseTraffic> phases;
  std::vector<Use> uses;  // resource = place among the links of a group

  std::size_t forms() const { return first_phase.size() - 1; }
  std::span<const PhaseTraffic> of_form(std::size_t form) const {
    return {phases.data() + first_phase[form], phases.data() + first_phase[form + 1]};
  }
  // Empty when there is no work.
  std::span<const Use> of_phase(const PhaseTraffic& phase) const {
    return {uses.data() + phase.first_use, uses.data() + phase.end_use};
  }
};

// One message kind on every group of a communicator; sizes scale it.
struct PlannedCollective {
  int communicator;
  CollectiveKind kind;
  Algorithm algorithm;  // of the groups; each falls back to its best where it does not apply
  Time launch;
};

}  // namespace podsim
