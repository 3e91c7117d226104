// Peers: classes of a group that go through their legs together.
#include <algorithm>

#include "scheduler/simulation/loop/solo_legs.h"

namespace podsim {
namespace {

constexpr std::size_t kMostPeers = 8;  // where they are not alike, each span costs as much as all of them

}  // namespace

SegmentLegs* SoloLegs::with_peers(std::int32_t c, std::int32_t segment) {
  if (peers(c) < 0) return nullptr;
  std::vector<std::optional<SegmentLegs*>>& all = of_peers_[static_cast<std::size_t>(c)];
  if (all.empty()) all.resize(program_of(c).segments.size());
  std::optional<SegmentLegs*>& legs = all[static_cast<std::size_t>(segment)];
  if (!legs) legs = find_with_peers(c, segment);
  return *legs;
}

// What a chip of them does by itself in between may take other times than that of the others.
SegmentLegs* SoloLegs::find_with_peers(std::int32_t c, std::int32_t segment) {
  const std::vector<Instruction>& instructions = program_of(c).segments[static_cast<std::size_t>(segment)];
  const bool any = std::ranges::any_of(instructions, [&](const Instruction& each) {
    return each.kind == Instruction::Kind::kLaunch && launch(c, each, true).met;
  });
  if (!any) return nullptr;
  SegmentLegs* legs = find(c, segment, true);
  const bool alike = std::ranges::all_of(system_.groups[peers(c)].members, [&](std::int32_t each) {
    return each == c || find(each, segment, true) == legs;
  });
  return alike ? legs : nullptr;
}

// All of them have to find each other.
std::int32_t SoloLegs::peers(std::int32_t c) {
  if (peers_.empty()) {
    std::vector<std::int32_t> first;  // [chip]
    for (std::size_t each = 0; each < system_.chips.size(); ++each)
      first.push_back(first_peers(static_cast<std::int32_t>(each)));
    const auto same = [&](std::int32_t group, std::int32_t member) {
      const std::int32_t of_member = first[static_cast<std::size_t>(member)];
      return of_member >= 0 && system_.groups[of_member].members == system_.groups[group].members;
    };
    for (const std::int32_t group : first)
      peers_.push_back(group >= 0 && std::ranges::all_of(system_.groups[group].members,
                                                         [&](std::int32_t each) { return same(group, each); })
                           ? group
                           : -1);
    of_peers_.resize(system_.chips.size());
  }
  return peers_[static_cast<std::size_t>(c)];
}

// By the first message that the chip launches to such a group.
std::int32_t SoloLegs::first_peers(std::int32_t c) {
  const ChipClass& chip = system_.chips[c];
  const auto alike = [&](std::int32_t each) {
    return system_.chips[each].program == chip.program && system_.chips[each].speed == chip.speed;
  };
  users_.list();
  for (const auto& [message, stream] : users_.launched(chip.program)) {
    const std::int32_t group = group_of(c, message);
    const std::vector<std::int32_t>& members = system_.groups[group].members;
    std::uint32_t streams = 0;
    if (members.size() > 1 && members.size() <= kMostPeers && std::ranges::all_of(members, alike) &&
        of_peers(group, message, stream, streams))
      return group;
  }
  return -1;
}

// As own(), of all members of the group.
bool SoloLegs::of_peers(std::int32_t group, std::int32_t message, Stream stream, std::uint32_t& streams) {
  if (stream >= Stream::kForwardNext || system_.step.messages[message].scope.point_to_point()) return false;
  const std::int32_t run = uncontended_.find(group, message);
  if (!uncontended_[run].ends) return false;
  const std::vector<std::int32_t>& members = system_.groups[group].members;
  const auto has_to_come = [&](const LinkUsers::User& user) {
    return !user.from_source &&
           std::ranges::any_of(system_.groups[user.group].members,
                               [&](std::int32_t each) { return std::ranges::binary_search(members, each); });
  };
  for (const std::int32_t link : uncontended_.links(run))
    for (const LinkUsers::User& user : users_.of(link)) {
      if (!has_to_come(user)) return false;
      streams |= Leg::bit(user.stream);
    }
  return true;
}

}  // namespace podsim
