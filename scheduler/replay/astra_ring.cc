// The formula of its analytical network, chunk by chunk.
#include "scheduler/replay/astra_ring.h"

#include <cmath>

#include "engine/binary_units.h"
#include "engine/check.h"
#include "scheduler/replay/replay_graph.h"

namespace podsim {
namespace {

constexpr double kNanoseconds = 1e9;

std::int64_t ring_ns(const RecordedTransfer& transfer, const AstraRing& ring) {
  const auto ranks = static_cast<std::int64_t>(transfer.group.size());
  PODSIM_CHECK(ranks > 0 && ring.chunks > 0 && ring.link_gib_per_s > 0,
               "a ring of ranks and links that carry");
  const double shares = static_cast<double>(ranks), chunks = static_cast<double>(ring.chunks);
  std::int64_t steps = ranks - 1;
  switch (transfer.kind) {
    case CollectiveKind::kAllReduce:
      steps = 2 * (ranks - 1);
      break;
    case CollectiveKind::kAllGather:  // its bytes are those of all shards together
    case CollectiveKind::kReduceScatter:
      break;
    default:
      throw ReplayError("ASTRA-sim's ring is known of all-reduce, all-gather and reduce-scatter, not of " +
                        std::string(to_string(transfer.kind)));
  }
  const double message = transfer.bytes.value / (chunks * shares);
  const auto hop = static_cast<std::int64_t>(std::floor(
      static_cast<double>(ring.latency_ns) + message / (ring.link_gib_per_s * kBytesPerGib) * kNanoseconds));
  const auto memory =
      static_cast<std::int64_t>(std::floor(message / ring.memory_gb_per_s));  // 10^9 B/s: B per ns
  return ring.chunks *
         (ring.endpoint_delay_ns + steps * (hop + ring.endpoint_delay_ns) + 3 * (ranks - 1) * memory);
}

}  // namespace

std::vector<Time> astra_ring_times(const StepGraph& graph, const AstraRing& ring) {
  constexpr std::int64_t kPicoseconds = 1000;  // of a nanosecond
  std::vector<Time> times;
  for (const RecordedTransfer& transfer : graph.transfers)
    times.push_back({ring_ns(transfer, ring) * kPicoseconds});
  return times;
}

}  // namespace podsim
