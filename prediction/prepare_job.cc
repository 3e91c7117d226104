// A job on its chips: placed, and partitioned by predicted time there.
#include "prediction/prepare_job.h"

#include <utility>

#include "engine/stage_timer.h"
#include "scheduler/placement/fabric_cost.h"

namespace podsim {

LaidJob prepare_job(Spec spec, const Fabric& fabric, ChipId first_chip, PartitionTrace* trace) {
  const StageTimer timer("place and partition");
  LaidJob laid;
  laid.placement = place(fabric, spec.job.mesh, spec.placement, first_chip);
  const MatmulRate& rate = spec.cluster.chip.matmul.at(spec.job.precision.dtype);
  const FabricCost cost(fabric, spec.job.mesh, laid.placement, rate.peak * rate.sustained);
  laid.program = partition(spec.job, cost, trace);
  laid.spec = std::move(spec);
  return laid;
}

}  // namespace podsim
