// Jobs on their chips, remembered by what they depend on.
#pragma once

#include <list>
#include <memory>
#include <vector>

#include "scheduler/folding/laid_job.h"
#include "scheduler/simulation/simulate.h"

namespace podsim {

// Fabrics, placements, times of collectives, partitioned models and folded systems of jobs that have a whole
// cluster. What is asked for again is not made again; what comes out is the same either way, in any order of
// questions. Keeps a few of each. Not for several threads at once.
class KnownLayouts {
 public:
  KnownLayouts();
  ~KnownLayouts();
  KnownLayouts(const KnownLayouts&) = delete;
  KnownLayouts& operator=(const KnownLayouts&) = delete;

  // As build_fabric.
  std::shared_ptr<const Fabric> fabric(const FabricSpec& spec);

  // As prepare_job of the only job of the spec, on all chips. Stays until the next call.
  const LaidJob& lay(const Spec& spec);

  // The same without its adversities; name, seeds and prices may be those of an equal one. Stays until the
  // next call.
  const LaidJob& lay_healthy(const Spec& spec);

  // The mean step of the job that was laid so last, with its evaluations. The system of a job that was
  // simulated before is known.
  Time healthy_step_time(const SimulateOptions& draw);

 private:
  struct KnownFabric;
  struct KnownMesh;  // and what is known of jobs on it
  struct KnownStep;
  KnownMesh& mesh_of(const Spec& spec);
  StepProgram program_of(const Job& job, KnownMesh& mesh);

  std::vector<std::unique_ptr<KnownFabric>> fabrics_;
  std::vector<std::unique_ptr<KnownMesh>> meshes_;
  std::list<KnownStep> steps_;  // the one used last first
  LaidJob laid_;
};

}  // namespace podsim
