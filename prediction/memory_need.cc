// Partitions the jobs, one that is alone on its fabric, and takes the fullest stage.
#include "prediction/memory_need.h"

#include <algorithm>

#include "prediction/prepare_job.h"
#include "report/tables/memory_text.h"
#include "report/text/text.h"
#include "topology/fabric.h"
#include "workload/job/chip.h"
#include "workload/partition/program.h"

namespace podsim {
namespace {

MemoryNeed need_of(const std::string& name, const Job& job, const std::vector<MemoryUse>& stages,
                   Bytes capacity) {
  const auto fullest =
      std::max_element(stages.begin(), stages.end(),
                       [](const MemoryUse& a, const MemoryUse& b) { return a.total() < b.total(); });
  return {name, fullest->total(), capacity, static_cast<int>(fullest - stages.begin()),
          job.stack.retry_free_share};
}

}  // namespace

std::vector<MemoryNeed> memory_needs(const Spec& spec) {
  const Bytes capacity = spec.cluster.chip.hbm_capacity;
  if (spec.jobs.empty()) {
    const LaidJob laid = prepare_job(spec, build_fabric_by_rule(spec.cluster.fabric), 0);
    return {need_of("", spec.job, laid.program.memory, capacity)};
  }
  std::vector<MemoryNeed> needs;
  for (const PlacedJob& job : spec.jobs)
    needs.push_back(need_of(job.name, job.job, partition(job.job).memory, capacity));
  return needs;
}

std::vector<std::string> memory_warnings(const Spec& spec) {
  std::vector<std::string> warnings;
  for (const MemoryNeed& need : memory_needs(spec)) {
    const std::string who = spec.name + (need.job.empty() ? "" : ", job " + need.job);
    const std::string stage = std::to_string(need.stage);
    const std::string risk = memory_risk(need.needed.value, need.capacity.value, need.retry_free_share);
    if (!risk.empty()) warnings.push_back(who + ": stage " + stage + ": " + risk);
    if (!need.fits())
      warnings.push_back(who + " does not fit in memory: a chip of stage " + stage + " needs " +
                         gib(need.needed) + " and has " + gib(need.capacity) +
                         "; podsim run tells what would help");
  }
  return warnings;
}

}  // namespace podsim
