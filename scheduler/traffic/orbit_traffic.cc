// Plans groups through all rows first: where what they put on chips' links changes, a run of rows ends.
#include "scheduler/traffic/orbit_traffic.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "engine/check.h"
#include "engine/random.h"
#include "scheduler/placement/crowd.h"
#include "scheduler/traffic/form_plans.h"

namespace podsim {
namespace {

constexpr double kTrunkRounding = 1e-12;

// Whether every switch has as much above it as below, so that no link between switches is ever fuller than
// those below it (scheduler/traffic/nonbinding_links.h).
bool trunks_are_wide(const RegularTree& tree) {
  double below = tree.link(static_cast<std::size_t>(tree.nic_up(0))).bandwidth.value;
  for (std::size_t t = 0; t < tree.tiers() && tree.tier(t).leads_up; ++t) {
    double sum = 0;
    for (std::int32_t way = 0; way < tree.tier(t).below; ++way) sum += below;
    below = tree.tier(t).up.bandwidth.value;
    if (sum > below * (1 + kTrunkRounding)) return false;
  }
  return true;
}

// Finds phases in which a link between switches carries more than the links below it.
class OverfullTrunks {
 public:
  explicit OverfullTrunks(const RegularTree& tree)
      : tree_(tree), trunks_(tree), below_(static_cast<std::size_t>(trunks_.count())) {}

  bool any(std::span<const Use> uses, std::span<const TreePlace> places, std::span<const ChipId> group) {
    const auto at = [&](const Use& use) { return places[static_cast<std::size_t>(use.resource)]; };
    for (const Use& use : uses)
      if (BelowTrunk* const stem = stem_of(at(use), group)) stem->usage += use.usage, ++stem->links;
    const bool found = std::ranges::any_of(uses, [&](const Use& use) {
      const TreePlace place = at(use);
      if (place.own()) return false;
      const BelowTrunk& covers = of(trunks_.above(group[static_cast<std::size_t>(place.member)], place.way));
      return covers.links == 0 || use.usage > covers.usage + covers.links + 1;
    });
    for (const Use& use : uses)
      if (BelowTrunk* const stem = stem_of(at(use), group)) *stem = {};
    return found;
  }

 private:
  struct BelowTrunk {
    std::int64_t usage = 0, links = 0;
  };

  BelowTrunk& of(std::int32_t trunk) { return below_[static_cast<std::size_t>(trunk)]; }

  // The link that all takes, or has taken, which this one carries; none below the topmost switch.
  BelowTrunk* stem_of(const TreePlace& place, std::span<const ChipId> group) {
    if (place.way < kNicUp) return nullptr;
    const auto tier = static_cast<std::size_t>(place.way / 2 - 1);
    if (!tree_.tier(tier).leads_up) return nullptr;
    return &of(trunks_.above(group[static_cast<std::size_t>(place.member)], place.way + 2));
  }

  const RegularTree& tree_;
  TreeTrunks trunks_;
  std::vector<BelowTrunk> below_;  // [trunk], empty between phases
};

class OrbitPlanner {
 public:
  OrbitPlanner(const Fabric& fabric, const RowMesh& rows, double network_share)
      : fabric_(fabric),
        tree_(*fabric.tree()),
        rows_(rows),
        network_share_(network_share),
        overfull_(tree_) {}

  std::optional<OrbitTraffic> run(const std::vector<CollectiveCall>& messages) {
    if (!choose(messages)) return std::nullopt;
    traffic_.loads.resize(traffic_.patterns.size());
    for (std::size_t c = 0; c < traffic_.communicators.size(); ++c)
      if (traffic_.communicators[c].groups.through_rows && !plan_through_rows(c)) return std::nullopt;
    end_runs();
    for (std::size_t c = 0; c < traffic_.communicators.size(); ++c)
      if (!traffic_.communicators[c].groups.through_rows && !plan_within_rows(c)) return std::nullopt;
    return std::move(traffic_);
  }

 private:
  std::vector<ChipId> group(const OrbitCommunicator& communicator, std::int32_t pattern,
                            std::int32_t row) const {
    const GroupPattern& of = communicator.groups.patterns[static_cast<std::size_t>(pattern)];
    std::vector<ChipId> chips;
    for (const ChipId offset : communicator.groups.offsets_of(of))
      chips.push_back(of.first + row * rows_.width() + offset);
    return chips;
  }

  bool choose(const std::vector<CollectiveCall>& messages) {
    std::map<Scope, std::int32_t> communicators;
    std::map<std::tuple<std::int32_t, CollectiveKind, Algorithm, Fanout>, std::int32_t> patterns;
    const Crowd crowd(fabric_);
    for (const CollectiveCall& message : messages) {
      const Scope& scope = message.scope;
      if ((scope.neighbour != 0 || scope.mirrored) && scope.axes >> rows_.long_axis() & 1) return false;
      const auto [communicator, is_new] =
          communicators.try_emplace(scope, static_cast<std::int32_t>(traffic_.communicators.size()));
      if (is_new) traffic_.communicators.push_back({scope, rows_.groups(tree_, scope), {}, {}});
      const OrbitCommunicator& of = traffic_.communicators[static_cast<std::size_t>(communicator->second)];
      if (of.groups.patterns.empty()) return false;
      const std::vector<ChipId> first = group(of, 0, 0);
      if (!of.point_to_point() && crowd.shares_links(first)) return false;
      const Algorithm algorithm =
          plan(fabric_, {message.kind, message.bytes, {}, message.fanout}, first).algorithm;
      const auto [pattern, is_new_pattern] =
          patterns.try_emplace({communicator->second, message.kind, algorithm, message.fanout},
                               static_cast<std::int32_t>(traffic_.patterns.size()));
      if (is_new_pattern) {
        traffic_.patterns.push_back(
            {communicator->second, message.kind, algorithm, fabric_.collective_launch});
        fanout_of_.push_back(message.fanout);
      }
      traffic_.pattern_of.push_back(pattern->second);
      traffic_.communicator_of.push_back(communicator->second);
    }
    return true;
  }

  FormPlans plans_of(std::size_t c) {
    const bool pairs = traffic_.communicators[c].point_to_point();
    return {fabric_, c, traffic_.patterns, fanout_of_, pairs ? 1 : network_share_, traffic_.loads};
  }

  // Whether no link between switches may limit the form.
  bool add_form(std::size_t c, FormPlans& plans, const std::vector<ChipId>& group) {
    OrbitCommunicator& communicator = traffic_.communicators[c];
    plans.add(group);
    const std::size_t form = communicator.places.size();
    communicator.places.push_back(places_of(tree_, group, plans.take_links()));
    for (std::size_t p = 0; p < traffic_.patterns.size(); ++p) {
      if (!std::cmp_equal(traffic_.patterns[p].communicator, c)) continue;
      for (const PhaseTraffic& phase : traffic_.loads[p].of_form(form))
        if (overfull_.any(traffic_.loads[p].of_phase(phase), communicator.places[form], group)) return false;
    }
    return true;
  }

  using KnownForms = std::map<std::vector<std::int32_t>, std::int32_t>;

  bool find_form(std::size_t c, FormPlans& plans, KnownForms& known, const std::vector<ChipId>& group) {
    const auto [form, is_new] =
        known.try_emplace(tree_form(tree_, group), static_cast<std::int32_t>(known.size()));
    traffic_.communicators[c].form_of_family.push_back(form->second);
    return !is_new || add_form(c, plans, group);
  }

  bool plan_through_rows(std::size_t c) {
    FormPlans plans = plans_of(c);
    KnownForms known;
    for (const std::int32_t first : traffic_.communicators[c].groups.first_of_family) {
      const std::vector<ChipId> chips = group(traffic_.communicators[c], first, 0);
      if (!find_form(c, plans, known, chips)) return false;
      note_changes(c, traffic_.communicators[c].form_of_family.back(), chips);
    }
    return true;
  }

  bool plan_within_rows(std::size_t c) {
    FormPlans plans = plans_of(c);
    KnownForms known;
    for (const std::int32_t first : traffic_.communicators[c].groups.first_of_family)
      for (std::size_t run = 0; run < traffic_.run_count(); ++run)
        if (!find_form(c, plans, known, group(traffic_.communicators[c], first, traffic_.runs[run])))
          return false;
    return true;
  }

  // Adds up, row by row, what a group through all rows puts on the links of its members there.
  void note_changes(std::size_t c, std::int32_t form, const std::vector<ChipId>& group) {
    if (put_.empty()) put_.resize(static_cast<std::size_t>(rows_.rows()));
    const std::vector<TreePlace>& places = traffic_.communicators[c].places[static_cast<std::size_t>(form)];
    for (std::size_t p = 0; p < traffic_.patterns.size(); ++p) {
      if (!std::cmp_equal(traffic_.patterns[p].communicator, c)) continue;
      const PatternTraffic& loads = traffic_.loads[p];
      std::uint64_t f = 0;
      for (const PhaseTraffic& phase : loads.of_form(static_cast<std::size_t>(form))) {
        ++f;
        for (const Use& use : loads.of_phase(phase)) {
          const TreePlace& place = places[static_cast<std::size_t>(use.resource)];
          if (!place.own()) continue;
          const ChipId chip = group[static_cast<std::size_t>(place.member)];
          const auto where = static_cast<std::uint64_t>(rows_.column_of(chip)) * kOwnWays +
                             static_cast<std::uint64_t>(place.way);
          put_[static_cast<std::size_t>(rows_.row_of(chip))] +=
              mix(mix(mix(p, f), where), static_cast<std::uint64_t>(use.usage));
        }
      }
    }
  }

  void end_runs() {
    std::vector<std::int32_t> changes;
    for (std::size_t row = 1; row < put_.size(); ++row)
      if (put_[row] != put_[row - 1]) changes.push_back(static_cast<std::int32_t>(row));
    const std::vector<std::int32_t> borders = rows_.leaf_borders(tree_);
    std::ranges::set_union(borders, changes, std::back_inserter(traffic_.runs));
    traffic_.runs.push_back(rows_.rows());
    put_ = {};
  }

  const Fabric& fabric_;
  const RegularTree& tree_;
  const RowMesh& rows_;
  const double network_share_;
  OverfullTrunks overfull_;
  OrbitTraffic traffic_;
  std::vector<Fanout> fanout_of_;   // [pattern]
  std::vector<std::uint64_t> put_;  // [row]
};

}  // namespace

std::optional<OrbitTraffic> plan_orbits(const Fabric& fabric, const RowMesh& rows,
                                        const std::vector<CollectiveCall>& messages, double network_share) {
  PODSIM_CHECK(fabric.tree() != nullptr, "orbits are of regular trees");
  if (!trunks_are_wide(*fabric.tree())) return std::nullopt;
  return OrbitPlanner(fabric, rows, network_share).run(messages);
}

}  // namespace podsim
