// What a plan costs: predicted time, the bound below which no plan can be, and bus bandwidth.
#include <algorithm>

#include "collectives/blocks.h"
#include "collectives/collective.h"
#include "engine/check.h"
#include "engine/time_limits.h"

namespace podsim {
namespace {

Bandwidth injection(const Fabric& fabric, ChipId chip) {
  Bandwidth sum;
  for (const Link& link : fabric.out(chip)) sum += link.bandwidth;
  return sum;
}

// Whether some switch can reduce what several members send, so that they need not send it to each other.
bool share_reducing_switches(const Fabric& fabric, std::span<const ChipId> group) {
  if (fabric.sharp) return true;
  if (!fabric.nvls || fabric.gpus_per_domain <= 1) return false;
  return static_cast<std::size_t>(cut_at_domains(fabric, group).count()) < group.size();
}

// What each rank of an unequal all-to-all sends, and what it takes in.
Time unequal_bound(const Fabric& fabric, const Collective& collective, std::span<const ChipId> group) {
  double longest_s = 0;
  for (std::size_t rank = 0; rank < group.size(); ++rank) {
    const double share = collective.receive_share[rank], others = static_cast<double>(group.size() - 1);
    const Bytes busier = std::max(1 - share, others * share) * collective.bytes;
    longest_s = std::max(longest_s, seconds_at(busier, injection(fabric, group[rank])));
  }
  return capped_seconds(longest_s);
}

}  // namespace

Time predict(const Fabric& fabric, const CollectivePlan& plan) {
  Time time = plan.launch;
  for (const Phase& phase : plan.phases) {
    double busiest_s = 0;
    for (const LinkLoad& load : phase.loads)
      busiest_s = std::max(busiest_s, load.bytes / fabric.cable(load.link).bandwidth.value);
    time += phase.latency + phase.ramp.at(plan.bytes) + capped_seconds(busiest_s);
    time = std::min(time, kTooLongForAStep);  // of any number of phases
  }
  return time;
}

Time lower_bound(const Fabric& fabric, const Collective& collective, std::span<const ChipId> group) {
  const double n = static_cast<double>(group.size());
  if (group.size() < 2) return {};
  Bandwidth slowest = injection(fabric, group[0]), all;
  for (const ChipId chip : group) {
    slowest = std::min(slowest, injection(fabric, chip));
    all += injection(fabric, chip);
  }
  const double alone_s = seconds_at(collective.bytes * (1 / collective.fanout.copies), slowest);
  switch (collective.kind) {
    case CollectiveKind::kAllReduce: {
      if (share_reducing_switches(fabric, group)) return capped_seconds(alone_s);
      const double together_s = seconds_at(2 * (n - 1) * collective.bytes, all);
      return capped_seconds(std::max(alone_s, together_s));
    }
    case CollectiveKind::kAllToAll:
      if (!collective.receive_share.empty()) return unequal_bound(fabric, collective, group);
      [[fallthrough]];
    case CollectiveKind::kAllGather:
    case CollectiveKind::kReduceScatter:
      return capped_seconds((n - 1) / n * alone_s);
    case CollectiveKind::kBroadcast:
    case CollectiveKind::kSendReceive:
    case CollectiveKind::kPermute:
      return capped_seconds(alone_s);
    case CollectiveKind::kBarrier:
      return {};
  }
  return {};
}

Bandwidth bus_bandwidth(const Collective& collective, int ranks, Time time) {
  PODSIM_CHECK(ranks > 0 && time > Time{}, "bus bandwidth needs ranks and a time");
  const double passed_on = static_cast<double>(ranks - 1) / ranks;
  const Bandwidth algorithm_bandwidth{collective.bytes.value / time.in_seconds()};
  switch (collective.kind) {
    case CollectiveKind::kAllReduce:
      return 2 * passed_on * algorithm_bandwidth;
    case CollectiveKind::kAllGather:
    case CollectiveKind::kReduceScatter:
    case CollectiveKind::kAllToAll:
      return passed_on * algorithm_bandwidth;
    case CollectiveKind::kBarrier:
      return {};
    default:
      return algorithm_bandwidth;
  }
}

}  // namespace podsim
