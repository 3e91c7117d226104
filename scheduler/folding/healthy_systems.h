// Systems of one job after the other on one placed mesh, where nothing is wrong.
#pragma once

#include <list>
#include <vector>

#include "scheduler/folding/laid_job.h"
#include "scheduler/folding/system.h"

namespace podsim {

// Plans and folds once for all jobs that send the same along the same mesh; only their programs are lowered
// anew.
class HealthySystems {
 public:
  // REQUIRES: the fabric outlives this.
  explicit HealthySystems(const Fabric& fabric) : fabric_(fabric) {}

  // As assemble(fabric, {&job, 1}, {}, true). REQUIRES: all jobs have one mesh and one placement.
  System assemble(const LaidJob& job);

 private:
  struct Known {
    int pipeline_axis;
    double network_share;
    std::vector<CollectiveCall> messages;
    System system;  // without its step
  };
  const Fabric& fabric_;
  std::list<Known> known_;  // the one used last first
};

}  // namespace podsim
