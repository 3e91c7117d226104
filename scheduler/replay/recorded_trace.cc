// The names of operations in traces.
#include "scheduler/replay/recorded_trace.h"

#include <algorithm>
#include <array>

namespace podsim {
namespace {

constexpr std::array<std::string_view, kOpTypes> kOperationNames = {
    "forward-compute",
    "backward-compute",
    "optimizer",
    "gc",
    "forward-send",
    "forward-recv",
    "backward-send",
    "backward-recv",
    "params-all-gather",
    "grads-reduce-scatter",
    "separate-grads-all-reduce",
    "layernorm-grads-all-reduce",
    "embedding-grads-all-reduce",
    "optimizer-clip-main-grad",
    "input",
};

}  // namespace

std::string_view to_string(OpType type) { return kOperationNames[static_cast<std::size_t>(type)]; }

std::optional<OpType> op_type_named(std::string_view name) {
  const auto found = std::find(kOperationNames.begin(), kOperationNames.end(), name);
  if (found == kOperationNames.end()) return std::nullopt;
  return static_cast<OpType>(found - kOperationNames.begin());
}

std::vector<std::string> op_type_names() { return {kOperationNames.begin(), kOperationNames.end()}; }

}  // namespace podsim
