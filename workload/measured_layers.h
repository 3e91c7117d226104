// A job given as layers whose times were measured: what each computes for how long, and what it sends.
#pragma once

#include <string>
#include <vector>

#include "collectives/collective.h"

namespace podsim {

struct Job;
struct ModelProgram;
struct Part;

struct LayerCollective {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  std::vector<std::string> axes = {};  // of the mesh, together; empty = all but the pipeline's
  Bytes bytes = {};                    // in the convention of Collective::bytes, per device; 0 = none
};

// Times and bytes are those of one device, one layer and one microbatch; those of gradient and update come
// once per step. A time holds the gaps between kernels, so that the stack adds none.
struct MeasuredLayer {
  std::string name;
  int count = 1;  // in a row
  Time forward, input_gradient, weight_gradient, update;
  LayerCollective forward_collective;          // the next layer waits for it
  LayerCollective input_gradient_collective;   // backward of the layer before waits for it
  LayerCollective weight_gradient_collective;  // the update waits for it
  Bytes output;                                // activation handed to the next pipeline stage
};

// What is not measured is not known: parameters and memory count as none.
struct MeasuredLayers {
  std::string name;
  std::vector<MeasuredLayer> layers;  // in forward order
  Time update;                        // of the step, beside those of the layers
  Flops model_flops_per_token;        // 0 = not known
};

// At most so many layers in a row, counted one by one.
inline constexpr int kMostMeasuredLayers = 10'000;

// The layers as pieces without operations. REQUIRES: job.measured.
ModelProgram measured_program(const Job& job);

// One of them partitioned. Backward computes the input gradient first.
Part measured_part(const Job& job, const MeasuredLayer& layer);

// The mesh axes that a collective has, or all that there may be; names that the mesh lacks are left out.
std::uint32_t axes_of(const Job& job, const LayerCollective& collective);

// Seconds that a device of the mean pipeline stage computes per step.
double measured_seconds(const Job& job);

}  // namespace podsim
