// The operations of each piece that a pass runs: backward whole, or its input and weight gradients apart.
#pragma once

#include <vector>

#include "workload/pipeline.h"
#include "workload/program.h"

namespace podsim {

class PassBlocks {
 public:
  // REQUIRES: `parts` outlive this object.
  explicit PassBlocks(const std::vector<Part>& parts);

  // In issue order. What is recomputed or copied from the host belongs to the input gradient.
  const Block& block(int part, Pass pass) const;

  const Part& part(int part) const { return parts_[static_cast<std::size_t>(part)]; }

  // Of the kernels of the piece's backward pass, those of this pass; 1 of its forward.
  double share_of_kernels(int part, Pass pass) const;

 private:
  struct Apart {
    Block input_gradient, weight_gradient;
    double share_of_weight_gradient = 0;
  };
  const std::vector<Part>& parts_;
  std::vector<Apart> apart_;  // [part]
};

}  // namespace podsim
