// Groups of chips and the load each collective puts on links: communicators and their patterns, before any
// folding.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "scheduler/placement/place.h"
#include "scheduler/traffic/pattern_traffic.h"

namespace podsim {

// All groups of one scope. Point to point: group g holds {source, destination} and every chip is source of at
// most one group and destination of at most one. Groups of one form (scheduler/traffic/group_forms.h) put the
// same on their own links, which are listed in the same order.
struct Communicator {
  Scope scope;
  ChipGroups groups;
  std::vector<std::int32_t> group_of;              // [chip], point to point: as source; -1 = none
  std::vector<std::int32_t> group_as_destination;  // [chip], point to point only
  std::vector<std::int32_t> form_of;               // [group]
  std::vector<std::int32_t> first_of_form;         // [form] the lowest group
  std::vector<LinkId> links;                       // that groups load, each once, group after group
  std::vector<std::size_t> first_link = {0};       // [group], and the end

  bool point_to_point() const { return scope.point_to_point(); }
  std::span<const LinkId> links_of(std::size_t group) const {
    return {links.data() + first_link[group], links.data() + first_link[group + 1]};
  }
};

// The plan of all messages of a step: whoever folds or simulates it looks at no route any more.
struct Traffic {
  std::vector<Communicator> communicators;
  std::vector<PlannedCollective> patterns;
  std::vector<PatternTraffic> loads;          // [pattern]
  std::vector<std::int32_t> pattern_of;       // [message]
  std::vector<std::int32_t> communicator_of;  // [message]
};

// The algorithm of a message is the one of least predicted time at the message's size, for the slowest group
// alone (slowest_groups.h) or, where groups share links, for all of them at once, and for one alone among
// those that tie.
// `jobs` are those that the messages' scopes name; no chip belongs to two of them. With `chosen_on`, a fabric
// of as many chips, algorithms are those that would be chosen there. Of groups of one form one is planned;
// with `each_group` every group is, and has a form of its own: the same traffic.
Traffic plan_traffic(const Fabric& fabric, std::span<const LaidMesh> jobs,
                     const std::vector<CollectiveCall>& messages, const Fabric* chosen_on = nullptr,
                     bool each_group = false);

// Keeps the traffic that was planned last for whoever asks for the same: a slow chip changes no link.
class TrafficPlans {
 public:
  // `chosen_on` as of plan_traffic; it must outlive this.
  explicit TrafficPlans(const Fabric* chosen_on = nullptr) : chosen_on_(chosen_on) {}

  bool chosen_elsewhere() const { return chosen_on_ != nullptr; }

  // As plan_traffic; stays until the next call. Where all is as in the last call, nothing is planned.
  const Traffic& plan(const Fabric& fabric, const std::vector<LaidMesh>& jobs,
                      const std::vector<CollectiveCall>& messages, bool each_group = false);

 private:
  const Fabric* chosen_on_;
  Fabric fabric_;
  std::vector<LaidMesh> jobs_;
  std::vector<CollectiveCall> messages_;
  bool each_group_ = false;
  std::optional<Traffic> traffic_;
};

}  // namespace podsim
