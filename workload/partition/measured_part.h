// Layers whose times were measured, as blocks of operations.
#pragma once

#include "workload/job/measured_layers.h"
#include "workload/partition/program.h"

namespace podsim {

struct Job;
struct LayerCollective;
struct MeasuredLayer;

// One of the layers partitioned. Backward computes the input gradient first.
Part measured_part(const Job& job, const MeasuredLayer& layer);

// The mesh axes that a collective has, or all that there may be; names that the mesh lacks are left out.
AxisSet axes_of(const Job& job, const LayerCollective& collective);

// Seconds that a device of the mean pipeline stage computes per step.
double measured_seconds(const Job& job);

}  // namespace podsim
