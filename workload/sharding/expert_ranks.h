// How launchers lay experts, and the state that ranks share, over ranks: in the words of Megatron and FSDP.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "workload/job/job.h"

namespace podsim {

// Axes of a mesh, major to minor, and how experts lie on them.
struct ExpertAxes {
  enum class Lie {
    kBesideTensor,  // over expert, each cut by all tensor-parallel ranks
    kOverTensor,    // over expert and tensor, each cut over expert_tensor; attention over both of the latter
    kCopied         // all of them on every rank
  };
  std::int64_t expert = 1, tensor = 1, expert_tensor = 1;
  Lie lie = Lie::kBesideTensor;
};

// Experts over `expert` ranks, each of them cut by `expert_tensor`, beside attention that is cut by `tensor`
// ranks. Nothing where no such axes are both. REQUIRES: all are at least 1.
std::optional<ExpertAxes> expert_axes(std::int64_t expert, std::int64_t tensor, std::int64_t expert_tensor);

// Why there are none.
std::string no_expert_axes(std::int64_t expert, std::int64_t tensor, std::int64_t expert_tensor);

// Beside the preset: "megatron_experts" of those over tensor, else "expert" where they have an axis, and
// "megatron" or "megatron_sp". `axes` are those of the mesh. REQUIRES: the model has experts.
std::vector<ShardingRule> expert_rules(const ExpertAxes& experts, const std::vector<std::string>& axes);

// What data-parallel ranks do not all hold: nothing, optimizer state, gradients too, weights too.
enum class SharedState { kWhole, kZero1, kZero2, kZero3 };

// Dense weights are copied on all ranks of data, fsdp, context and expert, weights of experts on the same but
// for the last. The ranks that copy share the state, of data only those of an axis optimizer where there is
// one; of weights those of data do not, which copy groups of fsdp. Nothing where the preset "fsdp" says it
// all. `axes` are those of the mesh.
std::vector<ShardingRule> shared_state_rules(SharedState state, const std::vector<std::string>& axes,
                                             const ExpertAxes& experts);

// "rule { dimension: "experts" axis: "expert" }", as scenarios have it.
std::string rule_text(const ShardingRule& rule);

}  // namespace podsim
