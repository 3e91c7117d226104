// Random systems on which everything that a simulation knows may meet everything else.
#pragma once

#include <array>

#include "tests/scheduler/simulation/random_system.h"

namespace podsim::testing {

// What a trial may have.
enum class Feature {
  kOperationJitter,
  kStepFactors,  // of each chip or host, or of the job
  kHiccups,
  kCollection,
  kInputStalls,
  kLateLaunches,
  kLengths,
  kSpeedsOverTime,
  kSlowParts,
  kHostCopies,
  kInterference,
  kSkew,
  kHostLaunches,
  kPrefetch,
  kSeveralSteps,
  kUnfolded,
  kSeveralJobs,
};
inline constexpr int kFeatures = 17;

// A system, how it is simulated, and what it has.
struct RandomTrial {
  System system;
  SimulateOptions options;
  std::array<bool, kFeatures> has{};  // [Feature]
};
RandomTrial random_trial(int round);

// One with these features at most.
RandomTrial random_trial(int round, const std::array<bool, kFeatures>& may_have);

}  // namespace podsim::testing
