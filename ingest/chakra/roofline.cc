// The longer of two times.
#include "ingest/chakra/roofline.h"

#include <algorithm>

#include "engine/check.h"
#include "workload/job/chip.h"

namespace podsim::chakra {

std::optional<Roofline> roofline_of(const Chip& chip) {
  const MatmulRate* rate = chip.matmul_rate(Dtype::kBf16);
  if (!rate) return std::nullopt;
  return Roofline{chip.name, rate->reached(), chip.hbm * chip.hbm_efficiency};
}

bool has_work(const Node& node) {
  return node.type == NodeType::kCompute && !node.on_host && (node.operations > 0 || node.tensor_bytes > 0);
}

double seconds_at(const Roofline& roofline, const Node& node) {
  PODSIM_CHECK(has_work(node), "the node has operations or bytes");
  return std::max(podsim::seconds_at(Flops{static_cast<double>(node.operations)}, roofline.operations),
                  podsim::seconds_at(Bytes{static_cast<double>(node.tensor_bytes)}, roofline.memory));
}

}  // namespace podsim::chakra
