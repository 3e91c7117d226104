// Point-to-point collectives: all pairs at once, a single transfer, a shift round the group.
#include "collectives/algorithms.h"

namespace podsim {
namespace {

Phase send_phase(const Fabric& fabric, Bytes bytes, ChipId from, ChipId to) {
  LoadSum sum;
  sum.add(fabric, from, to, 1.0);
  const Time latency = sum.longest_latency();
  return {latency, sum.loads(bytes)};
}

Phase permute_phase(const Fabric& fabric, Bytes bytes, std::span<const ChipId> group) {
  LoadSum sum;
  for (std::size_t i = 0; i < group.size(); ++i)
    sum.add(fabric, group[i], group[(i + 1) % group.size()], 1.0);
  const Time latency = sum.longest_latency();
  return {latency, sum.loads(bytes)};
}

}  // namespace

std::optional<Phases> plan_direct(const Fabric& fabric, const Collective& collective,
                                  std::span<const ChipId> group) {
  switch (collective.kind) {
    case CollectiveKind::kAllToAll:
      if (collective.receive_share.empty()) return alone(all_to_all_phase(fabric, collective.bytes, group));
      return alone(all_to_all_v_phase(fabric, collective.bytes, collective.receive_share, group));
    case CollectiveKind::kPermute:
      return alone(permute_phase(fabric, collective.bytes, group));
    case CollectiveKind::kSendReceive:
      if (group.size() != 2) return std::nullopt;
      return alone(send_phase(fabric, collective.bytes, group[0], group[1]));
    default:
      return std::nullopt;
  }
}

std::optional<Phases> direct_in_one_slice(const Fabric& fabric, const Collective& collective,
                                          std::span<const ChipId> group, const AlikeSlices& slices) {
  if (collective.kind == CollectiveKind::kAllToAll && collective.receive_share.empty())
    return alone(all_to_all_phase(fabric, collective.bytes, group, &slices));
  return plan_direct(fabric, collective, group);
}

}  // namespace podsim
