// The pieces of a model as one chip of a mesh has them, with the least time of each.
#pragma once

#include <list>
#include <memory>
#include <vector>

#include "planner/bounds/stage_bound.h"
#include "scheduler/question/spec.h"
#include "workload/partition/partitioned_model.h"

namespace podsim {

class AloneTimes;
class CostModel;

// Of one job, all of whose layers follow its policy of recompute.
struct TimedPieces {
  ModelProgram model;
  std::vector<PartitionedPart> parts;  // [part of the model]
  StageTimes times;
};

// Pieces of jobs on one mesh, the last few remembered: jobs that differ in their schedule, their chunks or
// the layers that recompute have the same ones. Not for several threads at once.
class PieceTables {
 public:
  // REQUIRES: both outlive this object, and are of one mesh.
  PieceTables(const CostModel& cost, const AloneTimes& alone) : cost_(cost), alone_(alone) {}

  // `passes_alone`: what the optimizer and the reductions of a step take is not wanted. REQUIRES: the mesh of
  // the spec is that of the table.
  std::shared_ptr<const TimedPieces> of(const Spec& spec, bool passes_alone = false) const;

 private:
  const CostModel& cost_;
  const AloneTimes& alone_;
  struct Known {
    Job job;
    bool passes_alone;
    std::shared_ptr<const TimedPieces> pieces;
  };
  mutable std::list<Known> known_;  // the one used last first
};

}  // namespace podsim
