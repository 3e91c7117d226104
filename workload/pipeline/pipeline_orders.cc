// ZB-H1, ZB-V and DualPipe, phase by phase.
#include "workload/pipeline/pipeline_orders.h"

#include <algorithm>

namespace podsim {

void OrderWriter::forward(int chunk) { order_.push_back({Pass::kForward, forward_[chunk]++, chunk}); }

void OrderWriter::backward(int chunk) { order_.push_back({Pass::kBackward, backward_[chunk]++, chunk}); }

void OrderWriter::input_gradient(int chunk) {
  const int microbatch = backward_[chunk]++;
  order_.push_back({Pass::kInputGradient, microbatch, chunk});
  waiting_.push_back({Pass::kWeightGradient, microbatch, chunk});
}

void OrderWriter::weight_gradient() {
  order_.push_back(waiting_.front());
  waiting_.pop_front();
}

void OrderWriter::together(int forward_chunk, int backward_chunk) {
  forward(forward_chunk);
  order_.back().with_next = true;
  backward(backward_chunk);
}

std::vector<PipelineTask> zero_bubble_h1_order(const PipelineShape& shape, int stage) {
  OrderWriter order({0});
  const int microbatches = shape.microbatches, warm_up = std::min(microbatches, shape.stages - stage - 1);
  for (int k = 0; k < warm_up; ++k) order.forward(0);
  for (int k = 0; k < microbatches; ++k) {
    if (warm_up + k < microbatches) order.forward(0);
    order.input_gradient(0);
    if (order.waiting() > stage) order.weight_gradient();
  }
  while (order.waiting() > 0) order.weight_gradient();
  return order.take();
}

std::vector<PipelineTask> zero_bubble_v_order(const PipelineShape& shape, int stage) {
  OrderWriter order({0, 0});
  const auto backward = [&](int chunk) {
    order.input_gradient(chunk);
    order.weight_gradient();
  };
  const int behind = shape.stages - stage - 1;
  for (int k = 0; k < 2 * behind; ++k) order.forward(0);
  for (int k = 0; k <= stage; ++k) {
    order.forward(0);
    order.forward(1);
  }
  for (int k = 0; k < behind; ++k) {
    backward(1);
    order.forward(1);
  }
  for (int k = 0; k < shape.microbatches - shape.stages - behind; ++k) {
    backward(1);
    backward(0);
    order.forward(0);
    order.forward(1);
  }
  for (int k = 0; k < behind; ++k) {
    backward(1);
    backward(0);
    order.forward(1);
  }
  for (int k = 0; k <= stage; ++k) {
    order.input_gradient(1);
    order.input_gradient(0);
  }
  for (int k = 0; k < behind; ++k) {
    order.weight_gradient();
    order.input_gradient(0);
  }
  while (order.waiting() > 0) order.weight_gradient();
  return order.take();
}

namespace {

// The last backward passes of DualPipe: of `near` chunks, which began here, and of `far` ones. In the second
// half weight gradients are kept back to fill the waits of the drain.
void drain_dualpipe(OrderWriter& order, int near, int far, int from_end, int behind) {
  const int half = (from_end + 1) / 2;
  const auto backward = [&](int chunk, bool kept_back) {
    if (kept_back) return order.input_gradient(chunk);
    order.backward(chunk);
  };
  const bool odd = from_end % 2 == 1;
  for (int k = 0; k <= from_end; ++k) {
    backward(far, k > half || (k == half && odd));
    backward(near, k >= half);
  }
  for (int k = 0; k < behind; ++k) {
    order.weight_gradient();
    order.input_gradient(near);
  }
  while (order.waiting() > 0) order.weight_gradient();
}

}  // namespace

std::vector<PipelineTask> dualpipe_order(const PipelineShape& shape, int stage) {
  const int half_stages = shape.stages / 2, half_microbatches = shape.microbatches / 2;
  const int from_end = std::min(stage, shape.stages - 1 - stage), behind = half_stages - from_end - 1;
  const int near = stage < half_stages ? 0 : 1, far = 1 - near;
  OrderWriter order({0, half_microbatches});
  for (int k = 0; k < 2 * behind; ++k) order.forward(near);
  for (int k = 0; k <= from_end; ++k) {
    order.forward(near);
    order.forward(far);
  }
  for (int k = 0; k < behind; ++k) {
    order.input_gradient(far);
    order.weight_gradient();
    order.forward(far);
  }
  for (int k = 0; k < half_microbatches - shape.stages + from_end + 1; ++k) {
    if (k == 0 && behind == 0) {
      // The middle stages send the activation on before the first backward pass.
      order.forward(near);
      order.backward(far);
    } else {
      order.together(near, far);
    }
    order.together(far, near);
  }
  for (int k = 0; k < behind; ++k) {
    order.backward(far);
    order.together(far, near);
  }
  drain_dualpipe(order, near, far, from_end, behind);
  return order.take();
}

}  // namespace podsim
