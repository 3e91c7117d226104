// Makes loads of a plan relative to the link that limits it.
#include "scheduler/traffic/form_plans.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "collectives/candidates.h"
#include "collectives/cut_bound.h"
#include "engine/check.h"
#include "scheduler/traffic/network_share.h"

namespace podsim {
namespace {

// The first ranks of a group, half of them.
Side first_half(std::size_t ranks) {
  Side half(ranks, false);
  std::fill_n(half.begin(), ranks / 2, true);
  return half;
}

}  // namespace

FormPlans::FormPlans(const Fabric& fabric, std::size_t communicator,
                     std::span<const PlannedCollective> patterns, std::span<const Fanout> fanout_of,
                     double network_share, PhaseSink& sink)
    : fabric_(fabric),
      patterns_(patterns),
      fanout_of_(fanout_of),
      network_share_(network_share),
      sink_(sink) {
  PODSIM_CHECK(network_share > 0 && network_share <= 1, "a library reaches a share of the network");
  for (std::size_t p = 0; p < patterns.size(); ++p)
    if (std::cmp_equal(patterns[p].communicator, communicator)) own_patterns_.push_back(p);
}

Collective FormPlans::unit_of(std::size_t p) const { return {patterns_[p].kind, {1.0}, {}, fanout_of_[p]}; }

// Kind by kind, since kinds share transfers.
void FormPlans::add(std::span<const ChipId> group) {
  GroupPlanner planner(fabric_, group);
  for (const std::size_t p : own_patterns_) add_listed(p, unit_of(p), planner, group);
  checked_ = true;
}

void FormPlans::add(const StridedGroup& group) {
  std::vector<ChipId> listed;
  std::optional<GroupPlanner> planner;
  for (const std::size_t p : own_patterns_) {
    const Collective unit = unit_of(p);
    if (add_evenly(p, unit, group)) continue;
    if (!planner) {
      listed = group.list();
      planner.emplace(fabric_, listed);
    }
    add_listed(p, unit, *planner, listed);
  }
  checked_ = true;
}

// Of each pattern the first plan is held against what must cross between the halves of its group.
void FormPlans::add_listed(std::size_t p, const Collective& unit, GroupPlanner& planner,
                           std::span<const ChipId> group) {
  std::optional<CollectivePlan> planned = planner.plan_with(patterns_[p].algorithm, unit);
  if (!planned) planned = plan(fabric_, unit, group);
  if (!checked_)
    PODSIM_CHECK(carries_across(fabric_, unit, group, *planned, first_half(group.size())),
                 "a plan of " + std::string(to_string(planned->algorithm)) + " carries too little");
  for (Phase& phase : planned->phases) {
    const PhaseTraffic traffic = find_uses(std::move(phase));
    sink_.add(p, traffic, uses_);
  }
  sink_.end_form(p);
}

// False where there is no closed form.
bool FormPlans::add_evenly(std::size_t p, const Collective& unit, const StridedGroup& group) {
  EvenPhaseSink* even = sink_.even();
  if (even == nullptr) return false;
  std::optional<EvenPlan> planned = plan_evenly(patterns_[p].algorithm, fabric_, unit, group);
  if (!planned) return false;
  auto alike = planned->trunks.begin();
  for (Phase& phase : planned->plan.phases) {
    const PhaseTraffic traffic = find_uses(std::move(phase));
    std::vector<UsageOnLink> own;
    std::vector<UsageOnTrunks> trunks;
    for (const UsageOnLink& use : uses_) {
      if (fabric_.cable(use.link).kind == LinkKind::kTrunk)
        trunks.push_back({*alike++, use.usage});
      else
        own.push_back(use);
    }
    even->add_even(p, traffic, own, trunks);
  }
  sink_.end_form(p);
  return true;
}

// Loads between servers grow by what the library does not reach of the channels' rate.
PhaseTraffic FormPlans::find_uses(Phase phase) {
  const LinkLoad* slowest = nullptr;
  double slowest_s = 0;
  for (LinkLoad& load : phase.loads) {
    const Link& link = fabric_.cable(load.link);
    load.bytes /= share_of_link(link.kind, network_share_);
    const double seconds = load.bytes / link.bandwidth.value;
    if (seconds > slowest_s) slowest = &load, slowest_s = seconds;
  }
  uses_.clear();
  if (slowest) {
    double bytes = 0;  // of the link before, as most links of a phase carry
    std::int64_t usage = 0;
    for (const LinkLoad& load : phase.loads) {
      if (load.bytes != bytes) usage = fixed_usage(load.bytes / slowest->bytes);
      bytes = load.bytes;
      uses_.push_back({load.link, usage});
    }
  }
  return {phase.latency, phase.ramp, slowest ? slowest->bytes : 0, 0, 0};
}

PlacedUses::PlacedUses(std::size_t links, std::span<PatternTraffic> loads)
    : loads_(loads), next_place_(links) {}

std::int32_t PlacedUses::place_of(LinkId link) {
  std::int32_t& next = next_place_[static_cast<std::size_t>(link)];
  if (next == 0) {
    links_.push_back(link);
    next = static_cast<std::int32_t>(links_.size());
  }
  return next - 1;
}

void PlacedUses::add(std::size_t pattern, const PhaseTraffic& phase, std::span<const UsageOnLink> uses) {
  PatternTraffic& traffic = loads_[pattern];
  PhaseTraffic& placed = traffic.phases.emplace_back(phase);
  placed.first_use = traffic.uses.size();
  for (const UsageOnLink& use : uses) traffic.uses.push_back({place_of(use.link), use.usage});
  placed.end_use = traffic.uses.size();
}

void PlacedUses::end_form(std::size_t pattern) {
  loads_[pattern].first_phase.push_back(loads_[pattern].phases.size());
}

std::vector<LinkId> PlacedUses::take_links() {
  for (const LinkId link : links_) next_place_[static_cast<std::size_t>(link)] = 0;
  return std::exchange(links_, {});
}

}  // namespace podsim
