// Plans every algorithm once per kind of message, and takes the fastest.
#include "planner/bounds/alone_times.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "engine/check.h"
#include "scheduler/traffic/network_share.h"

namespace podsim {
namespace {

constexpr std::size_t kMostShared = 1024;  // chips of a group: what is shared is kept for all meshes

// Moving a group by so many chips changes nothing that it sees of the switches.
int repeating_unit(const FabricSpec& spec) {
  if (!spec.gpu || spec.gpu->tiers.empty()) return 0;
  const GpuClusterSpec& gpus = *spec.gpu;
  const int domain = gpus.gpus_per_domain;
  int unit = gpus.rail_optimised ? domain * gpus.tiers[0].down : gpus.tiers[0].down / domain * domain;
  for (std::size_t tier = 1; tier < gpus.tiers.size(); ++tier) {
    const std::int64_t down = gpus.tiers[tier].down;
    if (tier == 1 && gpus.rail_optimised && down % domain != 0) break;
    const std::int64_t next = unit * (tier == 1 && gpus.rail_optimised ? down / domain : down);
    if (next >= spec.chips) break;
    unit = static_cast<int>(next);
  }
  return unit;
}

// `share` = of the links between servers that collectives get.
LinkSeconds seconds_full(const Fabric& fabric, const CollectivePlan& plan, ChipId chip, double share) {
  double bandwidth[2] = {}, bytes[2] = {};  // [between servers]
  for (const Link& link : fabric.out(chip)) bandwidth[is_between_servers(link.kind)] += link.bandwidth.value;
  for (const Phase& phase : plan.phases)
    for (const LinkLoad& load : phase.loads) {
      const Link& link = fabric.links[static_cast<std::size_t>(load.link)];
      if (link.from == chip) bytes[is_between_servers(link.kind)] += load.bytes;
    }
  const auto seconds = [&](bool out) { return bytes[out] > 0 ? bytes[out] / bandwidth[out] : 0; };
  return {seconds(false), seconds(true) / share};
}

}  // namespace

double AloneTimes::Curve::at(Bytes bytes) const {
  double seconds = fixed_s + per_byte * bytes.value;
  for (const Ramp& ramp : ramps) seconds += ramp.at(bytes).in_seconds();
  return seconds;
}

AloneTimes::AloneTimes(const Fabric& fabric, const FabricSpec& spec, const LaidMesh& laid, int pipeline_axis,
                       Shared* shared)
    : fabric_(fabric),
      laid_(laid),
      pipeline_axis_(pipeline_axis),
      shared_(shared),
      unit_(repeating_unit(spec)) {}

double AloneTimes::seconds(const CollectiveCall& call) const {
  double least = std::numeric_limits<double>::infinity();
  for (const Curve& curve : curves(call)) least = std::min(least, curve.at(call.bytes));
  return least;
}

double AloneTimes::seconds_per_byte(const CollectiveCall& call) const {
  double least = std::numeric_limits<double>::infinity();
  for (const Curve& curve : curves(call)) least = std::min(least, curve.per_byte);
  return least;
}

LinkSeconds AloneTimes::link_seconds(const CollectiveCall& call) const {
  if (leaves_stage(call.scope)) return {};
  constexpr double kNever = std::numeric_limits<double>::infinity();
  LinkSeconds least = {kNever, kNever};
  for (const Curve& curve : curves(call)) {
    least.scale_up = std::min(least.scale_up, curve.full.scale_up);
    least.scale_out = std::min(least.scale_out, curve.full.scale_out);
  }
  return {call.bytes.value * least.scale_up, call.bytes.value * least.scale_out};
}

bool AloneTimes::leaves_stage(const Scope& scope) const {
  return scope.of_pairs() || (pipeline_axis_ >= 0 && (scope.axes & axis_bit(pipeline_axis_)) != 0);
}

const AloneTimes::Curves& AloneTimes::curves(const CollectiveCall& call) const {
  const auto [known, is_new] = curves_.try_emplace({call.scope, call.kind, call.fanout});
  if (!is_new) return known->second;
  Curves& all = known->second;
  const auto add = [&all](const Curves& more) { all.insert(all.end(), more.begin(), more.end()); };
  std::set<std::vector<ChipId>> seen;  // moved to where the fabric begins to repeat itself
  for (const std::vector<ChipId>& group : groups(call.scope)) {
    std::vector<ChipId> moved = group;
    const ChipId least = *std::min_element(group.begin(), group.end());
    if (unit_ > 0)
      for (ChipId& chip : moved) chip -= least / unit_ * unit_;
    if (!seen.insert(moved).second) continue;
    if (!shared_ || moved.size() > kMostShared) {
      add(curves_of(call, group));
      continue;
    }
    const auto [there, is_first] =
        shared_->try_emplace({call.kind, call.fanout, network_share(call), std::move(moved)});
    if (is_first) there->second = curves_of(call, group);
    add(there->second);
  }
  PODSIM_CHECK(!all.empty(), "every collective has an algorithm");
  return all;
}

// Of the column: device 0 and those that differ from it by their stage alone.
std::vector<std::vector<ChipId>> AloneTimes::groups(const Scope& scope) const {
  const Mesh& mesh = laid_.mesh;
  const auto chip = [&](std::int64_t device) {
    return laid_.placement.chip_of_device[static_cast<std::size_t>(device)];
  };
  const int stages = pipeline_axis_ < 0 ? 1 : mesh.axes[static_cast<std::size_t>(pipeline_axis_)].size;
  const int stride = pipeline_axis_ < 0 ? 0 : mesh.stride(pipeline_axis_);
  std::vector<std::vector<ChipId>> groups;
  if (scope.of_pairs()) {
    for (std::int64_t stage = 0; stage < scope.pairs_of(stages); ++stage)
      groups.push_back({chip(stage * stride), chip(scope.partner_of(stage, stages) * stride)});
    return groups;
  }
  const std::vector<std::size_t> steps = steps_in_group(mesh, scope.axes);
  for (int stage = 0; stage < (leaves_stage(scope) ? 1 : stages); ++stage) {
    std::vector<ChipId>& group = groups.emplace_back();
    for (const std::size_t step : steps)
      group.push_back(chip(std::int64_t{stage} * stride + static_cast<std::int64_t>(step)));
  }
  return groups;
}

double AloneTimes::network_share(const CollectiveCall& call) const {
  return network_share_of(call.scope, laid_.network_share);
}

AloneTimes::Curves AloneTimes::curves_of(const CollectiveCall& call, const std::vector<ChipId>& group) const {
  const double share = network_share(call);
  Curves curves;
  GroupPlanner planner(fabric_, group);
  const Collective unit{call.kind, {1.0}, {}, call.fanout};
  for (int algorithm = 0; algorithm <= static_cast<int>(kLastAlgorithm); ++algorithm) {
    const auto plan = planner.plan_with(static_cast<Algorithm>(algorithm), unit);
    if (!plan) continue;
    Curve curve;
    curve.fixed_s = plan->launch.in_seconds();
    curve.full = seconds_full(fabric_, *plan, group.front(), share);
    for (const Phase& phase : plan->phases) {
      curve.fixed_s += phase.latency.in_seconds();
      if (phase.ramp.count > 0) curve.ramps.push_back(phase.ramp);
      double slowest = 0;
      for (const LinkLoad& load : phase.loads) {
        const Link& link = fabric_.links[static_cast<std::size_t>(load.link)];
        slowest = std::max(slowest, load.bytes / link.bandwidth.value / share_of_link(link.kind, share));
      }
      curve.per_byte += slowest;
    }
    curves.push_back(std::move(curve));
  }
  return curves;
}

}  // namespace podsim
