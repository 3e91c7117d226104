// Parts every backward block by what earlier pieces wait for.
#include "scheduler/pass_blocks.h"

namespace podsim {
namespace {

bool of_weight_gradient(const ProgramOp& op) {
  if (const auto* work = std::get_if<ComputeOp>(&op)) return work->weight_gradient;
  const auto* collective = std::get_if<CollectiveOp>(&op);
  return collective && collective->weight_gradient;
}

}  // namespace

PassBlocks::PassBlocks(const std::vector<Part>& parts) : parts_(parts) {
  for (const Part& part : parts) {
    Apart& apart = apart_.emplace_back();
    double forward = 0, backward = 0, of_weights = 0, recomputed = 0;
    for (const ProgramOp& op : part.forward) forward += std::holds_alternative<ComputeOp>(op);
    for (const ProgramOp& op : part.backward) {
      const bool weights = of_weight_gradient(op);
      (weights ? apart.weight_gradient : apart.input_gradient).push_back(op);
      const auto* work = std::get_if<ComputeOp>(&op);
      if (!work) continue;
      (work->recomputed ? recomputed : backward) += 1;
      of_weights += weights;
    }
    if (backward > 0) apart.share_of_weight_gradient = of_weights / backward;
    if (forward > 0) apart.recomputed = recomputed / forward;
  }
}

const Block& PassBlocks::block(int part, Pass pass) const {
  const auto index = static_cast<std::size_t>(part);
  switch (pass) {
    case Pass::kForward:
      return parts_[index].forward;
    case Pass::kBackward:
      return parts_[index].backward;
    case Pass::kInputGradient:
      return apart_[index].input_gradient;
    case Pass::kWeightGradient:
      return apart_[index].weight_gradient;
  }
  return parts_[index].forward;
}

double PassBlocks::kernels(int part, Pass pass, const Stack& stack) const {
  const auto index = static_cast<std::size_t>(part);
  const bool layer = parts_[index].layer;
  if (!layer && !parts_[index].loss) return 0;
  const double forward = layer ? stack.kernels_per_layer : stack.loss_kernels;
  const double backward = layer ? stack.backward_kernels : stack.loss_kernels;
  const double weights = apart_[index].share_of_weight_gradient, again = forward * apart_[index].recomputed;
  switch (pass) {
    case Pass::kForward:
      return forward;
    case Pass::kBackward:
      return backward + again;
    case Pass::kInputGradient:
      return backward * (1 - weights) + again;
    case Pass::kWeightGradient:
      return backward * weights;
  }
  return forward;
}

}  // namespace podsim
