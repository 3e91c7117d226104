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
    double kernels = 0, of_weights = 0;
    for (const ProgramOp& op : part.backward) {
      const bool weights = of_weight_gradient(op);
      (weights ? apart.weight_gradient : apart.input_gradient).push_back(op);
      if (!std::holds_alternative<ComputeOp>(op)) continue;
      ++kernels;
      of_weights += weights;
    }
    if (kernels > 0) apart.share_of_weight_gradient = of_weights / kernels;
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

double PassBlocks::share_of_kernels(int part, Pass pass) const {
  const double weights = apart_[static_cast<std::size_t>(part)].share_of_weight_gradient;
  if (pass == Pass::kInputGradient) return 1 - weights;
  return pass == Pass::kWeightGradient ? weights : 1;
}

}  // namespace podsim
