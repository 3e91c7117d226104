// Plans every message of a step on every group.
#include "scheduler/traffic/traffic.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "engine/check.h"
#include "scheduler/placement/crowd.h"
#include "scheduler/traffic/form_plans.h"
#include "scheduler/traffic/group_forms.h"
#include "scheduler/traffic/network_share.h"
#include "scheduler/traffic/slowest_groups.h"

namespace podsim {
namespace {

ChipGroups groups_of(const LaidMesh& job, const Scope& scope) {
  ChipGroups along = groups_along(job.mesh, job.placement, scope.axes);
  if (!scope.of_pairs()) return along;
  std::vector<ChipId> pairs;
  for (const std::span<const ChipId> line : along) {
    const auto stages = static_cast<std::int64_t>(line.size());
    for (std::int64_t s = 0; s < scope.pairs_of(stages); ++s) {
      pairs.push_back(line[static_cast<std::size_t>(s)]);
      pairs.push_back(line[static_cast<std::size_t>(scope.partner_of(s, stages))]);
    }
  }
  return {2, std::move(pairs)};
}

Communicator make_communicator(const Fabric& fabric, const LaidMesh& job, Scope scope) {
  Communicator result;
  PODSIM_CHECK(job.placement.chip_of_device.size() <= static_cast<std::size_t>(fabric.chips),
               "a job lies on the fabric");
  result.scope = scope;
  result.groups = groups_of(job, scope);
  result.group_of.assign(fabric.chips, -1);
  if (scope.point_to_point()) result.group_as_destination.assign(fabric.chips, -1);
  for (std::size_t g = 0; g < result.groups.size(); ++g) {
    const std::span<const ChipId> members = result.groups[g];
    if (scope.point_to_point()) {
      PODSIM_CHECK(members.size() == 2, "point to point joins two chips");
      result.group_of[members[0]] = static_cast<std::int32_t>(g);
      result.group_as_destination[members[1]] = static_cast<std::int32_t>(g);
    } else {
      for (ChipId chip : members) result.group_of[chip] = static_cast<std::int32_t>(g);
    }
  }
  return result;
}

// Plans the groups of one communicator.
class GroupPlans {
 public:
  GroupPlans(const Fabric& fabric, Traffic& traffic, std::size_t c, std::span<const Fanout> fanout_of,
             double network_share)
      : communicator_(traffic.communicators[c]),
        uses_(fabric.links.size(), traffic.loads),
        plans_(fabric, c, traffic.patterns, fanout_of, network_share_of(communicator_.scope, network_share),
               uses_) {}

  void plan_each() {
    for (std::size_t g = 0; g < communicator_.groups.size(); ++g) {
      add_form(g);
      add_links(uses_.take_links());
    }
  }

  // One group of each form, whose links lead to those of all others.
  void plan_forms(GroupForms& forms) {
    std::map<std::vector<std::int32_t>, std::int32_t> known;
    std::vector<std::vector<LinkPlace>> places;  // [form] of the links
    std::vector<LinkId> links;
    for (std::size_t g = 0; g < communicator_.groups.size(); ++g) {
      forms.look(communicator_.groups[g]);
      const auto number = static_cast<std::int32_t>(known.size());
      const auto [form, is_new] = known.try_emplace(forms.form(), number);
      if (is_new) {
        add_form(g);
        std::vector<LinkPlace>& own = places.emplace_back();
        for (const LinkId link : uses_.take_links()) own.push_back(forms.place_of(link));
      } else {
        communicator_.form_of.push_back(form->second);
      }
      links.clear();
      for (const LinkPlace& place : places[form->second]) links.push_back(forms.at(place));
      add_links(links);
    }
  }

 private:
  void add_form(std::size_t g) {
    communicator_.form_of.push_back(static_cast<std::int32_t>(communicator_.first_of_form.size()));
    communicator_.first_of_form.push_back(static_cast<std::int32_t>(g));
    plans_.add(communicator_.groups[g]);
  }

  // Most groups need as much room as the first.
  void add_links(std::span<const LinkId> links) {
    std::vector<LinkId>& all = communicator_.links;
    if (communicator_.first_link.size() == 1) all.reserve(communicator_.groups.size() * links.size());
    all.insert(all.end(), links.begin(), links.end());
    communicator_.first_link.push_back(all.size());
  }

  Communicator& communicator_;
  PlacedUses uses_;
  FormPlans plans_;
};

// The algorithm with which the slowest of these groups takes least, each by itself; a group to which it does
// not apply takes its best. REQUIRES: groups of two chips or more.
Algorithm least_of_slowest(const Fabric& fabric, const Collective& collective, const ChipGroups& groups,
                           std::span<const std::int32_t> of) {
  std::vector<std::map<Algorithm, Time>> times;  // [group]
  std::map<Algorithm, Time> slowest;
  for (const std::int32_t group : of) {
    std::map<Algorithm, Time>& own = times.emplace_back();
    for (const CollectivePlan& each :
         every_plan(fabric, collective, groups[static_cast<std::size_t>(group)], nullptr))
      slowest[each.algorithm] = own[each.algorithm] = predict(fabric, each);
  }
  const auto by_time = [](const auto& a, const auto& b) { return a.second < b.second; };
  for (auto& [algorithm, time] : slowest)
    for (const std::map<Algorithm, Time>& own : times) {
      const auto applies = own.find(algorithm);
      const auto taken = applies != own.end() ? applies : std::ranges::min_element(own, by_time);
      time = std::max(time, taken->second);
    }
  return std::ranges::min_element(slowest, by_time)->first;
}

// Chooses the algorithms of messages.
class Choice {
 public:
  explicit Choice(const Fabric& fabric) : fabric_(fabric), crowd_(fabric), slowest_groups_(fabric) {}

  // Of least predicted time: of the slowest group by itself, or, where groups of the communicator share
  // links, of all of them at once.
  Algorithm algorithm(int number, const Communicator& communicator, const CollectiveCall& message) {
    const std::span<const ChipId> first = communicator.groups.front();
    const Collective collective{message.kind, message.bytes, {}, message.fanout};
    if (communicator.point_to_point() || first.size() == 1) return plan(fabric_, collective, first).algorithm;
    if (communicator.groups.size() == 1 || !crowd_.shares_links(first))
      return for_slowest(number, communicator.groups, collective);
    auto [curves, is_new] = curves_.try_emplace({number, message.kind, message.fanout});
    if (is_new) curves->second = crowd_.curves(message.kind, message.fanout, listed(communicator.groups));
    return best(curves->second, message.bytes);
  }

 private:
  Algorithm for_slowest(int number, const ChipGroups& groups, const Collective& collective) {
    auto [slowest, is_new] = slowest_.try_emplace(number);
    if (is_new) slowest->second = slowest_groups_.of(groups);
    const std::vector<std::int32_t>& of = slowest->second;
    if (of.size() > 1) return least_of_slowest(fabric_, collective, groups, of);
    return plan(fabric_, collective, groups[static_cast<std::size_t>(of.front())]).algorithm;
  }

  static Crowd::Groups listed(const ChipGroups& groups) {
    Crowd::Groups list;
    for (const std::span<const ChipId> group : groups) list.emplace_back(group.begin(), group.end());
    return list;
  }

  // Of least time where all groups meet. Stages of a pipeline rarely do, so that of several which are as fast
  // there (but for kAsFast) the one is best that is fastest where none meets it.
  static Algorithm best(const std::vector<CrowdCurve>& curves, Bytes bytes) {
    constexpr double kAsFast = 1.01;
    double least = std::numeric_limits<double>::infinity();
    for (const CrowdCurve& curve : curves) least = std::min(least, curve.seconds(bytes));
    const auto alone = [&](const CrowdCurve& curve) {
      return curve.seconds(bytes) <= least * kAsFast ? curve.seconds_alone(bytes)
                                                     : std::numeric_limits<double>::infinity();
    };
    return std::ranges::min_element(curves, {}, alone)->algorithm;
  }

  const Fabric& fabric_;
  Crowd crowd_;
  SlowestGroups slowest_groups_;
  std::map<int, std::vector<std::int32_t>> slowest_;                                   // by communicator
  std::map<std::tuple<int, CollectiveKind, Fanout>, std::vector<CrowdCurve>> curves_;  // likewise
};

}  // namespace

Traffic plan_traffic(const Fabric& fabric, std::span<const LaidMesh> jobs,
                     const std::vector<CollectiveCall>& messages, const Fabric* chosen_on, bool each_group) {
  Traffic traffic;
  std::map<Scope, int> communicators;
  std::map<std::tuple<int, CollectiveKind, Algorithm, Fanout>, int> patterns;
  std::vector<Fanout> fanout_of;  // [pattern]
  Choice choice(chosen_on ? *chosen_on : fabric);
  for (const CollectiveCall& message : messages) {
    const Scope& scope = message.scope;
    PODSIM_CHECK(scope.job >= 0 && static_cast<std::size_t>(scope.job) < jobs.size(), "a scope is of a job");
    auto [communicator, is_new] =
        communicators.try_emplace(scope, static_cast<int>(traffic.communicators.size()));
    if (is_new) traffic.communicators.push_back(make_communicator(fabric, jobs[scope.job], scope));
    const Algorithm algorithm =
        choice.algorithm(communicator->second, traffic.communicators[communicator->second], message);
    auto [pattern, is_new_pattern] =
        patterns.try_emplace({communicator->second, message.kind, algorithm, message.fanout},
                             static_cast<int>(traffic.patterns.size()));
    if (is_new_pattern) {
      traffic.patterns.push_back({communicator->second, message.kind, algorithm, fabric.collective_launch});
      fanout_of.push_back(message.fanout);
    }
    traffic.pattern_of.push_back(pattern->second);
    traffic.communicator_of.push_back(communicator->second);
  }
  traffic.loads.resize(traffic.patterns.size());
  std::optional<GroupForms> forms;
  if (!each_group && GroupForms::tell(fabric)) forms.emplace(fabric);
  for (std::size_t c = 0; c < traffic.communicators.size(); ++c) {
    GroupPlans plans(fabric, traffic, c, fanout_of, jobs[traffic.communicators[c].scope.job].network_share);
    forms ? plans.plan_forms(*forms) : plans.plan_each();
  }
  return traffic;
}

const Traffic& TrafficPlans::plan(const Fabric& fabric, const std::vector<LaidMesh>& jobs,
                                  const std::vector<CollectiveCall>& messages, bool each_group) {
  if (traffic_ && fabric == fabric_ && jobs == jobs_ && messages == messages_ && each_group == each_group_)
    return *traffic_;
  traffic_.reset();
  traffic_ = plan_traffic(fabric, jobs, messages, chosen_on_, each_group);
  each_group_ = each_group;
  fabric_ = fabric;
  jobs_ = jobs;
  messages_ = messages;
  return *traffic_;
}

}  // namespace podsim
