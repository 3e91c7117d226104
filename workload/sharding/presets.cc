// Named sets of sharding rules over axes called data, optimizer, fsdp, tensor, context, expert,
// expert_tensor, x and y.
#include "workload/sharding/presets.h"

#include <algorithm>

#include "workload/job/job.h"

namespace podsim {
namespace {

struct Preset {
  const char* name;
  std::vector<ShardingRule> rules;
};

using Rules = std::vector<ShardingRule>;

Rules on(const std::vector<std::string>& axes, const std::vector<const char*>& dimensions) {
  Rules rules;
  for (const char* dimension : dimensions) rules.push_back({dimension, axes});
  return rules;
}

Rules joined_rules(const std::vector<Rules>& parts) {
  Rules all;
  for (const Rules& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

// Weights stay on `axes`, and so does what they make.
Rules megatron(const std::vector<std::string>& axes) {
  return on(axes, {"param_heads", "param_kv_heads", "param_ffn", "param_vocabulary", "heads", "kv_heads",
                   "ffn", "vocabulary"});
}

// Tokens of one sequence are cut everywhere; inside attention each scheme has its own way to bring queries
// and keys together.
Rules context() { return on({"context"}, {"sequence", "residual_sequence"}); }

// Every weight is cut over fsdp and gathered to be used; with a data axis beside it, whole groups are
// replicated (HSDP).
Rules fsdp() { return joined_rules({on({"data", "fsdp"}, {"batch"}), on({"fsdp"}, {"param_embed"})}); }

// The finalized two-dimensional sharding of the GSPMD paper: weights cut over both axes, activations too.
Rules two_dimensional() {
  return joined_rules({on({"x"}, {"batch", "param_embed"}), on({"y"}, {"embed"}), megatron({"y"})});
}

// Tokens go to the devices of their experts and back; the groups of the other axes stay apart.
Rules expert(const std::vector<std::string>& axes) {
  return joined_rules({on({"data", "fsdp", "expert"}, {"batch"}), on(axes, {"experts", "param_experts"}),
                       on({"data", "fsdp"}, {"expert_groups"})});
}

// Attention is cut over tensor and expert_tensor, experts lie over expert and tensor, and each is cut over
// expert_tensor alone. Tokens between blocks have tensor innermost, so that experts take it from them in one
// exchange.
Rules megatron_experts() {
  return joined_rules({megatron({"tensor", "expert_tensor"}),
                       on({"expert_tensor", "tensor"}, {"residual_sequence"}), expert({"expert", "tensor"}),
                       on({"expert_tensor"}, {"expert_ffn", "param_expert_ffn"})});
}

const std::vector<Preset>& presets() {
  static const std::vector<Preset> all = {
      {"data", on({"data"}, {"batch"})},
      {"fsdp", fsdp()},
      {"hsdp", fsdp()},
      {"megatron", megatron({"tensor"})},
      {"megatron_sp", joined_rules({megatron({"tensor"}), on({"tensor"}, {"residual_sequence"})})},
      {"megatron_experts", megatron_experts()},
      {"zero1", on({"data"}, {"state_param_embed"})},
      {"zero1_group",
       joined_rules({on({"data", "optimizer"}, {"batch"}), on({"optimizer"}, {"state_param_embed"})})},
      {"zero2", on({"data"}, {"state_param_embed", "gradient_param_embed"})},
      {"zero3", on({"data"}, {"batch", "param_embed"})},
      {"2d_finalized", two_dimensional()},
      {"expert", expert({"expert"})},
      {"context", context()},
      {"ring_context", joined_rules({context(), on({"context"}, {"key_sequence"})})},
      {"ulysses", joined_rules({context(), on({}, {"attention_sequence"}),
                                on({"tensor", "context"}, {"attention_heads", "attention_kv_heads"})})},
      {"vocabulary", on({"tensor"}, {"param_vocabulary", "vocabulary"})},
  };
  return all;
}

}  // namespace

std::optional<Rules> preset_rules(const std::string& preset, const Mesh& mesh) {
  for (const Preset& candidate : presets()) {
    if (candidate.name != preset) continue;
    Rules rules;
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

void add_rules(const std::vector<ShardingRule>& more, std::vector<ShardingRule>& rules) {
  for (const ShardingRule& rule : more) {
    const auto same = [&](const ShardingRule& known) { return known.dimension == rule.dimension; };
    const auto known = std::find_if(rules.begin(), rules.end(), same);
    if (known == rules.end()) {
      rules.push_back(rule);
      continue;
    }
    for (const std::string& axis : rule.axes)
      if (std::find(known->axes.begin(), known->axes.end(), axis) == known->axes.end())
        known->axes.push_back(axis);
  }
}

}  // namespace podsim
