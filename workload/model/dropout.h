// What dropout keeps from forward to backward.
#pragma once

namespace podsim {

// Bytes of the mask for each element. Source: arXiv 2205.05198, section 4.1.
inline constexpr double kMaskBytes = 1;

}  // namespace podsim
