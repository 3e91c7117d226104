// Folding of a job whose chips, groups and links are known by orbit: no list is as long as the cluster.
#pragma once

#include <optional>
#include <vector>

#include "scheduler/folding/system.h"

namespace podsim {

// As the traffic's fold(), to the last number, for a job that fills the whole fabric in order, where nothing
// is wrong and the fabric is a regular tree; nothing where orbits do not tell it (scheduler/traffic/
// orbit_traffic.h, row_mesh.h): then `step` is as before. `pipeline_axis` is -1 without stages.
// Cost grows with the runs of rows, with the links between switches by a scan over a number for each, and
// with the transfers of groups through all rows that have no closed form.
std::optional<System> fold_orbits(const Fabric& fabric, const LaidMesh& job, int pipeline_axis,
                                  LoweredStep& step);

}  // namespace podsim
