// Adds up what all groups put on links, phase by phase.
#include "scheduler/placement/crowd.h"

#include <algorithm>

#include "collectives/torus_box.h"

namespace podsim {
namespace {

bool uplink_limits(const Fabric& fabric, NodeId node) {
  double below = 0, above = 0;
  for (const Link& link : fabric.out(node))
    (fabric.nodes[link.to].tier > fabric.nodes[node].tier ? above : below) += link.bandwidth.value;
  constexpr double kRounding = 1e-9;
  return above > 0 && above < below * (1 - kRounding);
}

// Whether some switch of a fat-tree has less bandwidth above it than below. In a regular tree a switch that
// is full has most below it.
bool some_uplink_limits(const Fabric& fabric) {
  if (const RegularTree* tree = fabric.tree()) {
    for (std::size_t t = 0; t < tree->tiers(); ++t)
      if (uplink_limits(fabric, tree->tier(t).first)) return true;
    return false;
  }
  for (NodeId node = fabric.chips; node < static_cast<NodeId>(fabric.nodes.size()); ++node)
    if (uplink_limits(fabric, node)) return true;
  return false;
}

// The part of the message that each link of a phase carries, over what it can carry.
using Busy = std::vector<double>;  // [link] seconds per byte

double seconds_per_byte(const Fabric& fabric, const LinkLoad& load, Bytes message) {
  return load.bytes / message.value / fabric.links[load.link].bandwidth.value;
}

void add_phase(const Fabric& fabric, const Phase& phase, Bytes message, Busy& busy,
               std::vector<LinkId>& touched) {
  for (const LinkLoad& load : phase.loads) {
    if (busy[load.link] == 0) touched.push_back(load.link);
    busy[load.link] += seconds_per_byte(fabric, load, message);
  }
}

}  // namespace

double CrowdCurve::fixed_seconds() const {
  Time fixed = launch;
  for (const Part& part : parts) fixed += part.latency;
  return fixed.in_seconds();
}

double CrowdCurve::seconds_per_byte() const {
  double sum = 0;
  for (const Part& part : parts) sum += part.seconds_per_byte;
  return sum;
}

double CrowdCurve::seconds(Bytes message) const {
  double sum = fixed_seconds() + seconds_per_byte() * message.value;
  for (const Part& part : parts) sum += part.ramp.at(message).in_seconds();
  return sum;
}

double CrowdCurve::seconds_alone(Bytes message) const {
  double sum = seconds(message);
  for (const Part& part : parts) sum -= (part.seconds_per_byte - part.alone_s_per_byte) * message.value;
  return sum;
}

Crowd::Crowd(const Fabric& fabric)
    : fabric_(fabric), slices_(AlikeSlices::of(fabric)), uplinks_limit_(some_uplink_limits(fabric)) {}

bool Crowd::shares_links(std::span<const ChipId> group) const {
  if (fabric_.damaged || fabric_.individual_switches || group.size() == 1) return false;
  if (fabric_.slices.empty()) {
    const int domain = std::max(1, fabric_.gpus_per_domain);
    const auto [first, last] = std::ranges::minmax(group);
    return uplinks_limit_ && first / domain != last / domain;
  }
  const auto box = find_torus_box(fabric_, group);
  return !box || !box->covers_whole_dimensions();
}

std::vector<CrowdCurve> Crowd::curves(CollectiveKind kind, const Fanout& fanout, const Groups& groups) const {
  const Collective unit{kind, {1.0}, {}, fanout};
  std::vector<CrowdCurve> curves;
  for (const CollectivePlan& first : every_plan(fabric_, unit, groups.front(), slices()))
    curves.push_back(curve(first, unit, groups));
  return curves;
}

CrowdCurve Crowd::curve(const CollectivePlan& first, const Collective& collective,
                        const Groups& groups) const {
  const auto slice_of = [&](const std::vector<ChipId>& group) { return fabric_.slice_of(group.front()); };
  std::vector<CollectivePlan> plans = {first};
  for (std::size_t g = 1; g < groups.size(); ++g) {
    if (slices_ && slice_of(groups[g]) != slice_of(groups[0])) continue;  // it is as one of those
    std::optional<CollectivePlan> planned =
        plan_with(first.algorithm, fabric_, collective, groups[g], slices());
    plans.push_back(planned ? *std::move(planned) : plan(fabric_, collective, groups[g], slices()));
  }
  CrowdCurve curve{first.algorithm, first.launch, {}};
  Busy busy(fabric_.links.size());
  std::vector<LinkId> touched;
  for (std::size_t f = 0; f < first.phases.size(); ++f) {
    for (const CollectivePlan& planned : plans)
      if (f < planned.phases.size()) add_phase(fabric_, planned.phases[f], collective.bytes, busy, touched);
    double busiest = 0;
    for (const LinkId link : touched) {
      busiest = std::max(busiest, busy[link]);
      busy[link] = 0;
    }
    touched.clear();
    double busiest_alone = 0;
    for (const LinkLoad& load : first.phases[f].loads)
      busiest_alone = std::max(busiest_alone, seconds_per_byte(fabric_, load, collective.bytes));
    curve.parts.push_back({first.phases[f].latency, first.phases[f].ramp, busiest, busiest_alone});
  }
  return curve;
}

}  // namespace podsim
