// Puts the analyses of a module together.
#include "ingest/hlo/summary.h"

#include <algorithm>

#include "ingest/hlo/fields.h"

namespace podsim::hlo {
namespace {

// The largest number in the groups, plus 1, or what the header says.
std::int64_t devices_of(const Module& module, const std::vector<CollectiveUse>& collectives) {
  std::int64_t devices = saturating_multiply(module.partitions, module.replicas);
  for (const CollectiveUse& use : collectives)
    if (use.groups.mode == GroupMode::kDevices)
      devices = std::max(devices, saturating_multiply(use.groups.size, use.groups.count));
  return devices;
}

}  // namespace

Summary summarize(const Module& module, const std::map<std::string, std::int64_t>& trips) {
  Summary summary;
  summary.module = module.name;
  summary.entry = module.entry_computation().name;
  summary.scheduled = module.scheduled;
  summary.partitions = module.partitions;
  summary.replicas = module.replicas;
  summary.computations = static_cast<std::int64_t>(module.computations.size());
  for (const Computation& each : module.computations)
    summary.instructions += static_cast<std::int64_t>(each.instructions.size());
  summary.loops = loop_counts(module, trips);
  summary.once = CostAnalysis(module, nullptr).of(module.entry);
  summary.executed = CostAnalysis(module, &summary.loops).of(module.entry);
  summary.executions = executions(module, summary.loops);
  summary.collectives = collective_uses(module, summary.executions);
  summary.devices = devices_of(module, summary.collectives);
  return summary;
}

}  // namespace podsim::hlo
