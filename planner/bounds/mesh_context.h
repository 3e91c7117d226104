// What all layouts on one mesh share: where it lies, what collectives cost there, and its pieces in time.
#pragma once

#include "planner/bounds/alone_times.h"
#include "planner/bounds/timed_pieces.h"
#include "scheduler/placement/fabric_cost.h"
#include "scheduler/question/spec.h"

namespace podsim {

// What collectives cost on any mesh of one fabric.
struct SharedTimes {
  FabricCost::Shared planned;
  AloneTimes::Shared alone;
};

// Not for several threads at once.
struct MeshContext {
  // `spec` has the mesh. REQUIRES: the fabric, which is that of its cluster, outlives this object, and so
  // does what it shares with other meshes of the fabric.
  MeshContext(const Fabric& fabric, const Spec& spec, SharedTimes* shared = nullptr);
  MeshContext(const MeshContext&) = delete;
  MeshContext& operator=(const MeshContext&) = delete;

  LaidMesh laid;
  FabricCost cost;
  AloneTimes alone;
  PieceTables pieces;
};

}  // namespace podsim
