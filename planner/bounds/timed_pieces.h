// The pieces of a model as one chip of a mesh has them, with the least time of each.
#pragma once

#include <list>
#include <memory>
#include <utility>
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

  // REQUIRES: the mesh of the spec is that of the table.
  std::shared_ptr<const TimedPieces> of(const Spec& spec) const;

 private:
  const CostModel& cost_;
  const AloneTimes& alone_;
  mutable std::list<std::pair<Job, std::shared_ptr<const TimedPieces>>> known_;  // the one used last first
};

}  // namespace podsim
