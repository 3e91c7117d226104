// A job laid on chips.
#pragma once

#include "scheduler/placement/place.h"
#include "scheduler/question/spec.h"
#include "workload/partition/program.h"

namespace podsim {

// One job and the chips of the fabric that it has.
struct LaidJob {
  Spec spec;  // its cluster is a fabric of the job's own chips
  StepProgram program;
  Placement placement;  // on chips of the fabric that it shares
};

}  // namespace podsim
