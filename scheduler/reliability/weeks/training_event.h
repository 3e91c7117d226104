// Events of a simulated training run, and the parts of a recovery in their order.
#pragma once

#include <array>
#include <cstdint>

#include "scheduler/reliability/weeks/buckets.h"
#include "scheduler/reliability/weeks/training_run.h"

namespace podsim {

// What happens next to a training run.
struct TrainingEvent {
  enum class Kind : std::uint8_t { kFailure, kStrike, kFound, kSwapped, kMended, kPhaseEnd, kPersisted };
  Kind kind;
  std::int32_t source = 0;      // of arrivals
  std::int32_t first_node = 0;  // of what is struck or mended
  std::int64_t number = 0;      // which failure of the source; of phases and checkpoints, which one
  std::int64_t work = 0;        // that a checkpoint holds
};

// A part of a recovery, and how long it takes.
struct RecoveryStep {
  RunBucket bucket;
  Delay Recovery::*delay;
};
inline constexpr std::array<RecoveryStep, 6> kRecovery = {{{RunBucket::kDetection, &Recovery::detection},
                                                           {RunBucket::kDiagnosis, &Recovery::diagnosis},
                                                           {RunBucket::kScheduling, &Recovery::scheduling},
                                                           {RunBucket::kRestart, &Recovery::restart},
                                                           {RunBucket::kRestore, &Recovery::restore},
                                                           {RunBucket::kWarmUp, &Recovery::warm_up}}};
inline constexpr std::size_t kFirstStep = 0, kScheduling = 2;

}  // namespace podsim
