// A job on its chips: placed, and partitioned by predicted time there.
#pragma once

#include "scheduler/folding/laid_job.h"
#include "workload/partition/partition_trace.h"

namespace podsim {

// The job of `spec` from `first_chip` on. What the partitioner decided goes to `trace`, where given.
LaidJob prepare_job(Spec spec, const Fabric& fabric, ChipId first_chip, PartitionTrace* trace = nullptr);

// With the shardings that would be chosen on another cluster of as many chips, whose fabric is `there`.
LaidJob prepare_job_as_on(const Cluster& cluster, const Fabric& there, Spec spec, const Fabric& fabric);

}  // namespace podsim
