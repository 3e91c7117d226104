// How a software stack multiplies matrices in fewer bits than 16: the format, what it costs, what it leaves
// in memory and on the wire. docs/reference/precision.md tells what each recipe stands for.
#pragma once

#include <string>
#include <vector>

#include "workload/job/chip.h"

namespace podsim {

// Bytes are per element and count the scales that travel or stay with it.
struct PrecisionRecipe {
  std::string name = "bf16";
  Dtype dtype = Dtype::kBf16;           // of the matrix units
  std::vector<std::string> gemms = {};  // matmuls that run in it; empty = those of the layers
  // Passes that run in it; the others stay in 16 bits.
  bool forward = true, input_gradient = true, weight_gradient = true;
  double cast_bytes = 0;  // HBM traffic for each element of a GEMM input that is made from 16 bits
  // A weight is cast once per step, behind its update, and all microbatches read the cast; otherwise in each.
  bool weights_cast_once = false;
  double weight_bytes = 2;           // in memory, of weights that only these GEMMs read
  double weight_wire_bytes = 2;      // where these weights are gathered
  double activation_wire_bytes = 2;  // where an input of these GEMMs, or a gradient into them, is gathered
  double dispatch_wire_bytes = 2;    // of tokens on their way to experts, and of gradients to expert outputs
  double combine_wire_bytes = 2;     // of expert outputs on their way back, and of gradients to expert inputs
  double kept_bytes = 2;             // of activations kept for these GEMMs alone
  double extra_kernels = 0;          // forward kernels of one layer, beyond those of 16 bits
  friend bool operator==(const PrecisionRecipe&, const PrecisionRecipe&) = default;
};

// One matmul that runs otherwise than the job's recipe says.
struct GemmPrecision {
  std::string gemm;  // "ffn down"
  PrecisionRecipe recipe;
  friend bool operator==(const GemmPrecision&, const GemmPrecision&) = default;
};

}  // namespace podsim
