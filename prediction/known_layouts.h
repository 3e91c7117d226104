// Jobs on their chips, remembered by what they depend on.
#pragma once

#include <memory>
#include <vector>

#include "scheduler/folding/laid_job.h"
#include "scheduler/folding/system.h"

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

  // As assemble of the job that was laid last, folded and without adversities. Stays until the next call of
  // either.
  const System& healthy_system();

 private:
  struct KnownFabric;
  struct KnownMesh;  // and what is known of jobs on it
  KnownMesh& mesh_of(const Spec& spec);

  std::vector<std::unique_ptr<KnownFabric>> fabrics_;
  std::vector<std::unique_ptr<KnownMesh>> meshes_;
  KnownMesh* mesh_ = nullptr;  // of the job that was laid last
  LaidJob laid_;
};

}  // namespace podsim
