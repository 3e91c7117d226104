// Walks every segment once, and joins what they put on streams in the order of the program.
#include "scheduler/simulation/state/stream_operations.h"

#include <algorithm>
#include <map>
#include <utility>

#include "engine/check.h"

namespace podsim {

StreamOperations::StreamOperations(const System& system) : streams_of_(system.step.messages.size(), 0) {
  for (const StageProgram& stage : system.step.stages) add_program(system, stage);
  assign_rendezvous(system);
}

void StreamOperations::add_program(const System& system, const StageProgram& stage) {
  Program& program = programs_.emplace_back();
  program.order = stage.order;
  program.list_of.fill(-1);
  std::array<bool, kNetworkStreams> used{};
  std::vector<SegmentOperations> segments(stage.segments.size());
  std::vector<std::int64_t> times(stage.segments.size(), 0);
  for (const std::int32_t segment : stage.order)
    if (times[segment]++ == 0)
      segments[segment] = operations_of(system, stage.segments[segment], program, used);
  const Unfinished unfinished = count_unfinished(stage.order, segments);
  for (std::size_t stream = 0; stream < used.size(); ++stream) {
    if (!used[stream]) continue;
    program.list_of[stream] = static_cast<std::int8_t>(program.lists.size());
    std::int64_t count = 0;
    for (std::size_t s = 0; s < segments.size(); ++s)
      count += times[s] * std::ssize(segments[s].launched[stream]);
    program.lists.push_back(
        {static_cast<Stream>(stream), count_, static_cast<std::int32_t>(count),
         unfinished.left[stream] == 0 ? unfinished.most[stream] : StreamList::kManyUnfinished});
    count_ += static_cast<std::int32_t>(count);
  }
  for (SegmentOperations& segment : segments) {
    program.launched.push_back(std::move(segment.launched));
    program.messages.push_back(std::move(segment.messages));
  }
  count_messages(times, program);
}

void StreamOperations::list_operations() {
  if (!operations_.empty() || count_ == 0) return;
  operations_.reserve(static_cast<std::size_t>(count_));
  for (const Program& program : programs_)
    for (const StreamList& list : program.lists) {
      const auto stream = static_cast<std::size_t>(list.stream);
      for (const std::int32_t segment : program.order) {
        const std::vector<StreamOperation>& launched = program.launched[segment][stream];
        operations_.insert(operations_.end(), launched.begin(), launched.end());
      }
    }
}

// `times`: [segment] in the order.
void StreamOperations::count_messages(std::span<const std::int64_t> times, Program& program) {
  std::vector<std::map<std::int32_t, std::int64_t>> counts(program.slots.size());
  for (std::size_t s = 0; s < times.size(); ++s)
    for (const auto& [slot, messages] : program.messages[s])
      for (const std::int32_t message : messages) counts[slot][message] += times[s];
  for (std::size_t slot = 0; slot < counts.size(); ++slot)
    program.slots[slot].counts.assign(counts[slot].begin(), counts[slot].end());
}

std::vector<std::int32_t> StreamOperations::messages_of(const Rendezvous& rendezvous) const {
  const Program& program = programs_[rendezvous.program];
  std::vector<std::int32_t> all;
  for (const std::int32_t segment : program.order)
    for (const auto& [slot, messages] : program.messages[segment])
      if (slot == rendezvous.slot) all.insert(all.end(), messages.begin(), messages.end());
  return all;
}

StreamOperations::SegmentOperations StreamOperations::operations_of(const System& system,
                                                                    const std::vector<Instruction>& segment,
                                                                    Program& program,
                                                                    std::array<bool, kNetworkStreams>& used) {
  SegmentOperations found;
  for (const Instruction& instruction : segment) {
    if (copies(instruction.stream)) continue;
    const auto stream = static_cast<std::size_t>(instruction.stream);
    const bool waits = instruction.kind == Instruction::Kind::kWait;
    const bool launches = instruction.kind == Instruction::Kind::kLaunch;
    if (waits || launches || instruction.kind == Instruction::Kind::kReceive) used[stream] = true;
    if (waits) found.launches_and_waits[stream].push_back(instruction.pending);
    if (!launches) continue;
    found.launches_and_waits[stream].push_back(SegmentOperations::kLaunch);
    streams_of_[instruction.message] |= 1u << stream;
    const std::int32_t slot =
        program.slot_of(instruction.stream, system.communicator_of[instruction.message]);
    found.launched[stream].push_back({instruction.message, slot});
    const auto of_slot =
        std::ranges::find(found.messages, slot, &std::pair<std::int32_t, std::vector<std::int32_t>>::first);
    if (of_slot != found.messages.end()) {
      of_slot->second.push_back(instruction.message);
    } else {
      found.messages.push_back({slot, {instruction.message}});
    }
  }
  return found;
}

// What a segment leaves unfinished follows from what it begins with, which is the same most often.
StreamOperations::Unfinished StreamOperations::count_unfinished(std::span<const std::int32_t> order,
                                                                std::span<const SegmentOperations> segments) {
  struct Passage {
    std::int32_t before = -1, after = -1;
  };
  std::vector<std::array<Passage, kNetworkStreams>> last(segments.size());
  Unfinished unfinished;
  for (const std::int32_t segment : order)
    for (std::size_t stream = 0; stream < kNetworkStreams; ++stream) {
      const std::vector<std::int32_t>& launches_and_waits = segments[segment].launches_and_waits[stream];
      if (launches_and_waits.empty()) continue;
      std::int32_t& left = unfinished.left[stream];
      Passage& passage = last[segment][stream];
      if (passage.before != left) {
        passage.before = left;
        for (const std::int32_t pending : launches_and_waits) {
          left = pending == SegmentOperations::kLaunch ? left + 1 : std::min(left, pending);
          unfinished.most[stream] = std::max(unfinished.most[stream], left);
        }
        passage.after = left;
      }
      left = passage.after;
    }
  return unfinished;
}

std::int32_t StreamOperations::Program::slot_of(Stream stream, std::int32_t communicator) {
  const auto known = std::ranges::find_if(slots, [&](const CommunicatorSlot& slot) {
    return slot.stream == stream && slot.communicator == communicator;
  });
  if (known == slots.end()) {
    slots.push_back({stream, communicator});
    return static_cast<std::int32_t>(slots.size()) - 1;
  }
  return static_cast<std::int32_t>(known - slots.begin());
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
