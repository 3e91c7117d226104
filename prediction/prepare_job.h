// A job on its chips: placed, and partitioned by predicted time there.
#pragma once

#include "scheduler/folding/system.h"
#include "workload/partition/partition_trace.h"

namespace podsim {

// The job of `spec` from `first_chip` on. What the partitioner decided goes to `trace`, where given.
LaidJob prepare_job(Spec spec, const Fabric& fabric, ChipId first_chip, PartitionTrace* trace = nullptr);

}  // namespace podsim
