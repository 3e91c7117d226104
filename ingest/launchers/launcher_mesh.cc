// Axes in the order of ranks, and what lies on them.
#include "ingest/launchers/launcher_mesh.h"

#include <algorithm>
#include <utility>

namespace podsim {
namespace {

using MeshAxes = std::vector<std::pair<std::string, std::int64_t>>;

// Those of more than one rank, major to minor.
MeshAxes launcher_axes(const LauncherDegrees& degrees, const ExpertAxes& experts) {
  MeshAxes axes = {{"pipeline", degrees.pipeline},
                   {"data", degrees.data},
                   {"fsdp", degrees.fsdp},
                   {"context", degrees.context},
                   {"expert", experts.expert},
                   {"tensor", experts.tensor},
                   {"expert_tensor", experts.expert_tensor}};
  const auto rank = [&](const auto& axis) {
    return std::ranges::find(degrees.outermost, axis.first) - degrees.outermost.begin();
  };
  std::ranges::stable_sort(axes, {}, rank);
  std::erase_if(axes, [](const auto& axis) { return axis.second == 1; });
  return axes;
}

// What of the job lies on which axis.
void add_presets(ScenarioText& text, const LauncherDegrees& degrees, const ExpertAxes& experts,
                 const std::map<std::string, std::string>& from) {
  const auto preset = [&](const char* name, const std::string& why) {
    text.line("sharding: \"" + std::string(name) + "\"", why);
  };
  if (degrees.data > 1 || (degrees.fsdp == 1 && experts.expert == 1)) preset("data", "batch over data");
  if (degrees.fsdp > 1) preset("fsdp", said_of(from, "state"));
  if (degrees.context > 1) preset("ring_context", said_of(from, "context"));
  if (experts.lie == ExpertAxes::Lie::kOverTensor) return preset("megatron_experts", said_of(from, "expert"));
  if (experts.expert > 1) preset("expert", said_of(from, "expert"));
  const bool sequences = degrees.sequence_parallel || experts.lie == ExpertAxes::Lie::kCopied;
  if (degrees.tensor > 1) preset(sequences ? "megatron_sp" : "megatron", said_of(from, "sequence_parallel"));
}

}  // namespace

bool add_mesh(ScenarioText& text, LauncherDegrees degrees, const std::map<std::string, std::string>& from,
              std::string& problem) {
  const std::int64_t expert_tensor = degrees.experts ? degrees.expert_tensor : degrees.tensor;
  const auto experts = expert_axes(degrees.expert, degrees.tensor, expert_tensor);
  if (!experts) {
    problem = no_expert_axes(degrees.expert, degrees.tensor, expert_tensor);
    return false;
  }
  std::int64_t& ranks = degrees.state == SharedState::kZero3 ? degrees.fsdp : degrees.data;
  if (ranks % experts->expert != 0) {
    problem = "experts over " + std::to_string(experts->expert) + " ranks do not divide the " +
              std::to_string(ranks) + " data-parallel ranks";
    return false;
  }
  ranks /= experts->expert;
  std::vector<std::string> names;
  for (const auto& [name, size] : launcher_axes(degrees, *experts)) {
    text.line("mesh { name: \"" + name + "\" size: " + std::to_string(size) + " }",
              said_of(from, name == "expert_tensor" ? "expert" : name));
    names.push_back(name);
  }
  if (names.empty()) text.line("mesh { name: \"data\" size: 1 }", "one chip");
  add_presets(text, degrees, *experts, from);
  if (degrees.experts)
    for (const ShardingRule& rule : expert_rules(*experts, names))
      text.line(rule_text(rule), said_of(from, "expert"));
  for (const ShardingRule& rule : shared_state_rules(degrees.state, names, *experts))
    text.line(rule_text(rule), said_of(from, "state"));
  return true;
}

}  // namespace podsim
