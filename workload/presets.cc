// Named sets of sharding rules over axes called data, fsdp and tensor.
#include <algorithm>

#include "workload/job.h"

namespace podsim {
namespace {

struct Preset {
  const char* name;
  std::vector<ShardingRule> rules;
};

std::vector<ShardingRule> megatron() {
  std::vector<ShardingRule> rules;
  for (const char* dimension : {"param_heads", "param_kv_heads", "param_ffn", "param_vocabulary", "heads",
                                "kv_heads", "ffn", "vocabulary"}) {
    rules.push_back({dimension, {"tensor"}});
  }
  return rules;
}

// Tokens between the blocks are cut as well.
std::vector<ShardingRule> megatron_sp() {
  std::vector<ShardingRule> rules = megatron();
  rules.push_back({"residual_sequence", {"tensor"}});
  return rules;
}

const std::vector<Preset>& presets() {
  static const std::vector<Preset> all = {
      {"data", {{"batch", {"data"}}}},
      // Every weight is cut over fsdp and gathered to be used; with a data axis beside it, whole groups are
      // replicated (HSDP).
      {"fsdp", {{"batch", {"data", "fsdp"}}, {"param_embed", {"fsdp"}}}},
      {"megatron", megatron()},
      {"megatron_sp", megatron_sp()},
      {"zero1", {{"state_param_embed", {"data"}}}},
  };
  return all;
}

}  // namespace

std::optional<std::vector<ShardingRule>> preset_rules(const std::string& preset, const Mesh& mesh) {
  for (const Preset& candidate : presets()) {
    if (candidate.name != preset) continue;
    std::vector<ShardingRule> rules;
    for (ShardingRule rule : candidate.rules) {
      std::erase_if(rule.axes, [&](const std::string& axis) { return mesh.find(axis) < 0; });
      if (!rule.axes.empty()) rules.push_back(std::move(rule));
    }
    return rules;
  }
  return std::nullopt;
}

std::vector<std::string> preset_names() {
  std::vector<std::string> names;
  for (const Preset& preset : presets()) names.push_back(preset.name);
  return names;
}

}  // namespace podsim
