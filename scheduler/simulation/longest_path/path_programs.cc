// Looks up what a longest path needs of an instruction.
#include "scheduler/simulation/longest_path/path_programs.h"

namespace podsim {

PathPrograms::PathPrograms(SystemTables& tables)
    : tables_(tables), spans_(tables.system, tables.legs), of_chip_(tables.system.chips.size()) {}

PathSegment& PathPrograms::find(std::int32_t c, std::int32_t number) {
  std::vector<PathSegment*>& all = of_chip_[static_cast<std::size_t>(c)];
  const std::vector<std::vector<Instruction>>& segments = program_of(c).segments;
  all.resize(segments.size());
  const auto place = static_cast<std::size_t>(number);
  PathSegment*& segment = by_legs_[&tables_.legs.of(c, number)];
  if (segment == nullptr)
    segment = &segments_.emplace_back(
        PathSegment{std::vector<const PathInstruction*>(segments[place].size(), nullptr)});
  return *(all[place] = segment);
}

const PathInstruction& PathPrograms::look(std::int32_t c, std::int32_t number, PathSegment& segment,
                                          std::size_t instruction) {
  const System& system = tables_.system;
  const Instruction& what = program_of(c).segments[static_cast<std::size_t>(number)][instruction];
  PathInstruction& step = steps_.emplace_back();
  step.kind = what.kind;
  step.stream = what.stream;
  step.bucket = what.bucket;
  step.message = what.message;
  step.pending = what.pending;
  step.duration = what.duration;
  if (what.kind == Instruction::Kind::kCompute || what.kind == Instruction::Kind::kLaunch ||
      what.kind == Instruction::Kind::kHost)
    step.span = spans_.from(c, number, instruction);
  if (what.kind == Instruction::Kind::kLaunch) {
    step.communicator = system.communicator_of[step.message];
    step.pattern = system.pattern_of[step.message];
    step.between_stages = system.step.messages[step.message].scope.neighbour != 0;
  }
  segment.steps[instruction] = &step;
  return step;
}

bool PathPrograms::look_at_links(std::int32_t m, std::int32_t run, std::int32_t message) {
  const auto place = static_cast<std::size_t>(run);
  if (own_links_.size() <= place) own_links_.resize(place + 1);
  const StreamOperations::Rendezvous& each = tables_.lists.all_rendezvous()[static_cast<std::size_t>(m)];
  own_links_[place] = tables_.uncontended[run].ends &&
                      tables_.legs.exclusive(each.group, each.stream, message) &&
                      (tables_.system.step.messages[message].scope.neighbour == 0 || only_source(m));
  return *own_links_[place];
}

// Transfers that a chip receives on one stream from several others are taken as they come.
bool PathPrograms::only_source(std::int32_t m) const {
  const auto members = [&](const StreamOperations::Rendezvous& each) -> const std::vector<std::int32_t>& {
    return tables_.system.groups[each.group].members;
  };
  const std::vector<StreamOperations::Rendezvous>& all = tables_.lists.all_rendezvous();
  const StreamOperations::Rendezvous& source = all[static_cast<std::size_t>(m)];
  for (std::size_t other = 0; other < all.size(); ++other)
    if (static_cast<std::int32_t>(other) != m && all[other].stream == source.stream &&
        members(all[other]).size() == 2 && members(all[other])[1] == members(source)[1])
      return false;
  return true;
}

}  // namespace podsim
