// Who slows a job down, and the most likely reason, from its what-if figures.
#pragma once

#include <string>
#include <vector>

#include "scheduler/replay/what_if.h"

namespace podsim {

// Thresholds of Lin et al. (OSDI 2025), but for the two that are marked as ours.
inline constexpr double kStraggling = 1.1;         // S of a job that is said to straggle
inline constexpr double kFewWorkersShare = 0.5;    // M_W above it: a few workers
inline constexpr double kLastStageShare = 0.5;     // M_S from it on: the last stage
inline constexpr double kLengthCorrelation = 0.9;  // from it on: lengths of sequences
inline constexpr double kTypeShare = 0.5;          // ours: of the time lost, by ops of a type alone
inline constexpr double kWorthNaming = 1.001;      // ours: S below which nobody is blamed

// Workers whose S_w - 1 is at least half of S - 1, at most 20; none below kWorthNaming.
std::vector<Culprit> culprits(const WhatIf& result);

// In the order of the rules: "none", "few workers", "last pipeline stage", "sequence lengths", "garbage
// collection", "stalls of input", "communication", "unknown".
std::string likely_cause(const WhatIf& result);

}  // namespace podsim
