// Changes of a job that may need less memory: recompute, offload, sharding, microbatch, pipeline.
#pragma once

#include <string>
#include <vector>

#include "workload/job/job.h"

namespace podsim {

struct JobChange {
  std::string words;  // as a scenario says it
  Job job;
};

// Degrees of one change, mildest first; none is empty and every job is valid. `host_link` = the chip can
// offload.
std::vector<std::vector<JobChange>> memory_changes(const Job& job, bool host_link);

}  // namespace podsim
