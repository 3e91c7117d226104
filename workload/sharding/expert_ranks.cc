// Axes and rules of expert_ranks.h.
#include "workload/sharding/expert_ranks.h"

#include <algorithm>

namespace podsim {
namespace {

// Those of `wanted` that the mesh has.
std::vector<std::string> axes_there(const std::vector<std::string>& axes, std::vector<std::string> wanted) {
  std::erase_if(wanted, [&](const std::string& axis) { return std::ranges::count(axes, axis) == 0; });
  return wanted;
}

}  // namespace

std::optional<ExpertAxes> expert_axes(std::int64_t expert, std::int64_t tensor, std::int64_t expert_tensor) {
  using Lie = ExpertAxes::Lie;
  if (expert_tensor == tensor) return ExpertAxes{expert, tensor, 1, Lie::kBesideTensor};
  if (expert_tensor == 1 && expert == 1) return ExpertAxes{1, tensor, 1, Lie::kCopied};
  const std::int64_t whole = tensor / expert_tensor;  // ranks of attention that one expert does not need
  if (tensor % expert_tensor != 0 || expert % whole != 0) return std::nullopt;
  return ExpertAxes{expert / whole, whole, expert_tensor, Lie::kOverTensor};
}

std::string no_expert_axes(std::int64_t expert, std::int64_t tensor, std::int64_t expert_tensor) {
  const std::string experts = "experts over " + std::to_string(expert) + " ranks";
  if (tensor % expert_tensor != 0)
    return experts + ", each cut over " + std::to_string(expert_tensor) + ", beside " +
           std::to_string(tensor) + " tensor-parallel ranks, which that does not divide";
  return experts + " are no multiple of the " + std::to_string(tensor / expert_tensor) +
         " tensor-parallel ranks, which do not cut them";
}

std::vector<ShardingRule> expert_rules(const ExpertAxes& experts, const std::vector<std::string>& axes) {
  using Lie = ExpertAxes::Lie;
  if (experts.tensor == 1 || experts.lie == Lie::kOverTensor) return {};
  if (experts.lie == Lie::kBesideTensor)
    return {{"expert_ffn", {"tensor"}}, {"param_expert_ffn", {"tensor"}}};
  // Each rank takes its part of the tokens through all experts.
  return {{"expert_groups", axes_there(axes, {"data", "fsdp", "tensor"})},
          {"expert_ffn", {}},
          {"param_expert_ffn", {}}};
}

std::vector<ShardingRule> shared_state_rules(SharedState state, const std::vector<std::string>& axes,
                                             const ExpertAxes& experts) {
  const bool weights = state == SharedState::kZero3;
  const bool groups = std::ranges::count(axes, "optimizer") > 0;
  std::vector<std::string> copies =
      axes_there(axes, weights  ? std::vector<std::string>{"fsdp", "context", "expert"}
                       : groups ? std::vector<std::string>{"optimizer", "expert", "context"}
                                : std::vector<std::string>{"data", "expert", "context"});
  if (experts.lie == ExpertAxes::Lie::kCopied && experts.tensor > 1) copies.emplace_back("tensor");
  if (state == SharedState::kWhole || copies.empty()) return {};
  if (weights && copies == std::vector<std::string>{"fsdp"}) return {};
  if (weights) return {{"param_embed", copies}};
  if (state == SharedState::kZero1) return {{"state_param_embed", copies}};
  return {{"state_param_embed", copies}, {"gradient_param_embed", copies}};
}

std::string rule_text(const ShardingRule& rule) {
  std::string text = "rule { dimension: \"" + rule.dimension + "\"";
  for (const std::string& axis : rule.axes) text += " axis: \"" + axis + "\"";
  return text + " }";
}

}  // namespace podsim
