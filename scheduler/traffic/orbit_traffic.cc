// Plans groups through all rows first: where what they put on chips' links changes, a run of rows ends.
#include "scheduler/traffic/orbit_traffic.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "collectives/candidates.h"
#include "engine/check.h"
#include "engine/random.h"
#include "scheduler/placement/crowd.h"
#include "scheduler/traffic/form_plans.h"
#include "scheduler/traffic/network_share.h"
#include "scheduler/traffic/row_loads.h"
#include "scheduler/traffic/tree_form.h"
#include "scheduler/traffic/trunk_guard.h"

namespace podsim {
namespace {

class OrbitPlanner {
 public:
  OrbitPlanner(const Fabric& fabric, const RowMesh& rows, double network_share)
      : fabric_(fabric), tree_(*fabric.tree()), rows_(rows), network_share_(network_share), forms_(tree_) {}

  std::optional<OrbitTraffic> run(const std::vector<CollectiveCall>& messages) {
    if (!choose(messages)) return std::nullopt;
    traffic_.loads.resize(traffic_.patterns.size());
    for (std::size_t c = 0; c < traffic_.communicators.size(); ++c)
      if (traffic_.communicators[c].groups.through_rows && !plan_through_rows(c)) return std::nullopt;
    end_runs();
    for (std::size_t c = 0; c < traffic_.communicators.size(); ++c)
      if (!traffic_.communicators[c].groups.through_rows && !plan_within_rows(c)) return std::nullopt;
    find_kinds();
    return std::move(traffic_);
  }

 private:
  std::vector<ChipId> group_in(std::int32_t row, const ScopeGroups& groups, std::int32_t pattern) const {
    const GroupPattern& of = groups.patterns[static_cast<std::size_t>(pattern)];
    std::vector<ChipId> chips = of.offsets;
    for (ChipId& chip : chips) chip += of.first + row * rows_.width();
    return chips;
  }

  StridedGroup group_through(const ScopeGroups& groups, std::int32_t pattern) const {
    return groups.through.shifted(groups.patterns[static_cast<std::size_t>(pattern)].first);
  }

  bool share_links(const Crowd& crowd, const ScopeGroups& groups) const {
    if (!groups.through_rows) return crowd.shares_links(group_in(0, groups, 0));
    const StridedGroup first = group_through(groups, 0);
    return crowd.shares_links(std::array{first.front(), first.back()});
  }

  // Of the first group alone.
  Algorithm algorithm_of(std::int32_t c, const CollectiveCall& message) {
    const auto [known, is_new] =
        chosen_.try_emplace({c, message.kind, message.bytes.value, message.fanout}, Algorithm::kRing);
    if (!is_new) return known->second;
    const Collective collective{message.kind, message.bytes, {}, message.fanout};
    const ScopeGroups& groups = traffic_.communicators[static_cast<std::size_t>(c)].groups;
    known->second = groups.through_rows ? fastest_algorithm(fabric_, collective, group_through(groups, 0))
                                        : fastest_algorithm(fabric_, collective, group_in(0, groups, 0));
    return known->second;
  }

  bool choose(const std::vector<CollectiveCall>& messages) {
    std::map<Scope, std::int32_t> communicators;
    std::map<std::tuple<std::int32_t, CollectiveKind, Algorithm, Fanout>, std::int32_t> patterns;
    const Crowd crowd(fabric_);
    for (const CollectiveCall& message : messages) {
      const Scope& scope = message.scope;
      if (scope.of_pairs() && scope.axes >> rows_.long_axis() & 1) return false;
      const auto [communicator, is_new] =
          communicators.try_emplace(scope, static_cast<std::int32_t>(traffic_.communicators.size()));
      if (is_new) traffic_.communicators.push_back({scope, rows_.groups(tree_, scope), {}, {}});
      const OrbitCommunicator& of = traffic_.communicators[static_cast<std::size_t>(communicator->second)];
      if (of.groups.patterns.empty()) return false;
      if (is_new && !of.point_to_point() && share_links(crowd, of.groups)) return false;
      const Algorithm algorithm = algorithm_of(communicator->second, message);
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

  FormPlans plans_of(std::size_t c, PhaseSink& sink) const {
    const double share = network_share_of(traffic_.communicators[c].scope, network_share_);
    return {fabric_, c, traffic_.patterns, fanout_of_, share, sink};
  }

  // By 128 bits of each, but for collisions.
  using KnownForms = std::map<std::array<std::uint64_t, 2>, std::int32_t>;

  static std::array<std::uint64_t, 2> fingerprint(std::span<const std::int32_t> form) {
    std::array<std::uint64_t, 2> bits = {form.size(), ~form.size()};
    const auto word = [](std::int32_t each) { return std::uint64_t{static_cast<std::uint32_t>(each)}; };
    for (std::size_t i = 0; i < form.size(); i += 2) {
      const std::uint64_t two = word(form[i]) << 32 | (i + 1 < form.size() ? word(form[i + 1]) : 0);
      for (std::uint64_t& half : bits) half = mix(half, two);
    }
    return bits;
  }

  // Whether the group's form is new.
  template <class Group>
  bool note_form(std::size_t c, KnownForms& known, const Group& group) {
    const auto [form, is_new] =
        known.try_emplace(fingerprint(forms_.form_of(group)), static_cast<std::int32_t>(known.size()));
    traffic_.communicators[c].form_of_family.push_back(form->second);
    return is_new;
  }

  bool plan_through_rows(std::size_t c) {
    RowLoads& loads = through_rows_.emplace(c, RowLoads(tree_, rows_)).first->second;
    TrunkGuard guard(tree_, loads);
    FormPlans plans = plans_of(c, guard);
    KnownForms known;
    for (const std::int32_t first : traffic_.communicators[c].groups.first_of_family) {
      const StridedGroup chips = group_through(traffic_.communicators[c].groups, first);
      if (!note_form(c, known, chips)) continue;
      loads.begin_form(chips);
      plans.add(chips);
      if (guard.found_limits()) return false;
    }
    return true;
  }

  bool plan_within_rows(std::size_t c) {
    OrbitCommunicator& communicator = traffic_.communicators[c];
    PlacedUses uses(fabric_.links.size(), traffic_.loads);
    TrunkGuard guard(tree_, uses);
    FormPlans plans = plans_of(c, guard);
    KnownForms known;
    for (const std::int32_t first : communicator.groups.first_of_family)
      for (std::size_t run = 0; run < traffic_.run_count(); ++run) {
        const std::vector<ChipId> chips = group_in(traffic_.runs[run], communicator.groups, first);
        const bool is_new = note_form(c, known, chips);
        signatures_[run] =
            mix(signatures_[run], static_cast<std::uint64_t>(communicator.form_of_family.back()));
        if (!is_new) continue;
        plans.add(chips);
        if (guard.found_limits()) return false;
        communicator.places.push_back(places_of(tree_, chips, uses.take_links()));
      }
    return true;
  }

  void end_runs() {
    traffic_.runs = rows_.form_borders(tree_);
    for (const auto& [c, loads] : through_rows_) loads.add_changes(traffic_.runs);
    std::ranges::sort(traffic_.runs);
    traffic_.runs.erase(std::unique(traffic_.runs.begin(), traffic_.runs.end()), traffic_.runs.end());
    signatures_.assign(traffic_.runs.size(), 0);
    for (const auto& [c, loads] : through_rows_) loads.add_signatures(traffic_.runs, signatures_);
    traffic_.runs.push_back(rows_.rows());
  }

  // Runs of one signature are of one kind, and what was found run by run is kept kind by kind.
  void find_kinds() {
    std::unordered_map<std::uint64_t, std::int32_t> known;
    std::vector<std::int32_t> first_rows;
    std::vector<std::size_t> first_runs;
    for (std::size_t run = 0; run < traffic_.run_count(); ++run) {
      const auto [kind, is_new] =
          known.try_emplace(signatures_[run], static_cast<std::int32_t>(traffic_.kinds.size()));
      if (is_new) {
        traffic_.kinds.push_back({traffic_.runs[run], 0});
        first_rows.push_back(traffic_.runs[run]);
        first_runs.push_back(run);
      }
      traffic_.kinds[static_cast<std::size_t>(kind->second)].rows += traffic_.rows_of(run);
      traffic_.kind_of_run.push_back(kind->second);
    }
    for (auto& [c, loads] : through_rows_)
      traffic_.communicators[c].places = loads.place(first_rows, traffic_.loads);
    for (OrbitCommunicator& communicator : traffic_.communicators) {
      if (communicator.groups.through_rows) continue;
      std::vector<std::int32_t> of_kind;
      for (std::size_t family = 0; family < communicator.groups.first_of_family.size(); ++family)
        for (const std::size_t run : first_runs)
          of_kind.push_back(communicator.form_of_family[family * traffic_.run_count() + run]);
      communicator.form_of_family = std::move(of_kind);
    }
  }

  const Fabric& fabric_;
  const RegularTree& tree_;
  const RowMesh& rows_;
  const double network_share_;
  TreeForms forms_;
  OrbitTraffic traffic_;
  std::vector<Fanout> fanout_of_;  // [pattern]
  std::map<std::tuple<std::int32_t, CollectiveKind, double, Fanout>, Algorithm> chosen_;
  std::vector<std::uint64_t> signatures_;         // [run]
  std::map<std::size_t, RowLoads> through_rows_;  // [communicator] of groups through all rows
};

}  // namespace

std::size_t OrbitTraffic::kind_of_row(std::int32_t row) const {
  const auto run = std::ranges::upper_bound(runs, row) - runs.begin() - 1;
  return static_cast<std::size_t>(kind_of_run[static_cast<std::size_t>(run)]);
}

std::optional<OrbitTraffic> plan_orbits(const Fabric& fabric, const RowMesh& rows,
                                        const std::vector<CollectiveCall>& messages, double network_share) {
  PODSIM_CHECK(fabric.tree() != nullptr, "orbits are of regular trees");
  if (!fabric.tree()->trunks_are_wide()) return std::nullopt;
  return OrbitPlanner(fabric, rows, network_share).run(messages);
}

}  // namespace podsim
