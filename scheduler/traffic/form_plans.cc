// Makes loads of a plan relative to the link that limits it.
#include "scheduler/traffic/form_plans.h"

#include <algorithm>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "collectives/cut_bound.h"
#include "engine/check.h"

namespace podsim {
namespace {

bool between_servers(LinkKind kind) { return kind == LinkKind::kNic || kind == LinkKind::kTrunk; }

// The first ranks of a group, half of them.
Side first_half(std::size_t ranks) {
  Side half(ranks, false);
  std::fill_n(half.begin(), ranks / 2, true);
  return half;
}

}  // namespace

OwnLinks::OwnLinks(std::size_t links)
    : next_place_(
          static_cast<std::int32_t*>(std::calloc(std::max<std::size_t>(1, links), sizeof(std::int32_t)))) {
  if (!next_place_) throw std::bad_alloc();
}

std::vector<LinkId> OwnLinks::take() {
  for (const LinkId link : links_) next_place_[link] = 0;
  return std::exchange(links_, {});
}

FormPlans::FormPlans(const Fabric& fabric, std::size_t communicator,
                     std::span<const PlannedCollective> patterns, std::span<const Fanout> fanout_of,
                     double network_share, std::span<PatternTraffic> loads)
    : fabric_(fabric),
      patterns_(patterns),
      fanout_of_(fanout_of),
      network_share_(network_share),
      loads_(loads),
      own_(fabric.links.size()) {
  PODSIM_CHECK(network_share > 0 && network_share <= 1, "a library reaches a share of the network");
  for (std::size_t p = 0; p < patterns.size(); ++p)
    if (std::cmp_equal(patterns[p].communicator, communicator)) own_patterns_.push_back(p);
}

// Kind by kind, since kinds share transfers. Of each pattern the first plan is held against what must cross
// between the halves of its group.
void FormPlans::add(std::span<const ChipId> group) {
  GroupPlanner planner(fabric_, group);
  for (const std::size_t p : own_patterns_) {
    const PlannedCollective& pattern = patterns_[p];
    PatternTraffic& loads = loads_[p];
    const Collective unit{pattern.kind, {1.0}, {}, fanout_of_[p]};
    std::optional<CollectivePlan> planned = planner.plan_with(pattern.algorithm, unit);
    if (!planned) planned = plan(fabric_, unit, group);
    if (loads.forms() == 0)
      PODSIM_CHECK(carries_across(fabric_, unit, group, *planned, first_half(group.size())),
                   "a plan of " + std::string(to_string(planned->algorithm)) + " carries too little");
    for (Phase& phase : planned->phases) add_phase(loads, std::move(phase));
    loads.first_phase.push_back(loads.phases.size());
  }
}

// Loads between servers grow by what the library does not reach of the channels' rate.
void FormPlans::add_phase(PatternTraffic& traffic, Phase phase) {
  const LinkLoad* slowest = nullptr;
  double slowest_s = 0;
  for (LinkLoad& load : phase.loads) {
    const Link link = fabric_.links[load.link];
    if (between_servers(link.kind)) load.bytes /= network_share_;
    const double seconds = load.bytes / link.bandwidth.value;
    if (seconds > slowest_s) slowest = &load, slowest_s = seconds;
  }
  const std::size_t first = traffic.uses.size();
  if (slowest)
    for (const LinkLoad& load : phase.loads)
      traffic.uses.push_back({own_.place_of(load.link), fixed_usage(load.bytes / slowest->bytes)});
  traffic.phases.push_back(
      {phase.latency, phase.ramp, slowest ? slowest->bytes : 0, first, traffic.uses.size()});
}

}  // namespace podsim
