// Partitions the jobs and takes the fullest stage.
#include "prediction/memory_need.h"

#include <algorithm>

#include "scheduler/question/spec.h"
#include "workload/job/chip.h"
#include "workload/partition/program.h"

namespace podsim {
namespace {

MemoryNeed need_of(const std::string& name, const Job& job, Bytes capacity) {
  const std::vector<MemoryUse> stages = partition(job).memory;
  const auto fullest =
      std::max_element(stages.begin(), stages.end(),
                       [](const MemoryUse& a, const MemoryUse& b) { return a.total() < b.total(); });
  return {name, fullest->total(), capacity, static_cast<int>(fullest - stages.begin()),
          job.stack.retry_free_share};
}

}  // namespace

std::vector<MemoryNeed> memory_needs(const Spec& spec) {
  const Bytes capacity = spec.cluster.chip.hbm_capacity;
  if (spec.jobs.empty()) return {need_of("", spec.job, capacity)};
  std::vector<MemoryNeed> needs;
  for (const PlacedJob& job : spec.jobs) needs.push_back(need_of(job.name, job.job, capacity));
  return needs;
}

}  // namespace podsim
