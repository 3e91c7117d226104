// In which order nodes that wait for each other can run, and which never can.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ingest/chakra/trace.h"

namespace podsim::chakra {

// Of each node, what it waits for, in one or several lists.
using Waits = std::span<const Lists* const>;

// The nodes that can run, each behind all that it waits for; among several that could be next, that of the
// least id. The others lie on or behind a cycle. O((nodes + waits) log nodes).
std::vector<std::int32_t> order_of(const std::vector<Node>& nodes, Waits waits);

// Nodes that wait for each other in a circle, by their index. REQUIRES: not all nodes can run.
std::vector<std::int32_t> nodes_of_a_cycle(const std::vector<Node>& nodes, Waits waits);

}  // namespace podsim::chakra
