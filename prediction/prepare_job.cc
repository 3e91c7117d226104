// A job on its chips: placed, and partitioned by predicted time there.
#include "prediction/prepare_job.h"

#include <utility>

#include "engine/stage_timer.h"
#include "scheduler/placement/fabric_cost.h"

namespace podsim {

namespace {

// Shardings are chosen by times on `chip` and the fabric `there`.
LaidJob prepare_chosen(const Chip& chip, const Fabric& there, Spec spec, const Fabric& fabric,
                       ChipId first_chip, PartitionTrace* trace) {
  const StageTimer timer("place and partition");
  LaidJob laid;
  laid.placement = place(fabric, spec.job.mesh, spec.placement, first_chip);
  const FabricCost cost(there, spec.job.mesh, laid.placement,
                        chip.matmul.at(spec.job.precision.dtype).reached());
  laid.program = partition(spec.job, cost, trace);
  laid.spec = std::move(spec);
  return laid;
}

}  // namespace

LaidJob prepare_job(Spec spec, const Fabric& fabric, ChipId first_chip, PartitionTrace* trace) {
  const Chip chip = spec.cluster.chip;
  return prepare_chosen(chip, fabric, std::move(spec), fabric, first_chip, trace);
}

LaidJob prepare_job_as_on(const Cluster& cluster, const Fabric& there, Spec spec, const Fabric& fabric) {
  return prepare_chosen(cluster.chip, there, std::move(spec), fabric, 0, nullptr);
}

}  // namespace podsim
