// Lists who loads each link, and looks for others on those of an operation.
#include "scheduler/simulation/loop/link_users.h"

#include <algorithm>

namespace podsim {

bool LinkUsers::exclusive(std::int32_t group, Stream stream, std::int32_t message) {
  list();
  const std::span<const std::int32_t> links = uncontended_.links(uncontended_.find(group, message));
  return std::ranges::all_of(links, [&](std::int32_t link) {
    return std::ranges::all_of(
        of(link), [&](const User& user) { return user.group == group && user.stream == stream; });
  });
}

// Of members any has to come before the operation starts, of transfers the source.
std::vector<LinkUsers::Launcher> LinkUsers::others(std::int32_t group, Stream stream, std::int32_t message,
                                                   std::size_t most) {
  list();
  std::vector<Launcher> found;
  for (const std::int32_t link : uncontended_.links(uncontended_.find(group, message)))
    for (const User& user : of(link)) {
      if (user.group == group && user.stream == stream) continue;
      const Launcher other{system_.groups[user.group].members.front(), user.stream};
      if (std::ranges::find(found, other) != found.end()) continue;
      found.push_back(other);
      if (found.size() > most) return found;
    }
  return found;
}

// A program launches a few messages again and again.
void LinkUsers::list_launches(const StageProgram& program) {
  std::vector<Launched>& all = launched_.emplace_back();
  std::vector<std::int32_t>& numbers =
      numbers_.emplace_back(system_.step.messages.size() * kNetworkStreams, -1);
  for (const std::vector<Instruction>& segment : program.segments)
    for (const Instruction& each : segment) {
      if (each.kind != Instruction::Kind::kLaunch) continue;
      const Launched launched{each.message, each.stream};
      std::int32_t& number = numbers[place_of(launched)];
      if (number >= 0) continue;
      number = static_cast<std::int32_t>(all.size());
      all.push_back(launched);
    }
}

void LinkUsers::list() {
  if (!launched_.empty()) return;
  users_.resize(system_.links.size());
  for (const StageProgram& program : system_.step.stages) list_launches(program);
  for (const ChipClass& chip : system_.chips)
    for (const auto& [message, stream] : launched(chip.program)) {
      const User user{chip.group_class[system_.communicator_of[message]], stream,
                      system_.step.messages[message].scope.point_to_point()};
      for (const std::int32_t link : uncontended_.links(uncontended_.find(user.group, message))) {
        std::vector<User>& users = users_[static_cast<std::size_t>(link)];
        if (std::ranges::find(users, user) == users.end()) users.push_back(user);
      }
    }
}

}  // namespace podsim
