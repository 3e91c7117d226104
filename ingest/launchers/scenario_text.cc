// Lines of scenarios that come from launchers' configurations.
#include "ingest/launchers/scenario_text.h"

#include <algorithm>

#include "engine/check.h"
#include "proto/catalog/catalog.h"
#include "proto/scenario/chosen_fabric.h"
#include "report/text/text.h"

namespace podsim {
namespace {

std::string origin(const std::map<std::string, std::string>& from, const std::string& field) {
  const auto found = from.find(field);
  return found == from.end() ? "" : found->second;
}

// Slices are of tori; what a launcher calls so on GPUs are its servers.
bool has_slices(const std::string& fabric) {
  static const Catalog catalog;
  const auto [spec, problems] = chosen_fabric(catalog, {fabric, 1, {}, 1, false});
  return spec && spec->torus;
}

}  // namespace

void ScenarioText::comment(const std::string& words) {
  text_ += std::string(2 * static_cast<std::size_t>(depth_), ' ') + "# " + words + "\n";
}

void ScenarioText::line(const std::string& text, const std::string& from) {
  std::string comment;
  for (const char c : from) comment += c == '\n' || c == '\r' ? ' ' : c;
  text_ += std::string(2 * static_cast<std::size_t>(depth_), ' ') + text +
           (comment.empty() ? "" : "  # " + comment) + "\n";
}

void ScenarioText::open(const std::string& name, const std::string& from) {
  line(name + " {", from);
  ++depth_;
}

void ScenarioText::close() {
  --depth_;
  line("}");
}

std::string in_quotes(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return out + "\"";
}

void add_model(ScenarioText& text, const std::string& name, const ModelSizes& sizes,
               const std::string& file) {
  PODSIM_CHECK(sizes.layers && sizes.d_model && sizes.heads && sizes.vocabulary,
               "every transformer has these sizes");
  const auto from = [&](const std::string& field) {
    const std::string said = origin(sizes.from, field);
    return said.empty() ? "default, " + file : said;
  };
  const auto number = [&](const char* field, const std::optional<std::int64_t>& value) {
    if (value) text.line(std::string(field) + ": " + std::to_string(*value), from(field));
  };
  const auto flag = [&](const char* field, bool value) {
    if (value) text.line(std::string(field) + ": true", from(field));
  };
  text.open("model_override");
  text.line("name: " + in_quotes(name), file);
  number("layers", sizes.layers);
  number("d_model", sizes.d_model);
  number("heads", sizes.heads);
  number("kv_heads", sizes.kv_heads);
  number("head_dim", sizes.head_dim);
  number("ffn", sizes.ffn);
  flag("gated_ffn", sizes.gated_ffn);
  number("vocabulary", sizes.vocabulary);
  flag("tied_embedding", sizes.tied_embedding);
  number("learned_positions", sizes.learned_positions);
  flag("biases", sizes.biases);
  flag("rms_norm", sizes.rms_norm && sizes.biases);  // without biases norms have no offset anyhow
  flag("qk_norm", sizes.qk_norm);
  flag("post_norms", sizes.post_norms);
  flag("dropout", sizes.dropout);
  number("attention_window", sizes.attention_window);
  number("full_every", sizes.full_every);
  flag("attention_sinks", sizes.attention_sinks);
  number("prediction_layers", sizes.prediction_layers);
  if (sizes.experts) {
    const ModelSizes::Experts& experts = *sizes.experts;
    text.open("experts");
    number("experts", experts.experts);
    number("experts_per_token", experts.experts_per_token);
    number("expert_ffn", experts.expert_ffn);
    if (experts.shared_ffn.value_or(0) > 0) number("shared_ffn", experts.shared_ffn);
    if (experts.dense_layers.value_or(0) > 0) number("dense_layers", experts.dense_layers);
    if (experts.every.value_or(1) > 1) number("every", experts.every);
    if (experts.capacity_factor.value_or(0) > 0)
      text.line("capacity_factor: " + shortest(*experts.capacity_factor), from("capacity_factor"));
    flag("router_bias", experts.router_bias);
    text.close();
  }
  if (sizes.latent) {
    text.open("latent_attention");
    number("query_rank", sizes.latent->query_rank);
    number("kv_rank", sizes.latent->kv_rank);
    number("plain_dim", sizes.latent->plain_dim);
    number("rotary_dim", sizes.latent->rotary_dim);
    number("value_dim", sizes.latent->value_dim);
    text.close();
  }
  text.close();
}

namespace {

// What of the job lies on which axis. `experts` = size of the axis of experts; `over_tensor` = they take
// tensor-parallel ranks too.
void add_presets(ScenarioText& text, const LauncherDegrees& degrees, std::int64_t experts, bool over_tensor,
                 const std::map<std::string, std::string>& from) {
  const auto preset = [&](const char* name, const std::string& why) {
    text.line("sharding: \"" + std::string(name) + "\"", why);
  };
  if (degrees.data > 1 || (degrees.fsdp == 1 && experts == 1)) preset("data", "batch over data");
  if (degrees.fsdp > 1) preset("fsdp", origin(from, "state"));
  if (degrees.context > 1) preset("ring_context", origin(from, "context"));
  if (over_tensor) return preset("megatron_experts", origin(from, "expert"));
  if (experts > 1) preset("expert", origin(from, "expert"));
  if (degrees.tensor > 1)
    preset(degrees.sequence_parallel ? "megatron_sp" : "megatron", origin(from, "sequence_parallel"));
  if (degrees.tensor > 1 && degrees.experts)
    for (const char* dimension : {"expert_ffn", "param_expert_ffn"})
      text.line("rule { dimension: \"" + std::string(dimension) + "\" axis: \"tensor\" }",
                origin(from, "expert"));
}

// Over which axes optimizer state, gradients and weights are cut beyond what presets say.
void add_rules_of_state(ScenarioText& text, const LauncherDegrees& degrees, std::int64_t experts,
                        const std::map<std::string, std::string>& from) {
  std::string over;
  if (degrees.data > 1) over += " axis: \"data\"";
  if (degrees.data == 1 && degrees.fsdp == 1 && experts > 1) over += " axis: \"expert\"";
  if (degrees.context > 1) over += " axis: \"context\"";
  const bool zero2 = degrees.state == LauncherDegrees::State::kZero2;
  if ((degrees.state == LauncherDegrees::State::kZero1 || zero2) && !over.empty()) {
    text.line("rule { dimension: \"state_param_embed\"" + over + " }", origin(from, "state"));
    if (zero2) text.line("rule { dimension: \"gradient_param_embed\"" + over + " }", origin(from, "state"));
  }
  if (degrees.fsdp > 1 && (degrees.context > 1 || experts > 1))
    text.line(std::string("rule { dimension: \"param_embed\" axis: \"fsdp\"") +
                  (degrees.context > 1 ? " axis: \"context\"" : "") +
                  (experts > 1 ? " axis: \"expert\"" : "") + " }",
              origin(from, "state"));
}

}  // namespace

bool add_mesh(ScenarioText& text, LauncherDegrees degrees, const std::map<std::string, std::string>& from,
              std::string& problem) {
  // Experts lie over data-parallel ranks; those that tensor-parallel ranks do not cut take these ranks too.
  const bool over_tensor = degrees.expert > 1 && degrees.tensor > 1 && degrees.expert_tensor == 1;
  if (over_tensor && degrees.expert % degrees.tensor != 0) {
    problem = "experts over " + std::to_string(degrees.expert) + " ranks are no multiple of the " +
              std::to_string(degrees.tensor) + " tensor-parallel ranks, which do not cut them";
    return false;
  }
  const std::int64_t experts = over_tensor ? degrees.expert / degrees.tensor : degrees.expert;
  std::int64_t& ranks = degrees.fsdp > 1 ? degrees.fsdp : degrees.data;
  if (ranks % experts != 0) {
    problem = "experts over " + std::to_string(experts) + " ranks do not divide the " +
              std::to_string(ranks) + " data-parallel ranks";
    return false;
  }
  ranks /= experts;
  if (degrees.state == LauncherDegrees::State::kZero3 && degrees.fsdp == 1)
    std::swap(degrees.data, degrees.fsdp);
  const std::vector<std::pair<std::string, std::int64_t>> axes = {
      {"pipeline", degrees.pipeline}, {"data", degrees.data}, {"fsdp", degrees.fsdp},
      {"context", degrees.context},   {"expert", experts},    {"tensor", degrees.tensor}};
  bool any = false;
  for (const auto& [name, size] : axes) {
    if (size == 1) continue;
    text.line("mesh { name: \"" + name + "\" size: " + std::to_string(size) + " }", origin(from, name));
    any = true;
  }
  if (!any) text.line("mesh { name: \"data\" size: 1 }", "one chip");
  add_presets(text, degrees, experts, over_tensor, from);
  add_rules_of_state(text, degrees, experts, from);
  return true;
}

void add_cluster(ScenarioText& text, const Stated& stated, std::int64_t chips, const std::string& chips_from,
                 std::int64_t slices, const std::string& slices_from) {
  text.open("cluster");
  text.line("chip: " + in_quotes(stated.chip), stated.chip_from);
  text.line("chips: " + std::to_string(chips), chips_from);
  text.line("fabric: " + in_quotes(stated.fabric), stated.fabric_from);
  if (slices > 1 && has_slices(stated.fabric)) text.line("slices: " + std::to_string(slices), slices_from);
  text.close();
}

void need_cluster(const Stated& stated, bool stack, std::vector<Needed>& needs) {
  if (stated.chip.empty()) needs.push_back({"chip", "--chip"});
  if (stated.fabric.empty()) needs.push_back({"fabric", "--fabric"});
  if (stack && stated.stack.empty()) needs.push_back({"stack", "--stack"});
}

}  // namespace podsim
