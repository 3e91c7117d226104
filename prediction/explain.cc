// Why a job is partitioned as it is: every operation with its shardings, collectives and the plans that lost.
#include "prediction/explain.h"

#include "prediction/prepare_job.h"
#include "topology/fabric.h"

namespace podsim {

Explanation explain_step(const Spec& spec) {
  const Fabric fabric = build_fabric_by_rule(spec.cluster.fabric);
  Explanation explanation{.scenario_sha256 = spec.sha256,
                          .scenario = spec.name,
                          .mesh = {},
                          .fabric = spec.cluster.fabric.name,
                          .trace = {}};
  for (const MeshAxis& axis : spec.job.mesh.axes)
    explanation.mesh += (explanation.mesh.empty() ? "" : " x ") + axis.name + " " + std::to_string(axis.size);
  prepare_job(spec, fabric, 0, &explanation.trace);
  return explanation;
}

}  // namespace podsim
