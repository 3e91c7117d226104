// How a command ends, as its exit code tells.
#pragma once

namespace podsim {

// 0: done; 1: podsim failed (a full disk, a fault of its own); 2: the input must be changed; 3: the question
// is a good one, and nothing answers it.
inline constexpr int kDone = 0;
inline constexpr int kInternalError = 1;
inline constexpr int kInputError = 2;
inline constexpr int kInfeasible = 3;

}  // namespace podsim
