// Adds up the intervals of each collective, and holds what it puts on its busiest link against their length.
#include "report/pictures/collective_uses.h"

#include <algorithm>
#include <map>
#include <utility>

#include "collectives/collective.h"
#include "scheduler/simulation/state/timeline_parts.h"

namespace podsim {
namespace {

// The link that takes longest for its part of a collective, at its full rate.
struct BusiestLink {
  double seconds = 0;
  std::int32_t link = -1;
};

class BusiestLinks {
 public:
  explicit BusiestLinks(const System& system) : system_(system) {
    for (std::size_t c = 0; c < system.chips.size(); ++c)
      class_of_[system.chips[c].representative] = static_cast<std::int32_t>(c);
  }

  // Of a message as the group of this chip runs it; nothing where the chip is in none.
  BusiestLink of(ChipId chip, std::int32_t message) {
    const auto communicator =
        static_cast<std::size_t>(system_.communicator_of[static_cast<std::size_t>(message)]);
    const auto& chip_class = system_.chips[static_cast<std::size_t>(class_of_.at(chip))];
    const std::int32_t group = chip_class.group_class[communicator];
    if (group < 0) return {};
    const auto [entry, fresh] = known_.try_emplace({group, message});
    if (fresh) entry->second = search(group, message);
    return entry->second;
  }

 private:
  BusiestLink search(std::int32_t group, std::int32_t message) const {
    std::map<std::int32_t, double> bytes_on;
    visit_link_bytes(system_, group, message, 1,
                     [&](std::int32_t link, double bytes) { bytes_on[link] += bytes; });
    BusiestLink busiest;
    for (const auto& [link, bytes] : bytes_on) {
      const double rate = system_.links[static_cast<std::size_t>(link)].bandwidth.value;
      if (rate > 0 && bytes / rate > busiest.seconds) busiest = {bytes / rate, link};
    }
    return busiest;
  }

  const System& system_;
  std::map<ChipId, std::int32_t> class_of_;
  std::map<std::pair<std::int32_t, std::int32_t>, BusiestLink> known_;  // [group, message]
};

// What is named of a collective; its times are added up before.
void describe(CollectiveUse& use, const System& system, std::int32_t message) {
  const auto m = static_cast<std::size_t>(message);
  const CollectiveCall& call = system.step.messages[m];
  const Mesh& mesh = system.meshes[static_cast<std::size_t>(call.scope.job)];
  const auto pattern = static_cast<std::size_t>(system.pattern_of[m]);
  use.axes = axis_names(mesh, call.scope.axes);
  use.kind = to_string(call.kind);
  use.algorithm = to_string(system.patterns[pattern].algorithm);
  use.bytes = call.bytes;
  const int ranks = shard_count(mesh, call.scope.axes);
  if (call.scope.point_to_point()) {
    use.axes = "pipeline";
  } else if (ranks > 1) {
    use.bus_bytes = bus_bandwidth({call.kind, call.bytes}, ranks, Time::seconds(1)).value;
  }
}

}  // namespace

double bus_bandwidth(const CollectiveUse& use) {
  return use.under_way_s > 0 ? use.bus_bytes * use.times / use.under_way_s : 0;
}

std::vector<CollectiveUse> collective_uses(const System& system, const Timeline& timeline) {
  std::map<ChipId, std::int64_t> chips_of;
  double chips = 0;
  for (const ChipTotals& totals : timeline.chips) {
    chips_of[totals.representative] = totals.chips;
    chips += static_cast<double>(totals.chips);
  }
  BusiestLinks links(system);
  std::map<std::int32_t, CollectiveUse> by_message;
  std::map<std::int32_t, BusiestLink> in_all;  // [message] of the chips that say which, and by how much
  std::map<std::int32_t, double> told_s;       // [message] how long these are under way
  bool receives = false;                       // the next that is shown of a transfer: who sends is the first
  for (const Interval& interval : timeline.intervals) {
    if (interval.message < 0) continue;
    const bool transfer =
        system.step.messages[static_cast<std::size_t>(interval.message)].scope.point_to_point();
    const bool received = transfer && std::exchange(receives, !receives);
    if (interval.begin >= timeline.step_end.front()) continue;
    CollectiveUse& use = by_message[interval.message];
    const double share = static_cast<double>(chips_of[interval.chip]) / chips;
    const double seconds = share * (interval.end - interval.begin).in_seconds();
    use.times += share;
    use.under_way_s += seconds;
    if (received) continue;
    const BusiestLink busiest = links.of(interval.chip, interval.message);
    if (busiest.link < 0) continue;
    BusiestLink& sum = in_all[interval.message];
    sum.seconds += share * busiest.seconds;
    if (sum.link < 0) sum.link = busiest.link;
    told_s[interval.message] += seconds;
  }
  std::vector<CollectiveUse> uses;
  for (auto& [message, use] : by_message) {
    describe(use, system, message);
    const auto busiest = in_all.find(message);
    if (busiest != in_all.end() && told_s[message] > 0) {
      use.link = to_string(system.links[static_cast<std::size_t>(busiest->second.link)].kind);
      use.link_share = busiest->second.seconds / told_s[message];
    }
    uses.push_back(use);
  }
  std::ranges::stable_sort(
      uses, [](const CollectiveUse& a, const CollectiveUse& b) { return a.under_way_s > b.under_way_s; });
  return uses;
}

}  // namespace podsim
