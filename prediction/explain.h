// Why a job is partitioned as it is: every operation with its shardings, collectives and the plans that lost.
#pragma once

#include <string>

#include "workload/partition/partition_trace.h"

namespace podsim {

struct Spec;

struct Explanation {
  std::string scenario_sha256;
  std::string scenario, mesh, fabric;  // mesh: "data 8 x tensor 8"
  PartitionTrace trace;
};

// REQUIRES: the spec is valid and has one job. Deterministic.
Explanation explain_step(const Spec& spec);

}  // namespace podsim
