// Figures, tables and scenarios of maxtext_plan.h.
#include <algorithm>
#include <utility>

#include "engine/check.h"
#include "ingest/launchers/launcher_mesh.h"
#include "ingest/launchers/launcher_stack.h"
#include "ingest/launchers/maxtext_plan.h"
#include "ingest/launchers/settings.h"
#include "proto/catalog/assumed_stacks.h"
#include "report/text/align.h"
#include "report/text/text.h"

namespace podsim {
namespace {

Figure axes_figure(const char* key, const std::vector<std::pair<std::string, std::int64_t>>& level) {
  std::vector<Figure> parts;
  for (const auto& [axis, number] : level) parts.emplace_back(axis, number);
  return Figure::group(key, std::move(parts));
}

Figure maxtext_model_figure(const MaxTextPlan& plan) {
  std::vector<Figure> parts = {
      {"layers", known(plan.model.layers)},         {"d_model", known(plan.model.d_model)},
      {"heads", known(plan.model.heads)},           {"kv_heads", known(plan.model.kv_heads)},
      {"head_dim", known(plan.model.head_dim)},     {"ffn", known(plan.model.ffn)},
      {"gated_ffn", plan.model.gated_ffn},          {"vocabulary", known(plan.model.vocabulary)},
      {"tied_embedding", plan.model.tied_embedding}};
  if (plan.model.experts)
    parts.push_back(
        Figure::group("experts", {{"experts", known(plan.model.experts->experts)},
                                  {"experts_per_token", known(plan.model.experts->experts_per_token)},
                                  {"expert_ffn", known(plan.model.experts->expert_ffn)},
                                  {"capacity_factor", known(plan.model.experts->capacity_factor)},
                                  {"shared", plan.shared},
                                  {"dense_layers", known(plan.model.experts->dense_layers)}}));
  return Figure::group("model", std::move(parts));
}

std::string axes_text(const std::vector<std::pair<std::string, std::int64_t>>& level) {
  std::string text;
  for (const auto& [axis, number] : level)
    text += (text.empty() ? "" : " x ") + axis + " " + (number < 0 ? "?" : std::to_string(number));
  return text.empty() ? "1" : text;
}

// "8 experts of 14,336, 2 per token"
std::string experts_text(const ModelSizes::Experts& experts) {
  const auto said = [](const Whole& number) { return number ? count_text(*number) : std::string("?"); };
  std::string text = ", " + said(experts.experts) + " experts of " + said(experts.expert_ffn) + ", " +
                     said(experts.experts_per_token) + " per token";
  if (experts.shared_ffn.value_or(0) > 0) text += ", " + said(experts.shared_ffn) + " shared";
  if (experts.dense_layers.value_or(0) > 0) text += ", " + said(experts.dense_layers) + " dense layers";
  return text;
}

// Those of our axes that lie between slices, in the order of MaxText's mesh.
std::vector<std::string> axes_between_slices(const MaxTextPlan& plan) {
  static const std::vector<std::pair<const char*, const char*>> kOrder = {
      {"diloco", "data"},
      {"data", "data"},
      {"pipeline", "pipeline"},
      {"fsdp", "fsdp"},
      {"fsdp_transpose", "fsdp"},
      {"sequence", "context"},
      {"context", "context"},
      {"context_usp_ulysses", "context"},
      {"context_autoregressive", "context"},
      {"tensor", "tensor"},
      {"tensor_transpose", "tensor"},
      {"tensor_sequence", "tensor"},
      {"expert", "expert"}};
  std::vector<std::string> outer;
  for (const auto& [theirs, ours] : kOrder) {
    const std::string name = theirs;
    const bool between = std::ranges::any_of(plan.dcn, [&](const auto& axis) { return axis.first == name; });
    if (between && std::ranges::count(outer, ours) == 0) outer.emplace_back(ours);
  }
  return outer;
}

// An axis here has one place: of several between slices only the last may go on within a slice.
std::string misplaced_axes(const MaxTextPlan& plan) {
  const std::vector<std::string> outer = axes_between_slices(plan);
  for (const auto& [axis, size] : plan.ici)
    if (outer.size() > 1 && std::find(outer.begin(), outer.end() - 1, axis) != outer.end() - 1)
      return "parts of " + axis +
             " both between and within slices beside other axes between them: all of it "
             "lies outside";
  return "";
}

}  // namespace

// Of Transformer Engine, of AQT and of Qwix, by the names that base.yml has for them.
std::string maxtext_recipe(const MaxTextPlan& plan) {
  const std::string& name = plan.quantization;
  const auto has = [&](const char* word) { return name.find(word) != std::string::npos; };
  if (name.empty() || name == "te_noop") return plan.quantization.empty() ? plan.precision : "bf16";
  if (has("nvfp4")) return "nvfp4";
  if (has("mxfp8")) return "mxfp8";
  if (has("fp8")) return "fp8_tensorwise";
  return name == "int8" ? "int8" : "";
}

std::vector<Figure> maxtext_figures(const MaxTextPlan& plan) {
  return {{"format", std::string("maxtext")},
          {"chips", known(plan.chips)},
          {"slices", plan.slices},
          needs_figure(plan.needs),
          {"model_name", plan.name == "default" ? FigureValue() : FigureValue(plan.name)},
          {"catalogue", plan.catalogue.empty() ? FigureValue() : FigureValue(plan.catalogue)},
          axes_figure("ici", plan.ici),
          axes_figure("dcn", plan.dcn),
          Figure::group("batch", {{"global_batch_sequences", known(plan.global)},
                                  {"gradient_accumulation", plan.accumulation},
                                  {"per_device", plan.per_device}}),
          Figure::group("pipeline", {{"stages", plan.stages},
                                     {"chunks_per_stage", plan.chunks},
                                     {"microbatches", plan.pipeline_microbatches}}),
          {"sequence_tokens", plan.sequence},
          {"precision", plan.precision},
          {"weight_dtype", plan.weights},
          {"optimizer_state_bytes", plan.state_bytes},
          {"recompute_policy", plan.remat.policy},
          {"attention", plan.attention},
          {"scan_layers", plan.scan},
          maxtext_model_figure(plan)};
}

std::string maxtext_text(const std::string& file, const MaxTextPlan& plan) {
  const auto said = [](const Whole& number) { return number ? count_text(*number) : std::string("?"); };
  std::vector<std::vector<std::string>> rows = {
      {"chips", said(plan.chips) + (plan.slices > 1 ? " in " + std::to_string(plan.slices) + " slices" : "")},
      {"in a slice", axes_text(plan.ici)},
      {"between slices", axes_text(plan.dcn)},
      {"global batch", said(plan.global) + " sequences of " + said(plan.sequence) + " tokens, " +
                           shortest(plan.per_device) + " on a chip" +
                           (plan.accumulation > 1 ? ", " + said(plan.accumulation) + " accumulated" : "")},
      {"model", (plan.name == "default" ? "" : plan.name + ": ") + said(plan.model.layers) +
                    " layers, d_model " + said(plan.model.d_model) + ", " + said(plan.model.heads) +
                    " heads, " + said(plan.model.kv_heads) + " of keys, ffn " + said(plan.model.ffn) +
                    (plan.model.experts ? experts_text(*plan.model.experts) : "") + ", vocabulary " +
                    said(plan.model.vocabulary)},
      {"precision", plan.precision + ", weights " + plan.weights},
      {"recompute", plan.remat.policy}};
  if (plan.stages > 1)
    rows.insert(rows.begin() + 4,
                std::vector<std::string>{"pipeline", said(plan.stages) + " stages, " + said(plan.chunks) +
                                                         (plan.chunks == 1 ? " piece" : " pieces") +
                                                         " of layers on each, " +
                                                         said(plan.pipeline_microbatches) + " microbatches"});
  return file + ": MaxText\n\n" + align(rows) + "\n";
}

namespace {

// The kernel that `attention` names; empty where it leaves it to the hardware.
std::string wanted_kernel(const MaxTextPlan& plan) {
  if (plan.attention.starts_with("cudnn_flash")) return "cudnn";
  return plan.attention == "dot_product" ? "unfused" : "";
}

std::vector<std::string> not_simulated_of(const MaxTextPlan& plan, const Stated& stated) {
  std::vector<std::string> all;
  if (std::string misplaced = misplaced_axes(plan); !misplaced.empty()) all.push_back(std::move(misplaced));
  if (const std::string kernel = wanted_kernel(plan);
      kernel == "unfused" && stated.stack.empty() && !chip_has_attention(stated.chip, kernel))
    all.push_back("attention=" + plan.attention +
                  ", which writes its scores out: no rate of it is known on " + stated.chip);
  return all;
}

void add_maxtext_model(ScenarioText& out, MaxTextPlan& plan, const Stated& stated) {
  if (!plan.catalogue.empty()) {
    out.line("model: " + in_quotes(plan.catalogue),
             stated.model.empty() ? plan.from["model_name"] : "--model");
    add_model_changes(out, plan.model, plan.known);
  } else {
    add_model(out, plan.name == "default" ? "imported" : plan.name, plan.model, "base.yml");
  }
  std::vector<StackChange> changes;
  if (plan.state_bytes != MaxTextPlan().state_bytes)
    changes.push_back(
        {"optimizer_state_bytes: " + std::to_string(plan.state_bytes), plan.from["state_bytes"]});
  add_stack(out, stated, {assumed_stack(KnownOfSoftware::kMaxText), "the launcher is MaxText"}, changes,
            {stated.stack.empty() ? wanted_kernel(plan) : "", plan.from["attention"]});
}

// "[\"context\", \"mlpwo\"]"
std::string listed(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + in_quotes(name);
  return "[" + list + "]";
}

void add_remat(ScenarioText& out, const MaxTextRemat& remat, const std::string& from) {
  PODSIM_CHECK(remat.policy == "custom" || remat.kept.empty(), "lists are those of a custom policy");
  if (remat.policy != "custom") return out.line("recompute_policy: " + in_quotes(remat.policy), from);
  out.line(remat.kept.empty() ? "recompute_policy: \"full\"" : "keep: " + listed(remat.kept), from);
  if (!remat.offloaded.empty()) out.line("offload: " + listed(remat.offloaded), from);
}

}  // namespace

std::string maxtext_scenario(const std::string& file, MaxTextPlan plan, const Stated& stated,
                             std::string& problem) {
  PODSIM_CHECK(plan.needs.empty() && plan.chips, "nothing is needed");
  ScenarioText out;
  out.comment("From " + file + ", by podsim import. Defaults are those of MaxText's base.yml.");
  for (const std::string& what : not_simulated_of(plan, stated)) out.comment("Not simulated: " + what + ".");
  add_cluster(out, stated, *plan.chips, plan.chips_from, plan.slices,
              stated.slices ? "--slices" : "product of the dcn axes");
  out.open("job");
  add_maxtext_model(out, plan, stated);
  LauncherDegrees degrees;
  degrees.pipeline = axes_product(plan, {"pipeline"});
  degrees.data = axes_product(plan, {"data", "diloco"});
  degrees.fsdp = axes_product(plan, {"fsdp", "fsdp_transpose"});
  degrees.context =
      axes_product(plan, {"context", "sequence", "context_autoregressive", "context_usp_ulysses"});
  degrees.tensor = axes_product(plan, {"tensor", "tensor_sequence", "tensor_transpose", "autoregressive"});
  degrees.expert = axes_product(plan, {"expert"});
  degrees.fsdp *= degrees.expert;  // tokens and weights lie over both
  degrees.expert_tensor = degrees.tensor;
  degrees.experts = plan.model.experts.has_value();
  degrees.sequence_parallel = true;
  plan.from["state"] = "weights over the fsdp axes";
  plan.from["sequence_parallel"] = "tensor axes of MaxText cut sequences too";
  degrees.outermost = axes_between_slices(plan);
  if (degrees.fsdp * degrees.context > 1) degrees.state = SharedState::kZero3;
  if (!add_mesh(out, degrees, plan.from, problem)) return "";
  out.line("global_batch_sequences: " + std::to_string(*plan.global),
           "chips x per_device_batch_size x gradient_accumulation_steps");
  const std::int64_t shards = degrees.data * degrees.fsdp;
  if (plan.stages > 1) {
    out.line("pipeline { schedule: shifting" +
                 (plan.chunks > 1 ? " chunks_per_stage: " + std::to_string(plan.chunks) : "") + " }",
             plan.from.contains("chunks") ? plan.from["chunks"] : "one layer on a stage at a time");
    out.line(
        "microbatch_sequences: " + std::to_string(plan.micro.value_or(1)),
        plan.from.contains("microbatches") ? plan.from["microbatches"] : "as many microbatches as stages");
  } else if (plan.accumulation > 1 && *plan.global % (plan.accumulation * shards) == 0) {
    out.line("microbatch_sequences: " + std::to_string(*plan.global / plan.accumulation / shards),
             plan.from["accumulation"]);
  }
  out.line("sequence_tokens: " + std::to_string(plan.sequence), plan.from["sequence"]);
  out.line("precision: " +
               recipe_of_stack(stated.stack.empty() ? assumed_stack(KnownOfSoftware::kMaxText) : stated.stack,
                               maxtext_recipe(plan)),
           plan.quantization.empty() ? "dtype" : plan.from["quantization"]);
  add_remat(out, plan.remat, plan.from["remat_policy"]);
  if (plan.offload_optimizer) out.line("offload_optimizer: true", plan.from["offload_optimizer"]);
  out.close();
  return out.text();
}

}  // namespace podsim
