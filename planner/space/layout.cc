// Layouts as blocks of a scenario, as jobs and as words.
#include "planner/space/layout.h"

#include <algorithm>
#include <utility>

#include "engine/check.h"
#include "scheduler/question/spec.h"
#include "workload/partition/kernels.h"
#include "workload/pipeline/schedules.h"
#include "workload/sharding/presets.h"

namespace podsim {
namespace {

bool own_policy(Recompute recompute) {
  return recompute == Recompute::kKeepNamed || recompute == Recompute::kRemakeNamed;
}

// Axes that are there, of those that cut state.
std::vector<std::string> present(const std::vector<MeshAxis>& mesh, const std::vector<std::string>& names) {
  std::vector<std::string> axes;
  for (const std::string& name : names)
    for (const MeshAxis& axis : mesh)
      if (axis.name == name) axes.push_back(name);
  return axes;
}

}  // namespace

JobLayout canonical(JobLayout layout) {
  if (layout.expert == 1) layout.expert_tensor = layout.tensor;
  if (layout.chunks == 1)
    layout.schedule = schedule_traits(layout.schedule).of_one_chunk.value_or(layout.schedule);
  if (layout.pipeline == 1) {
    layout.schedule = PipelineSchedule::k1F1B;
    layout.chunks = 1;
  }
  if (cuts_weights(layout.sharding)) {
    if (layout.sharding == StateSharding::kFsdp) layout.group = layout.data;
    layout.sharding = layout.group == layout.data ? StateSharding::kFsdp : StateSharding::kHsdp;
    if (layout.group == 1) layout.sharding = StateSharding::kDdp;
  }
  if (layout.sharding != StateSharding::kFsdp && layout.sharding != StateSharding::kHsdp) layout.group = 1;
  if (layout.batch_ranks() * layout.context == 1) layout.sharding = StateSharding::kDdp;
  if (layout.recompute == Recompute::kNone) layout.recompute_layers = 0;
  return layout;
}

Recompute in_one_word(Recompute recompute, const Stack& stack) {
  return recompute == Recompute::kSelective && fused_attention(stack) ? Recompute::kNone : recompute;
}

LayoutBlocks blocks_of(const JobLayout& layout, const std::string& context) {
  LayoutBlocks blocks;
  const bool cut_experts = layout.expert > 1,
             whole_experts = cut_experts && layout.expert_tensor < layout.tensor;
  const auto axis = [&](const char* name, int size) {
    if (size > 1) blocks.mesh.push_back({name, size});
  };
  axis("pipeline", layout.pipeline);
  axis("data", cuts_weights(layout.sharding) ? layout.data / layout.group : layout.data);
  axis("fsdp", layout.group);
  axis("expert", layout.expert_axis());
  axis("context", layout.context);
  if (whole_experts) {
    axis("expert_tensor", layout.expert_tensor);
    axis("tensor", layout.tensor / layout.expert_tensor);
  } else {
    axis("tensor", layout.tensor);
  }
  if (blocks.mesh.empty()) blocks.mesh.push_back({"data", 1});
  if (layout.group > 1)
    blocks.sharding.emplace_back("fsdp");
  else if (layout.data > 1)
    blocks.sharding.emplace_back("data");
  if (layout.context > 1) blocks.sharding.push_back(context);
  if (whole_experts) {
    blocks.sharding.emplace_back("megatron_experts");
  } else {
    if (layout.tensor > 1) blocks.sharding.emplace_back("megatron_sp");
    if (cut_experts) blocks.sharding.emplace_back("expert");
  }
  const std::vector<std::string> ranks = present(blocks.mesh, {"data", "expert", "context"});
  const std::vector<std::string> gathered = present(blocks.mesh, {"fsdp", "expert", "context"});
  if (layout.sharding == StateSharding::kZero1 || layout.sharding == StateSharding::kZero2)
    blocks.rules.push_back({"state_param_embed", ranks});
  if (layout.sharding == StateSharding::kZero2) blocks.rules.push_back({"gradient_param_embed", ranks});
  if (layout.group > 1 && gathered.size() > 1) blocks.rules.push_back({"param_embed", gathered});
  if (layout.pipeline > 1) blocks.schedule = layout.schedule;
  blocks.chunks = schedule_traits(layout.schedule).chunks ? 1 : layout.chunks;
  blocks.microbatch = layout.microbatch;
  if (!own_policy(layout.recompute)) blocks.recompute = layout.recompute;
  blocks.recompute_layers = layout.recompute_layers;
  return blocks;
}

std::string context_preset(const Job& job) {
  const auto names = [&](const std::string& dimension) {
    return std::ranges::any_of(job.rules,
                               [&](const ShardingRule& rule) { return rule.dimension == dimension; });
  };
  if (names("key_sequence")) return "ring_context";
  return names("attention_heads") ? "ulysses" : "context";
}

Spec with_layout(const Spec& spec, const JobLayout& layout) {
  const LayoutBlocks blocks = blocks_of(layout, context_preset(spec.job));
  Spec result = spec;
  result.placement.clear();
  Job& job = result.job;
  job.mesh.axes = blocks.mesh;
  job.rest_axis.clear();
  job.rules.clear();
  for (const std::string& preset : blocks.sharding) {
    const auto rules = preset_rules(preset, job.mesh);
    PODSIM_CHECK(rules.has_value(), "a layout is made of presets");
    add_rules(*rules, job.rules);
  }
  for (const ShardingRule& rule : blocks.rules) {
    std::erase_if(job.rules, [&](const ShardingRule& known) { return known.dimension == rule.dimension; });
    job.rules.push_back(rule);
  }
  job.pipeline_axis = layout.pipeline > 1 ? "pipeline" : "";
  job.schedule = layout.schedule;
  job.chunks_per_stage = layout.chunks;
  job.layers_per_chunk.clear();
  job.microbatch = layout.microbatch;
  job.all_at_once = false;
  job.recompute_layers = layout.recompute_layers;
  if (blocks.recompute) {
    job.recompute = *blocks.recompute;
    job.recompute_names.clear();
    job.offloaded.clear();
  }
  return result;
}

std::optional<JobLayout> layout_of(const Spec& spec) {
  const Job& job = spec.job;
  const bool offloads = !job.offloaded.empty() && !own_policy(job.recompute);  // which a layout cannot say
  if (!job.layers_per_chunk.empty() || offloads) return std::nullopt;
  const auto size = [&](const char* name) {
    const int axis = job.mesh.find(name);
    return axis < 0 ? 1 : job.mesh.axes[static_cast<std::size_t>(axis)].size;
  };
  JobLayout layout;
  layout.pipeline = size("pipeline");
  layout.context = size("context");
  layout.expert_tensor = size("expert_tensor");
  layout.tensor = size("tensor") * layout.expert_tensor;
  layout.group = size("fsdp");
  layout.data = size("data") * layout.group;
  layout.microbatch = job.microbatch;
  layout.schedule = job.schedule;
  layout.chunks = job.chunks_per_stage;
  layout.recompute = in_one_word(job.recompute, job.stack);
  layout.recompute_layers = job.recompute_layers;
  const auto sorted = [](std::vector<ShardingRule> rules) {
    std::vector<std::pair<std::string, std::vector<std::string>>> pairs;
    for (ShardingRule& rule : rules) pairs.emplace_back(std::move(rule.dimension), std::move(rule.axes));
    std::ranges::sort(pairs);
    return pairs;
  };
  for (const int each_cut : {layout.expert_tensor, layout.tensor})
    for (const auto sharding : {StateSharding::kDdp, StateSharding::kZero1, StateSharding::kZero2,
                                StateSharding::kFsdp, StateSharding::kHsdp}) {
      JobLayout guess = layout;
      guess.expert_tensor = each_cut;
      guess.expert = size("expert") * guess.tensor / each_cut;
      guess.sharding = sharding;
      guess = canonical(guess);
      const Job made = with_layout(spec, guess).job;
      if (made.mesh == job.mesh && sorted(made.rules) == sorted(job.rules)) return guess;
    }
  return std::nullopt;
}

std::string to_string(StateSharding sharding) {
  static constexpr const char* kNames[] = {"ddp", "zero1", "zero2", "fsdp", "hsdp"};
  return kNames[static_cast<std::size_t>(sharding)];
}

std::string to_string(Recompute recompute) {
  static constexpr const char* kNames[] = {"none", "selective", "full", "own", "own"};
  return kNames[static_cast<std::size_t>(recompute)];
}

std::string to_string(const JobLayout& layout) {
  std::string text;
  const auto add = [&](const std::string& words) { text += (text.empty() ? "" : ", ") + words; };
  if (layout.tensor > 1) add("tensor " + std::to_string(layout.tensor));
  if (layout.context > 1) add("context " + std::to_string(layout.context));
  if (layout.expert > 1)
    add("expert " + std::to_string(layout.expert) +
        (layout.expert_tensor > 1 ? " x " + std::to_string(layout.expert_tensor) : ""));
  if (layout.pipeline > 1) {
    add("pipeline " + std::to_string(layout.pipeline));
    const bool plain = layout.schedule == PipelineSchedule::k1F1B;
    if (schedule_traits(layout.schedule).of_one_chunk)
      text += " x " + std::to_string(layout.chunks) + " chunks";
    else if (!plain)
      text += " " + std::string(schedule_traits(layout.schedule).name);
  }
  add("data " + std::to_string(layout.batch_ranks()));
  if (layout.sharding != StateSharding::kDdp) text += " " + to_string(layout.sharding);
  if (layout.sharding == StateSharding::kHsdp) text += " of " + std::to_string(layout.group);
  add("microbatch " + std::to_string(layout.microbatch));
  if (layout.recompute != Recompute::kNone) {
    add("recompute " + to_string(layout.recompute));
    if (layout.recompute_layers > 0) text += " of " + std::to_string(layout.recompute_layers) + " layers";
  }
  return text;
}

}  // namespace podsim
