// Orders of the schedules that take the weight gradient apart from the backward pass.
#pragma once

#include <deque>
#include <vector>

#include "workload/pipeline/pipeline.h"

namespace podsim {

// Writes the order of a stage. The passes of a chunk come in the order of its microbatches.
class OrderWriter {
 public:
  // Chunk c begins with microbatch first[c].
  explicit OrderWriter(const std::vector<int>& first) : forward_(first), backward_(first) {}

  void forward(int chunk);
  void backward(int chunk);
  void input_gradient(int chunk);  // its weight gradient waits
  void weight_gradient();          // the one that waits longest
  void together(int forward_chunk, int backward_chunk);
  int waiting() const { return static_cast<int>(waiting_.size()); }  // weight gradients

  std::vector<PipelineTask> take() { return std::move(order_); }

 private:
  std::vector<int> forward_, backward_;  // [chunk] next microbatch
  std::deque<PipelineTask> waiting_;
  std::vector<PipelineTask> order_;
};

// ZB-H1 (Qi et al., arXiv 2401.10241, section 2.2): 1F1B in which stage s keeps s weight gradients back, so
// that all stages hold `stages` microbatches and the drain is filled. Idle (stages - 1)(F + B - W) where
// W <= B.
std::vector<PipelineTask> zero_bubble_h1_order(const PipelineShape& shape, int stage);

// ZB-V (section 6 there): chunk 0 runs down the stages and chunk 1 up again. Closed form of the pattern for
// F = B = W, found by search over the orders of its phases: no stage idles between its first pass and its
// last, and none holds more than 2 x stages chunks.
std::vector<PipelineTask> zero_bubble_v_order(const PipelineShape& shape, int stage);

// DualPipe (DeepSeek-V3, arXiv 2412.19437, section 3.2.1): the order of the authors' published code, from
// memory.
std::vector<PipelineTask> dualpipe_order(const PipelineShape& shape, int stage);

}  // namespace podsim
