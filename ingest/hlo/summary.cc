// Puts the analyses of a module together.
#include "ingest/hlo/summary.h"

#include "ingest/hlo/replica_groups.h"

namespace podsim::hlo {

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
  summary.devices = devices_named(module);
  return summary;
}

}  // namespace podsim::hlo
