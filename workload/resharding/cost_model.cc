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

bool SharedMessages::shares(CollectiveKind kind, const AxisList& axes) const {
  const bool gathers_or_reduces = kind == CollectiveKind::kAllGather ||
                                  kind == CollectiveKind::kReduceScatter ||
                                  kind == CollectiveKind::kAllReduce;
  return gathers_or_reduces && !along_.empty() && canonical(axes) == along_;
}

double SharedMessages::collective(CollectiveKind kind, const AxisList& axes, Bytes bytes) const {
  if (!shares(kind, axes)) return alone_.collective(kind, axes, bytes);
  if (kind == CollectiveKind::kAllReduce)
    return collective(CollectiveKind::kReduceScatter, axes, bytes) +
           collective(CollectiveKind::kAllGather, axes, bytes);
  return alone_.collective(kind, axes, bytes) - alone_.collective(kind, axes, {});
}

// Without a fabric computation has no price; plans are held to a limit of FLOPs instead.
double SentBytes::compute(Flops) const { return 0; }

}  // namespace podsim
