// Goes through all programs once.
#include "scheduler/simulation/longest_path/shared_slots.h"

#include <algorithm>

namespace podsim::longest_path {

SharedSlots::SharedSlots(const System& system)
    : index_(system),
      known_(index_.size() * kNetworkStreams),
      lone_(index_.size()),
      shares_(system.groups.size() * kNetworkStreams),
      slots_of_(system.links.size()) {
  const Fluid links(link_capacities(system), 1e12);  // ticks are picoseconds
  UncontendedCollectives collectives(system, links);
  for (const ChipClass& chip : system.chips)
    for (const std::vector<Instruction>& segment : system.step.stages[chip.program].segments)
      for (const Instruction& each : segment)
        if (each.kind == Instruction::Kind::kLaunch)
          add(collectives, chip.group_class[system.communicator_of[each.message]], each.stream, each.message);
  meet();
}

void SharedSlots::add(UncontendedCollectives& collectives, std::int32_t group, Stream stream,
                      std::int32_t message) {
  const std::size_t at = index_(group, message);
  char& known = known_[at * kNetworkStreams + static_cast<std::size_t>(stream)];
  if (known) return;
  known = true;
  const std::int32_t run = collectives.find(group, message);
  const UncontendedCollective& alone = collectives[run];
  all_end_ = all_end_ && alone.ends;
  lone_[at] = {alone.arrival, {}};
  for (std::size_t e = 0; e + 1 < alone.edges.size(); e += 2)
    lone_[at].drains.emplace_back(alone.edges[e].after, alone.edges[e + 1].after);
  if (alone.edges.empty()) return;
  for (const std::int32_t link : collectives.links(run)) {
    std::vector<std::int32_t>& slots = slots_of_[link];
    const std::int32_t slot = slot_of(group, stream);
    if (std::ranges::find(slots, slot) == slots.end()) slots.push_back(slot);
  }
}

// Links that the same slots load are one meeting.
void SharedSlots::meet() {
  for (std::vector<std::int32_t>& slots : slots_of_) {
    if (slots.size() < 2) continue;
    for (const std::int32_t slot : slots) shares_[slot] = true;
    std::ranges::sort(slots);
    meetings_.push_back(std::move(slots));
  }
  std::ranges::sort(meetings_);
  meetings_.erase(std::unique(meetings_.begin(), meetings_.end()), meetings_.end());
}

}  // namespace podsim::longest_path
