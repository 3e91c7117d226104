// Lays a mesh on the fabric, and gets ready to price what is asked of it.
#include "planner/bounds/mesh_context.h"

namespace podsim {

MeshContext::MeshContext(const Fabric& fabric, const Spec& spec, SharedTimes* shared)
    : laid{spec.job.mesh, place(fabric, spec.job.mesh, spec.placement), spec.job.stack.network_share},
      cost(fabric, laid.mesh, laid.placement, spec.cluster.chip.matmul.at(spec.job.precision.dtype).reached(),
           shared ? &shared->planned : nullptr),
      alone(fabric, spec.cluster.fabric, laid,
            spec.job.pipeline_axis.empty() ? -1 : spec.job.mesh.find(spec.job.pipeline_axis),
            shared ? &shared->alone : nullptr),
      pieces(cost, alone) {}

}  // namespace podsim
