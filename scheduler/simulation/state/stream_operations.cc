// Walks every program once.
#include "scheduler/simulation/state/stream_operations.h"

#include <algorithm>

#include "engine/check.h"

namespace podsim {

StreamOperations::StreamOperations(const System& system) : streams_of_(system.step.messages.size(), 0) {
  for (const StageProgram& stage : system.step.stages) list_operations(system, stage);
  assign_rendezvous(system);
}

void StreamOperations::list_operations(const System& system, const StageProgram& stage) {
  Program& program = programs_.emplace_back();
  program.list_of.fill(-1);
  std::array<std::vector<StreamOperation>, kNetworkStreams> launched;
  std::array<bool, kNetworkStreams> used{};
  std::array<std::int32_t, kNetworkStreams> unfinished{}, most_unfinished{};
  const auto slot_of = [&](Stream stream, std::int32_t communicator) {
    for (std::size_t s = 0; s < program.slots.size(); ++s)
      if (program.slots[s].stream == stream && program.slots[s].communicator == communicator)
        return static_cast<std::int32_t>(s);
    program.slots.push_back({stream, communicator, {}});
    return static_cast<std::int32_t>(program.slots.size()) - 1;
  };
  struct LaunchOrWait {
    std::size_t stream;
    StreamOperation launched;  // message -1: a wait
    std::int32_t pending;
  };
  std::vector<std::vector<LaunchOrWait>> segments(stage.segments.size());
  std::vector<bool> met(stage.segments.size(), false);
  const auto meet = [&](std::int32_t segment) {
    for (const Instruction& instruction : stage.segments[segment]) {
      if (copies(instruction.stream)) continue;
      const auto stream = static_cast<std::size_t>(instruction.stream);
      const bool waits = instruction.kind == Instruction::Kind::kWait;
      const bool launches = instruction.kind == Instruction::Kind::kLaunch;
      if (waits || launches || instruction.kind == Instruction::Kind::kReceive) used[stream] = true;
      if (waits) segments[segment].push_back({stream, {-1, -1}, instruction.pending});
      if (!launches) continue;
      streams_of_[instruction.message] |= 1u << stream;
      const std::int32_t slot = slot_of(instruction.stream, system.communicator_of[instruction.message]);
      segments[segment].push_back({stream, {instruction.message, slot}, 0});
    }
  };
  for (const std::int32_t segment : stage.order) {
    if (!met[segment]) meet(segment);
    met[segment] = true;
    for (const LaunchOrWait& each : segments[segment]) {
      std::int32_t& pending = unfinished[each.stream];
      if (each.launched.message < 0) {
        pending = std::min(pending, each.pending);
        continue;
      }
      most_unfinished[each.stream] = std::max(most_unfinished[each.stream], ++pending);
      launched[each.stream].push_back(each.launched);
      program.slots[each.launched.slot].messages.push_back(each.launched.message);
    }
  }
  for (std::size_t stream = 0; stream < launched.size(); ++stream) {
    if (!used[stream]) continue;
    program.list_of[stream] = static_cast<std::int8_t>(program.lists.size());
    program.lists.push_back(
        {static_cast<Stream>(stream), static_cast<std::int32_t>(operations_.size()),
         static_cast<std::int32_t>(launched[stream].size()),
         unfinished[stream] == 0 ? most_unfinished[stream] : StreamList::kManyUnfinished});
    operations_.insert(operations_.end(), launched[stream].begin(), launched[stream].end());
  }
}

// Numbers the rendezvous by group and stream, whichever chip comes first.
void StreamOperations::assign_rendezvous(const System& system) {
  constexpr std::int32_t kUnused = -1, kUsed = 0;
  std::vector<std::int32_t> rendezvous_of(system.groups.size() * kNetworkStreams, kUnused);
  for (const Program& program : programs_) most_slots_ = std::max(most_slots_, program.slots.size());
  rendezvous_at_.resize(system.chips.size() * most_slots_, kUnused);
  for (std::size_t c = 0; c < system.chips.size(); ++c) {
    const std::vector<CommunicatorSlot>& slots = programs_[system.chips[c].program].slots;
    for (std::size_t s = 0; s < slots.size(); ++s) {
      const std::int32_t group = system.chips[c].group_class[slots[s].communicator];
      PODSIM_CHECK(group >= 0, "a chip launches only what its groups do");
      std::int32_t& m = rendezvous_at_[c * most_slots_ + s];
      m = group * kNetworkStreams + static_cast<std::int32_t>(slots[s].stream);
      rendezvous_of[m] = kUsed;
    }
  }
  for (std::size_t m = 0; m < rendezvous_of.size(); ++m) {
    if (rendezvous_of[m] == kUnused) continue;
    rendezvous_of[m] = static_cast<std::int32_t>(all_rendezvous_.size());
    all_rendezvous_.push_back(
        {static_cast<std::int32_t>(m / kNetworkStreams), static_cast<Stream>(m % kNetworkStreams)});
  }
  for (std::size_t c = 0; c < system.chips.size(); ++c)
    for (std::size_t s = 0; s < programs_[system.chips[c].program].slots.size(); ++s) {
      std::int32_t& m = rendezvous_at_[c * most_slots_ + s];
      m = rendezvous_of[m];
      all_rendezvous_[m].program = system.chips[c].program;
      all_rendezvous_[m].slot = static_cast<std::int32_t>(s);
    }
}

}  // namespace podsim
