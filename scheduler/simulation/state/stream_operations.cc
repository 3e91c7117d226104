// Walks every program once.
#include "scheduler/simulation/state/stream_operations.h"

#include <algorithm>

#include "engine/check.h"

namespace podsim {

Lanes::Lanes(const System& system) : streams_of_(system.step.messages.size(), 0) {
  for (const StageProgram& stage : system.step.stages) list_operations(system, stage);
  assign_meetings(system);
}

void Lanes::list_operations(const System& system, const StageProgram& stage) {
  Program& program = programs_.emplace_back();
  program.lane_of.fill(-1);
  std::array<std::vector<LaneOperation>, kNetworkStreams> launched;
  std::array<bool, kNetworkStreams> used{};
  std::array<std::int32_t, kNetworkStreams> unfinished{}, most_unfinished{};
  const auto seat_of = [&](Stream stream, std::int32_t communicator) {
    for (std::size_t s = 0; s < program.seats.size(); ++s)
      if (program.seats[s].stream == stream && program.seats[s].communicator == communicator)
        return static_cast<std::int32_t>(s);
    program.seats.push_back({stream, communicator, {}});
    return static_cast<std::int32_t>(program.seats.size()) - 1;
  };
  for (const std::int32_t segment : stage.order)
    for (const Instruction& instruction : stage.segments[segment]) {
      if (copies(instruction.stream)) continue;
      const auto stream = static_cast<std::size_t>(instruction.stream);
      if (instruction.kind == Instruction::Kind::kWait || instruction.kind == Instruction::Kind::kReceive)
        used[stream] = true;
      if (instruction.kind == Instruction::Kind::kWait)
        unfinished[stream] = std::min(unfinished[stream], instruction.pending);
      if (instruction.kind != Instruction::Kind::kLaunch) continue;
      used[stream] = true;
      most_unfinished[stream] = std::max(most_unfinished[stream], ++unfinished[stream]);
      streams_of_[instruction.message] |= 1u << stream;
      const std::int32_t seat = seat_of(instruction.stream, system.communicator_of[instruction.message]);
      launched[stream].push_back({instruction.message, seat});
      program.seats[seat].messages.push_back(instruction.message);
    }
  for (std::size_t stream = 0; stream < launched.size(); ++stream) {
    if (!used[stream]) continue;
    program.lane_of[stream] = static_cast<std::int8_t>(program.lanes.size());
    program.lanes.push_back({static_cast<Stream>(stream), static_cast<std::int32_t>(operations_.size()),
                             static_cast<std::int32_t>(launched[stream].size()),
                             unfinished[stream] == 0 ? most_unfinished[stream] : Lane::kManyUnfinished});
    operations_.insert(operations_.end(), launched[stream].begin(), launched[stream].end());
  }
}

// Numbers the meetings by group and stream, whichever chip comes first.
void Lanes::assign_meetings(const System& system) {
  constexpr std::int32_t kUnused = -1, kUsed = 0;
  std::vector<std::int32_t> meeting_of(system.groups.size() * kNetworkStreams, kUnused);
  for (const Program& program : programs_) most_seats_ = std::max(most_seats_, program.seats.size());
  meeting_at_.resize(system.chips.size() * most_seats_, kUnused);
  for (std::size_t c = 0; c < system.chips.size(); ++c) {
    const std::vector<Seat>& seats = programs_[system.chips[c].program].seats;
    for (std::size_t s = 0; s < seats.size(); ++s) {
      const std::int32_t group = system.chips[c].group_class[seats[s].communicator];
      PODSIM_CHECK(group >= 0, "a chip launches only what its groups do");
      std::int32_t& m = meeting_at_[c * most_seats_ + s];
      m = group * kNetworkStreams + static_cast<std::int32_t>(seats[s].stream);
      meeting_of[m] = kUsed;
    }
  }
  for (std::size_t m = 0; m < meeting_of.size(); ++m) {
    if (meeting_of[m] == kUnused) continue;
    meeting_of[m] = static_cast<std::int32_t>(meetings_.size());
    meetings_.push_back(
        {static_cast<std::int32_t>(m / kNetworkStreams), static_cast<Stream>(m % kNetworkStreams)});
  }
  for (std::size_t c = 0; c < system.chips.size(); ++c)
    for (std::size_t s = 0; s < programs_[system.chips[c].program].seats.size(); ++s) {
      std::int32_t& m = meeting_at_[c * most_seats_ + s];
      m = meeting_of[m];
      meetings_[m].program = system.chips[c].program;
      meetings_[m].seat = static_cast<std::int32_t>(s);
    }
}

}  // namespace podsim
