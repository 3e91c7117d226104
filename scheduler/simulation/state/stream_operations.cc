// Walks every segment once, and joins what they put on streams in the order of the program.
#include "scheduler/simulation/state/stream_operations.h"

#include <algorithm>
#include <utility>

#include "engine/check.h"

namespace podsim {
namespace {

// What a segment launches on a stream and what of it it waits for, in order. What that leaves unfinished
// follows from what it begins with, which is the same most often.
class StreamPassage {
 public:
  explicit StreamPassage(std::size_t stream) : stream_(stream) {}

  std::size_t stream() const { return stream_; }
  void add(const Instruction& each) {
    launches_and_waits_.push_back(each.kind == Instruction::Kind::kLaunch ? kLaunch : each.pending);
  }
  // From what is unfinished at the begin to what is at the end; `most` at once.
  void pass(std::int32_t& left, std::int32_t& most) {
    if (before_ != left) {
      before_ = left;
      for (const std::int32_t pending : launches_and_waits_) {
        left = pending == kLaunch ? left + 1 : std::min(left, pending);
        most = std::max(most, left);
      }
      after_ = left;
    }
    left = after_;
  }

 private:
  static constexpr std::int32_t kLaunch = -1;
  std::size_t stream_;
  std::vector<std::int32_t> launches_and_waits_;  // kLaunch, or how many may be unfinished behind the wait
  std::int32_t before_ = -1, after_ = -1;
};

// Of the streams that the segment launches on or waits for.
std::vector<StreamPassage> passages_of(std::span<const Instruction> segment) {
  std::array<std::int32_t, kStreams> place;
  place.fill(-1);
  std::vector<StreamPassage> found;
  for (const Instruction& each : segment) {
    if (each.kind != Instruction::Kind::kLaunch && each.kind != Instruction::Kind::kWait) continue;
    if (copies(each.stream)) continue;
    std::int32_t& known = place[static_cast<std::size_t>(each.stream)];
    if (known < 0) {
      known = static_cast<std::int32_t>(found.size());
      found.emplace_back(static_cast<std::size_t>(each.stream));
    }
    found[static_cast<std::size_t>(known)].add(each);
  }
  return found;
}

}  // namespace

StreamOperations::StreamOperations(const System& system) : system_(system) {
  for (const StageProgram& stage : system.step.stages) add_program(stage);
  assign_rendezvous(system);
}

void StreamOperations::add_program(const StageProgram& stage) {
  Program& program = programs_.emplace_back();
  program.stage = &stage;
  program.list_of.fill(-1);
  std::vector<std::int64_t> times(stage.segments.size(), 0);
  std::vector<std::int32_t> segments;  // each once, in their order
  for (const std::int32_t segment : stage.order)
    if (times[segment]++ == 0) segments.push_back(segment);
  Launches launches;
  launches.times.resize(system_.step.messages.size());
  for (const std::int32_t segment : segments)
    count_launches(stage.segments[segment], times[segment], program, launches);
  const Unfinished unfinished = count_unfinished(stage);
  for (std::size_t stream = 0; stream < launches.used.size(); ++stream) {
    if (!launches.used[stream]) continue;
    program.list_of[stream] = static_cast<std::int8_t>(program.lists.size());
    std::int64_t count = 0;
    for (const auto& of_message : launches.times) count += of_message[stream];
    program.lists.push_back(
        {static_cast<Stream>(stream), count_, static_cast<std::int32_t>(count),
         unfinished.left[stream] == 0 ? unfinished.most[stream] : StreamList::kManyUnfinished});
    count_ += static_cast<std::int32_t>(count);
  }
  list_counts(launches, program);
}

// Of a segment that comes so often in a step.
void StreamOperations::count_launches(std::span<const Instruction> segment, std::int64_t times,
                                      Program& program, Launches& launches) {
  for (const Instruction& each : segment) {
    if (copies(each.stream)) continue;
    const auto stream = static_cast<std::size_t>(each.stream);
    if (each.kind == Instruction::Kind::kWait || each.kind == Instruction::Kind::kReceive)
      launches.used[stream] = true;
    if (each.kind != Instruction::Kind::kLaunch) continue;
    launches.used[stream] = true;
    std::int64_t& known = launches.times[static_cast<std::size_t>(each.message)][stream];
    if (known == 0) {
      const std::int32_t communicator = system_.communicator_of[each.message];
      if (program.slot_of(each.stream, communicator) < 0)
        program.slots.push_back({each.stream, communicator});
    }
    known += times;
  }
}

void StreamOperations::list_counts(const Launches& launches, Program& program) const {
  for (std::size_t message = 0; message < launches.times.size(); ++message)
    for (std::size_t stream = 0; stream < kNetworkStreams; ++stream) {
      const std::int64_t times = launches.times[message][stream];
      if (times == 0) continue;
      const std::int32_t slot =
          program.slot_of(static_cast<Stream>(stream), system_.communicator_of[message]);
      program.slots[static_cast<std::size_t>(slot)].counts.emplace_back(message, times);
    }
}

void StreamOperations::list_operations() {
  if (!operations_.empty() || count_ == 0) return;
  operations_.reserve(static_cast<std::size_t>(count_));
  for (const Program& program : programs_) {
    const std::vector<std::vector<Instruction>>& segments = program.stage->segments;
    for (const StreamList& list : program.lists) {
      std::vector<std::vector<StreamOperation>> launched(segments.size());
      for (std::size_t s = 0; s < segments.size(); ++s)
        for (const Instruction& each : segments[s])
          if (each.kind == Instruction::Kind::kLaunch && each.stream == list.stream)
            launched[s].push_back(
                {each.message, program.slot_of(each.stream, system_.communicator_of[each.message])});
      for (const std::int32_t segment : program.stage->order)
        operations_.insert(operations_.end(), launched[segment].begin(), launched[segment].end());
    }
  }
}

std::vector<std::int32_t> StreamOperations::messages_of(const Rendezvous& rendezvous) const {
  const Program& program = programs_[rendezvous.program];
  const CommunicatorSlot& slot = program.slots[rendezvous.slot];
  const std::vector<std::vector<Instruction>>& segments = program.stage->segments;
  std::vector<std::vector<std::int32_t>> messages(segments.size());
  for (std::size_t s = 0; s < segments.size(); ++s)
    for (const Instruction& each : segments[s])
      if (each.kind == Instruction::Kind::kLaunch && each.stream == slot.stream &&
          system_.communicator_of[each.message] == slot.communicator)
        messages[s].push_back(each.message);
  std::vector<std::int32_t> all;
  for (const std::int32_t segment : program.stage->order)
    all.insert(all.end(), messages[segment].begin(), messages[segment].end());
  return all;
}

StreamOperations::Unfinished StreamOperations::count_unfinished(const StageProgram& stage) {
  std::vector<std::vector<StreamPassage>> passages;  // [segment]
  for (const std::vector<Instruction>& segment : stage.segments) passages.push_back(passages_of(segment));
  Unfinished unfinished;
  for (const std::int32_t segment : stage.order)
    for (StreamPassage& each : passages[segment])
      each.pass(unfinished.left[each.stream()], unfinished.most[each.stream()]);
  return unfinished;
}

std::int32_t StreamOperations::Program::slot_of(Stream stream, std::int32_t communicator) const {
  const auto known = std::ranges::find_if(slots, [&](const CommunicatorSlot& slot) {
    return slot.stream == stream && slot.communicator == communicator;
  });
  return known == slots.end() ? -1 : static_cast<std::int32_t>(known - slots.begin());
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
