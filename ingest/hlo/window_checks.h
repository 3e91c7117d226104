// Shapes that windows and kernels make: convolutions, windowed reductions, slices and paddings.
#pragma once

#include <optional>
#include <string>

#include "ingest/hlo/module.h"

namespace podsim::hlo {

// The shape that the operands of these operations make; nothing for other operations, and where attributes
// cannot be read. Why operands do not go together is left in `problem`.
std::optional<Shape> shape_of_windows(const Computation& computation, const Instruction& instruction,
                                      std::string& problem);

}  // namespace podsim::hlo
