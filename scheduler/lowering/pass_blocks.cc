// Parts every backward block by what earlier pieces wait for.
#include "scheduler/lowering/pass_blocks.h"

#include <algorithm>

#include "engine/check.h"
#include "workload/job/stack.h"

namespace podsim {
namespace {

bool of_weight_gradient(const ProgramOp& op) {
  if (const auto* work = std::get_if<ComputeOp>(&op)) return work->weight_gradient;
  const auto* collective = std::get_if<CollectiveOp>(&op);
  return collective && collective->weight_gradient;
}

}  // namespace

bool gathers_weights(const ProgramOp& op) {
  const auto* collective = std::get_if<CollectiveOp>(&op);
  return collective && collective->purpose == Purpose::kParameter;
}

bool copies_from_host(const ProgramOp& op) {
  const auto* copy = std::get_if<HostCopy>(&op);
  return copy && !copy->to_host;
}

PassBlocks::PassBlocks(const std::vector<Part>& parts) : parts_(parts) {
  for (const Part& part : parts) {
    for (const Block* block : {&part.forward, &part.backward}) {
      gather_weights_ = gather_weights_ || std::ranges::any_of(*block, gathers_weights);
      copy_from_host_ = copy_from_host_ || std::ranges::any_of(*block, copies_from_host);
    }
    Apart& apart = apart_.emplace_back();
    double forward = 0, backward = 0, of_weights = 0, recomputed = 0;
    for (const ProgramOp& op : part.forward) {
      const auto* work = std::get_if<ComputeOp>(&op);
      forward += work != nullptr;
      if (work && work->of_experts) apart.experts = std::max(apart.experts, work->repeats);
    }
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
  PODSIM_CHECK(part >= 0 && static_cast<std::size_t>(part) < apart_.size(), "a visit is of a part");
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

double PassBlocks::of_pass(int part, Pass pass, double forward, double backward) const {
  const Apart& apart = apart_[static_cast<std::size_t>(part)];
  const double weights = apart.share_of_weight_gradient, again = forward * apart.recomputed;
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

double PassBlocks::kernels(int part, Pass pass, const Stack& stack) const {
  const Part& piece = this->part(part);
  if (piece.layer)
    return of_pass(part, pass, piece.launches * stack.kernels_per_layer,
                   piece.launches * stack.backward_kernels);
  return piece.loss ? of_pass(part, pass, stack.loss_kernels, stack.loss_kernels) : 0;
}

double PassBlocks::expert_kernels(int part, Pass pass, const Stack& stack) const {
  const double experts = apart_[static_cast<std::size_t>(part)].experts;
  if (experts == 0) return 0;
  const double forward = stack.experts.kernels + stack.experts.kernels_per_expert * experts;
  const bool both = stack.kernels_per_layer > 0;
  return of_pass(part, pass, forward,
                 both ? forward * stack.backward_kernels / stack.kernels_per_layer : forward);
}

}  // namespace podsim
