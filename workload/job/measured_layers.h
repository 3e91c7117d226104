// A job given as layers whose times were measured: what each computes for how long, and what it sends.
#pragma once

#include <string>
#include <vector>

#include "collectives/collective.h"

namespace podsim {

struct LayerCollective {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  std::vector<std::string> axes = {};  // of the mesh, together; empty = all but the pipeline's
  Bytes bytes = {};                    // in the convention of Collective::bytes, per device; 0 = none
  friend bool operator==(const LayerCollective&, const LayerCollective&) = default;
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
  friend bool operator==(const MeasuredLayer&, const MeasuredLayer&) = default;
};

// What is not measured is not known: parameters and memory count as none.
struct MeasuredLayers {
  std::string name;
  std::vector<MeasuredLayer> layers;  // in forward order
  Time update;                        // of the step, beside those of the layers
  Flops model_flops_per_token;        // 0 = not known
  friend bool operator==(const MeasuredLayers&, const MeasuredLayers&) = default;
};

// At most so many layers in a row, counted one by one.
inline constexpr int kMostMeasuredLayers = 10'000;

}  // namespace podsim
