// Named sets of sharding rules over axes called data, fsdp, tensor, context, expert, x and y.
#include <algorithm>

#include "workload/job.h"

namespace podsim {
namespace {

struct Preset {
  const char* name;
  std::vector<ShardingRule> rules;
};

using Names = std::vector<std::string>;

std::vector<ShardingRule> on_axes(const std::vector<const char*>& dimensions, const Names& axes) {
  std::vector<ShardingRule> rules;
  for (const char* dimension : dimensions) rules.push_back({dimension, axes});
  return rules;
}

std::vector<ShardingRule> joined(std::vector<ShardingRule> rules, const std::vector<ShardingRule>& more) {
  rules.insert(rules.end(), more.begin(), more.end());
  return rules;
}

std::vector<ShardingRule> megatron() {
  return on_axes({"param_heads", "param_kv_heads", "param_ffn", "param_vocabulary", "heads", "kv_heads", "ffn",
                  "vocabulary"},
                 {"tensor"});
}

// Tokens of one sequence are cut everywhere; inside attention each scheme has its own way to bring queries and
// keys together.
std::vector<ShardingRule> context() { return on_axes({"sequence", "residual_sequence"}, {"context"}); }

std::vector<ShardingRule> ulysses() {
  return joined(joined(context(), {{"attention_sequence", {}}}),
                on_axes({"attention_heads", "attention_kv_heads"}, {"tensor", "context"}));
}

// The finalized two-dimensional sharding of the GSPMD paper: weights cut over both axes, activations too.
std::vector<ShardingRule> two_dimensional() {
  return joined(joined(on_axes({"batch", "param_embed"}, {"x"}),
                       on_axes({"embed", "heads", "kv_heads", "ffn", "vocabulary"}, {"y"})),
                on_axes({"param_heads", "param_kv_heads", "param_ffn", "param_vocabulary"}, {"y"}));
}

// Tokens go to the devices of their experts and back; the groups of the other axes stay apart.
std::vector<ShardingRule> expert() {
  return {{"batch", {"data", "fsdp", "expert"}},
          {"experts", {"expert"}},
          {"expert_groups", {"data", "fsdp"}},
          {"param_experts", {"expert"}}};
}

const std::vector<Preset>& presets() {
  static const std::vector<Preset> all = {
      {"data", {{"batch", {"data"}}}},
      // Every weight is cut over fsdp and gathered to be used; with a data axis beside it, whole groups are
      // replicated (HSDP).
      {"fsdp", {{"batch", {"data", "fsdp"}}, {"param_embed", {"fsdp"}}}},
      {"hsdp", {{"batch", {"data", "fsdp"}}, {"param_embed", {"fsdp"}}}},
      {"megatron", megatron()},
      {"megatron_sp", joined(megatron(), {{"residual_sequence", {"tensor"}}})},
      {"zero1", {{"state_param_embed", {"data"}}}},
      {"zero2", {{"state_param_embed", {"data"}}, {"gradient_param_embed", {"data"}}}},
      {"zero3", {{"batch", {"data"}}, {"param_embed", {"data"}}}},
      {"2d_finalized", two_dimensional()},
      {"expert", expert()},
      {"context", context()},
      {"ring_context", joined(context(), {{"key_sequence", {"context"}}})},
      {"ulysses", ulysses()},
      {"vocabulary", on_axes({"param_vocabulary", "vocabulary"}, {"tensor"})},
  };
  return all;
}

}  // namespace

std::optional<std::vector<ShardingRule>> preset_rules(const std::string& preset, const Mesh& mesh) {
  for (const Preset& candidate : presets()) {
    if (candidate.name != preset) continue;
    std::vector<ShardingRule> rules;
    for (ShardingRule rule : candidate.rules) {
      const bool replicates = rule.axes.empty();
      std::erase_if(rule.axes, [&](const std::string& axis) { return mesh.find(axis) < 0; });
      // A rule that is empty by itself replicates; one that only names absent axes says nothing.
      if (!rule.axes.empty() || replicates) rules.push_back(std::move(rule));
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
