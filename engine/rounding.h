// Rounding to whole picoseconds where it is done millions of times.
#pragma once

#include <cstdint>

#include "engine/units.h"

namespace podsim {

// As std::llround, without the call. REQUIRES: 0 <= ps < 2^63.
// Halves go up, as there.
inline Time nearest(double ps) {
  const auto whole = static_cast<std::int64_t>(ps);
  return {whole + (ps - static_cast<double>(whole) >= 0.5)};
}

}  // namespace podsim
