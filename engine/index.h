// A place in a list as the vectors of the standard library count it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace podsim {

// REQUIRES: index >= 0.
constexpr std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

}  // namespace podsim
