// Plans every message of a step on every group.
#include "scheduler/traffic.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "engine/check.h"

namespace podsim {
namespace {

std::vector<std::vector<ChipId>> neighbour_pairs(const LaidMesh& job, Scope scope) {
  std::vector<std::vector<ChipId>> pairs;
  for (const std::vector<ChipId>& line : groups_along(job.mesh, job.placement, scope.axes)) {
    int stages = static_cast<int>(line.size());
    for (int s = 0; s < stages; ++s)
      pairs.push_back({line[s], line[(s + scope.neighbour + stages) % stages]});
  }
  return pairs;
}

std::vector<std::vector<ChipId>> mirrored_pairs(const LaidMesh& job, Scope scope) {
  std::vector<std::vector<ChipId>> pairs;
  for (const std::vector<ChipId>& line : groups_along(job.mesh, job.placement, scope.axes)) {
    for (std::size_t first = 0, last = line.size() - 1; first < last; ++first, --last)
      pairs.push_back({line[first], line[last]});
  }
  return pairs;
}

std::vector<std::vector<ChipId>> groups_of(const LaidMesh& job, Scope scope) {
  if (scope.neighbour) return neighbour_pairs(job, scope);
  if (scope.mirrored) return mirrored_pairs(job, scope);
  return groups_along(job.mesh, job.placement, scope.axes);
}

Communicator make_communicator(const Fabric& fabric, const LaidMesh& job, Scope scope) {
  Communicator result;
  result.scope = scope;
  result.groups = groups_of(job, scope);
  result.group_of.assign(fabric.chips, -1);
  if (scope.neighbour) result.group_as_destination.assign(fabric.chips, -1);
  for (std::size_t g = 0; g < result.groups.size(); ++g) {
    const std::vector<ChipId>& members = result.groups[g];
    if (scope.neighbour) {
      result.group_of[members[0]] = static_cast<std::int32_t>(g);
      result.group_as_destination[members[1]] = static_cast<std::int32_t>(g);
    } else {
      for (ChipId chip : members) result.group_of[chip] = static_cast<std::int32_t>(g);
    }
  }
  return result;
}

bool between_servers(LinkKind kind) { return kind == LinkKind::kNic || kind == LinkKind::kTrunk; }

// Loads between servers grow by what the library does not reach of the channels' rate.
PhaseTraffic traffic_of(const Fabric& fabric, Phase phase, double network_share) {
  for (LinkLoad& load : phase.loads)
    if (between_servers(fabric.links[load.link].kind)) load.bytes /= network_share;
  PhaseTraffic result;
  result.latency = phase.latency;
  result.ramp = phase.ramp;
  const LinkLoad* slowest = nullptr;
  double slowest_s = 0;
  for (const LinkLoad& load : phase.loads) {
    double seconds = load.bytes / fabric.links[load.link].bandwidth.value;
    if (seconds > slowest_s) slowest = &load, slowest_s = seconds;
  }
  if (!slowest) return result;
  result.work_per_byte = slowest->bytes;
  result.uses.reserve(phase.loads.size());
  for (const LinkLoad& load : phase.loads)
    result.uses.push_back({load.link, fixed_usage(load.bytes / slowest->bytes)});
  return result;
}

Pattern make_pattern(const Fabric& fabric, const Communicator& communicator, int index,
                     const Message& message, Algorithm algorithm, double network_share) {
  Pattern pattern{index, message.kind, algorithm, fabric.collective_launch, {}};
  const Collective unit{message.kind, {1.0}, {}, message.fanout};
  pattern.groups.reserve(communicator.groups.size());
  for (const std::vector<ChipId>& group : communicator.groups) {
    std::optional<CollectivePlan> planned = plan_with(algorithm, fabric, unit, group);
    if (!planned) planned = plan(fabric, unit, group);
    std::vector<PhaseTraffic>& phases = pattern.groups.emplace_back();
    for (const Phase& phase : planned->phases)
      phases.push_back(traffic_of(fabric, phase, communicator.point_to_point() ? 1 : network_share));
  }
  return pattern;
}

}  // namespace

Traffic plan_traffic(const Fabric& fabric, std::span<const LaidMesh> jobs,
                     const std::vector<Message>& messages) {
  Traffic traffic;
  std::map<Scope, int> communicators;
  std::map<std::tuple<int, CollectiveKind, Algorithm, Fanout>, int> patterns;
  for (const Message& message : messages) {
    const Scope& scope = message.scope;
    auto [communicator, is_new] =
        communicators.try_emplace(scope, static_cast<int>(traffic.communicators.size()));
    if (is_new) traffic.communicators.push_back(make_communicator(fabric, jobs[scope.job], scope));
    const Communicator& groups = traffic.communicators[communicator->second];
    const Collective collective{message.kind, message.bytes, {}, message.fanout};
    const Algorithm algorithm = plan(fabric, collective, groups.groups.front()).algorithm;
    auto [pattern, is_new_pattern] =
        patterns.try_emplace({communicator->second, message.kind, algorithm, message.fanout},
                             static_cast<int>(traffic.patterns.size()));
    if (is_new_pattern)
      traffic.patterns.push_back(make_pattern(fabric, groups, communicator->second, message, algorithm,
                                              jobs[scope.job].network_share));
    traffic.pattern_of.push_back(pattern->second);
    traffic.communicator_of.push_back(communicator->second);
  }
  return traffic;
}

}  // namespace podsim
