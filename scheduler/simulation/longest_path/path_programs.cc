// Looks up what a longest path needs of an instruction.
#include "scheduler/simulation/longest_path/path_programs.h"

namespace podsim {
namespace {

// So many are asked at every start.
constexpr std::size_t kFewOthers = 6;

}  // namespace

PathPrograms::PathPrograms(SystemTables& tables)
    : tables_(tables), spans_(tables.system, tables.legs), of_chip_(tables.system.chips.size()) {}

PathSegment& PathPrograms::find(std::int32_t c, std::int32_t number) {
  std::vector<PathSegment*>& all = of_chip_[static_cast<std::size_t>(c)];
  const std::vector<std::vector<Instruction>>& segments = program_of(c).segments;
  all.resize(segments.size());
  const auto place = static_cast<std::size_t>(number);
  PathSegment*& segment = by_legs_[{&tables_.legs.of(c, number), tables_.legs.with_peers(c, number)}];
  if (segment == nullptr)
    segment = &segments_.emplace_back(
        PathSegment{std::vector<const PathInstruction*>(segments[place].size(), nullptr), {}});
  return *(all[place] = segment);
}

const PathInstruction& PathPrograms::look(std::int32_t c, std::int32_t number, PathSegment& segment,
                                          std::size_t instruction) {
  const System& system = tables_.system;
  const std::vector<Instruction>& all = program_of(c).segments[static_cast<std::size_t>(number)];
  const Instruction& what = all[instruction];
  PathInstruction& step = steps_.emplace_back();
  step.kind = what.kind;
  step.stream = what.stream;
  step.bucket = what.bucket;
  step.message = what.message;
  step.pending = what.pending;
  step.duration = what.duration;
  if (what.kind == Instruction::Kind::kCompute || what.kind == Instruction::Kind::kLaunch ||
      what.kind == Instruction::Kind::kHost) {
    step.span = spans_.from(c, number, instruction);
    step.with_peers = spans_.with_peers(c, number, instruction);
  }
  if (what.kind == Instruction::Kind::kLaunch) {
    step.communicator = system.communicator_of[step.message];
    step.pattern = system.pattern_of[step.message];
    step.between_stages = system.step.messages[step.message].scope.point_to_point();
    const std::size_t next = instruction + 1;
    step.awaited = step.between_stages && next < all.size() && all[next].kind == Instruction::Kind::kWait &&
                   all[next].stream == what.stream && all[next].pending == 0;
  }
  segment.steps[instruction] = &step;
  return step;
}

const PathRun& PathPrograms::look_at_run(std::int32_t m, std::int32_t run, std::int32_t message) {
  const auto place = static_cast<std::size_t>(run);
  if (runs_.size() <= place) runs_.resize(place + 1);
  const StreamOperations::Rendezvous& each = tables_.lists.all_rendezvous()[static_cast<std::size_t>(m)];
  const UncontendedCollective& alone = tables_.uncontended[run];
  PathRun& found = runs_[place];
  found.looked_at = true;
  found.rendezvous = m;
  found.pattern = tables_.system.pattern_of[message];
  found.arrival = alone.arrival;
  found.edges = alone.edges;
  found.last_member = tables_.system.groups[each.group].members.back();
  if (alone.edges.size() >= 2) {
    found.drains = alone.edges[0].after;
    found.drained = alone.edges[1].after;
  }
  if (!alone.ends) return found;
  if (tables_.system.step.messages[message].scope.point_to_point() && !only_source(m)) return found;
  const std::vector<LinkUsers::Launcher> others =
      tables_.users.others(each.group, each.stream, message, kFewOthers);
  found.own_links = others.empty();
  found.few_others = others.size() <= kFewOthers;
  if (!found.few_others) return found;
  found.first_other = static_cast<std::int32_t>(others_.size());
  found.others = static_cast<std::uint8_t>(others.size());
  others_.insert(others_.end(), others.begin(), others.end());
  return found;
}

const LaunchBound& PathPrograms::look_at_launches(std::int32_t c, std::int32_t number, Stream stream,
                                                  LaunchBound& bound) {
  const SegmentLegs& legs = tables_.legs.of(c, number);
  bound.times = &tables_.legs.times_to_launch(c, number, stream);
  bound.until = static_cast<std::size_t>(legs.until[static_cast<std::size_t>(stream)]);
  return bound;
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
