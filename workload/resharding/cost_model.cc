// Bytes that one device sends, where there is no fabric to time a plan on.
#include "workload/resharding/cost_model.h"

namespace podsim {

Bytes sent_bytes(CollectiveKind kind, int group_size, Bytes bytes) {
  const double share = (group_size - 1.0) / group_size;
  switch (kind) {
    case CollectiveKind::kAllReduce:
      return 2 * share * bytes;
    case CollectiveKind::kAllGather:
    case CollectiveKind::kReduceScatter:
    case CollectiveKind::kAllToAll:
    case CollectiveKind::kBroadcast:
      return share * bytes;
    case CollectiveKind::kPermute:
    case CollectiveKind::kSendReceive:
      return bytes;
    case CollectiveKind::kBarrier:
      return {};
  }
  return {};
}

double SentBytes::collective(CollectiveKind kind, const AxisList& axes, Bytes bytes) const {
  return sent_bytes(kind, shard_count(axes), bytes).value;
}

double SharedMessages::collective(CollectiveKind kind, const AxisList& axes, Bytes bytes) const {
  const double alone = alone_.collective(kind, axes, bytes);
  if (canonical(axes) != along_) return alone;
  switch (kind) {
    case CollectiveKind::kAllReduce:
      return collective(CollectiveKind::kReduceScatter, axes, bytes) +
             collective(CollectiveKind::kAllGather, axes, bytes);
    case CollectiveKind::kAllGather:
    case CollectiveKind::kReduceScatter:
      return alone - alone_.collective(kind, axes, {});
    default:
      return alone;
  }
}

// Without a fabric computation has no price; plans are held to a limit of FLOPs instead.
double SentBytes::compute(Flops) const { return 0; }

}  // namespace podsim
