// How long a chip takes for nodes that say what they compute and move instead of how long they took.
#pragma once

#include <optional>
#include <string>

#include "engine/units.h"
#include "ingest/chakra/trace.h"

namespace podsim {
struct Chip;
}

namespace podsim::chakra {

// One rate for every operation, whatever its format, as ASTRA-sim has it.
struct Roofline {
  std::string chip;
  FlopRate operations;  // that large matmuls in 16 bits sustain
  Bandwidth memory;     // that copies reach
};

// Nothing of a chip without matmuls in 16 bits.
std::optional<Roofline> roofline_of(const Chip& chip);

// A computation of a chip that says how many operations or bytes it has.
bool has_work(const Node& node);

// max(num_ops / operations, tensor_size / memory). REQUIRES: has_work(node).
double seconds_at(const Roofline& roofline, const Node& node);

}  // namespace podsim::chakra
