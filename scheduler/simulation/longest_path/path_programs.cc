// Looks up what a longest path needs of an instruction.
#include "scheduler/simulation/longest_path/path_programs.h"

namespace podsim {

PathPrograms::PathPrograms(SystemTables& tables)
    : tables_(tables), spans_(tables.system, tables.legs), of_chip_(tables.system.chips.size()) {}

PathSegment& PathPrograms::make_room(std::int32_t c, std::int32_t segment) {
  std::vector<PathSegment>& all = of_chip_[static_cast<std::size_t>(c)];
  for (const std::vector<Instruction>& each : program_of(c).segments)
    all.push_back({std::vector<const PathStep*>(each.size(), nullptr)});
  return all[static_cast<std::size_t>(segment)];
}

const PathStep& PathPrograms::look(std::int32_t c, std::int32_t number, PathSegment& segment,
                                   std::size_t instruction) {
  using Kind = Instruction::Kind;
  const Instruction& what = program_of(c).segments[static_cast<std::size_t>(number)][instruction];
  PathStep& step = all_.emplace_back();
  step.kind = what.kind;
  step.stream = what.stream;
  step.bucket = what.bucket;
  step.message = what.message;
  step.pending = what.pending;
  step.duration = what.duration;
  if (what.kind == Kind::kCompute || what.kind == Kind::kLaunch || what.kind == Kind::kHost)
    step.span = spans_.from(c, number, instruction);
  if (step.span != nullptr) {
    SpanLaunches& launched = launches_.emplace_back();
    for (const LegLaunches& each : step.span->launched)
      launched.emplace_back(tables_.legs.rendezvous_of(c, each.stream, each.communicator), each.count);
    step.launched = &launched;
  }
  if (what.kind == Kind::kLaunch) look_at_launch(c, step);
  segment.steps[instruction] = &step;
  return step;
}

void PathPrograms::look_at_launch(std::int32_t c, PathStep& step) {
  const System& system = tables_.system;
  const std::int32_t m = tables_.legs.rendezvous_of(c, step.stream, system.communicator_of[step.message]);
  const std::int32_t group = tables_.lists.all_rendezvous()[static_cast<std::size_t>(m)].group;
  step.rendezvous = m;
  step.run = tables_.uncontended.find(group, step.message);
  step.pattern = system.pattern_of[step.message];
  step.between_stages = system.step.messages[step.message].scope.neighbour != 0;
  step.ends = tables_.uncontended[step.run].ends;
  step.on_own_links = step.ends && tables_.legs.exclusive(group, step.stream, step.message) &&
                      (!step.between_stages || only_source(m));
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
