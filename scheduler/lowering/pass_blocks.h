// The operations of each piece that a pass runs: backward whole, or its input and weight gradients apart.
#pragma once

#include <vector>

#include "workload/partition/program.h"
#include "workload/pipeline/pipeline.h"

namespace podsim {

struct Stack;

bool gathers_weights(const ProgramOp& op);
bool copies_from_host(const ProgramOp& op);

// Backward blocks are cut once for all visits: zero-bubble schedules run their two halves apart.
class PassBlocks {
 public:
  // REQUIRES: `parts` outlive this object.
  explicit PassBlocks(const std::vector<Part>& parts);

  // In issue order. What is recomputed or copied from the host belongs to the input gradient.
  const Block& block(int part, Pass pass) const;

  // Whether any pass gathers weights, or copies from its host.
  bool gather_weights() const { return gather_weights_; }
  bool copy_from_host() const { return copy_from_host_; }

  const Part& part(int part) const { return parts_[static_cast<std::size_t>(part)]; }

  // Kernels of the pass over the piece: a layer has those of the stack, in proportion to its operations, and
  // what recompute repeats of them, the piece with the loss its own.
  double kernels(int part, Pass pass, const Stack& stack) const;

  // Those beside them that route, permute and compute on slots of experts.
  double expert_kernels(int part, Pass pass, const Stack& stack) const;

 private:
  double of_pass(int part, Pass pass, double forward, double backward) const;

  struct Apart {
    Block input_gradient, weight_gradient;
    double share_of_weight_gradient = 0;  // of the backward operations without those recomputed
    double recomputed = 0;                // of the forward operations
    double experts = 0;                   // on the device
  };
  const std::vector<Part>& parts_;
  std::vector<Apart> apart_;  // [part]
  bool gather_weights_ = false, copy_from_host_ = false;
};

}  // namespace podsim
