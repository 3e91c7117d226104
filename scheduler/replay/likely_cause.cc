// The first rule that holds names the cause.
#include "scheduler/replay/likely_cause.h"

#include <algorithm>

namespace podsim {
namespace {

constexpr std::size_t kMostCulprits = 20;
constexpr double kCulpritShare = 0.5;  // of S - 1

}  // namespace

std::vector<Culprit> culprits(const WhatIf& result) {
  std::vector<Culprit> found;
  if (result.S.mean < kWorthNaming) return found;
  const double least = 1 + kCulpritShare * (result.S.mean - 1);
  for (std::size_t w = 0; w < result.workers.size(); ++w)
    if (result.by_worker[w] >= least) found.push_back({result.workers[w], result.by_worker[w]});
  std::ranges::stable_sort(found, [](const Culprit& a, const Culprit& b) {
    if (a.slowdown != b.slowdown) return a.slowdown > b.slowdown;
    return a.worker.global_rank < b.worker.global_rank;
  });
  if (found.size() > kMostCulprits) found.resize(kMostCulprits);
  return found;
}

std::string likely_cause(const WhatIf& result) {
  if (result.S.mean < kWorthNaming) return "none";
  if (result.few_workers.gained && *result.few_workers.gained > kFewWorkersShare) return "few workers";
  if (result.stages() > 1 && result.last_stage.gained && *result.last_stage.gained >= kLastStageShare)
    return "last pipeline stage";
  if (result.length_correlation && *result.length_correlation >= kLengthCorrelation)
    return "sequence lengths";
  const double least = 1 + kTypeShare * (result.S.mean - 1);
  for (const TypeSlowdown& type : result.by_type) {
    if (type.slowdown.mean < least) continue;
    if (type.type == to_string(OpType::kGarbageCollection)) return "garbage collection";
    if (type.type == to_string(OpType::kInput)) return "stalls of input";
  }
  for (const TypeSlowdown& type : result.by_type)
    if (type.communication && type.slowdown.mean >= least) return "communication";
  return "unknown";
}

}  // namespace podsim
