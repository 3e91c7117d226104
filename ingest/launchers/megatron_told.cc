// Figures, tables and scenarios of megatron_plan.h.
#include <utility>

#include "engine/check.h"
#include "ingest/launchers/launcher_mesh.h"
#include "ingest/launchers/launcher_stack.h"
#include "ingest/launchers/megatron_plan.h"
#include "ingest/launchers/settings.h"
#include "proto/catalog/assumed_stacks.h"
#include "report/text/align.h"
#include "report/text/text.h"

namespace podsim {
namespace {

const char* schedule_of(const MegatronPlan& plan) { return plan.chunks > 1 ? "interleaved" : "one_f_one_b"; }

Figure mesh_figure(const MegatronPlan& plan) {
  std::vector<std::pair<std::string, Whole>> axes = {
      {"pipeline", plan.pipeline}, {"data", plan.data}, {"context", plan.context}, {"tensor", plan.tensor}};
  if (plan.swapped) std::swap(axes[0], axes[1]);
  std::vector<Figure> pairs;
  for (const auto& [name, size] : axes)
    pairs.push_back(Figure::list("", {Figure("", FigureValue(name)), Figure("", known(size))}));
  return Figure::list("mesh_outer_to_inner", std::move(pairs));
}

Figure model_figure(const MegatronPlan& plan) {
  std::vector<Figure> parts = {{"layers", known(plan.model.layers)},
                               {"d_model", known(plan.model.d_model)},
                               {"heads", known(plan.model.heads)},
                               {"kv_heads", known(plan.model.kv_heads)},
                               {"head_dim", known(plan.model.head_dim)},
                               {"ffn", known(plan.model.ffn)},
                               {"gated_ffn", plan.model.gated_ffn},
                               {"vocabulary", known(plan.model.vocabulary)},
                               {"vocabulary_padded", known(plan.padded)},
                               {"tied_embedding", plan.model.tied_embedding},
                               {"biases", plan.model.biases},
                               {"rms_norm", plan.model.rms_norm},
                               {"qk_norm", plan.model.qk_norm},
                               {"learned_positions", known(plan.model.learned_positions)}};
  if (plan.model.experts) {
    const ModelSizes::Experts& experts = *plan.model.experts;
    const bool number =
        plan.layer_freq.size() < 6 && plan.layer_freq.find_first_not_of("0123456789") == std::string::npos;
    parts.push_back(Figure::group("experts", {{"experts", known(experts.experts)},
                                              {"experts_per_token", known(experts.experts_per_token)},
                                              {"expert_ffn", known(experts.expert_ffn)},
                                              {"shared_ffn", known(experts.shared_ffn)},
                                              {"capacity_factor", known(experts.capacity_factor)},
                                              {"layer_freq", number ? FigureValue(std::stoll(plan.layer_freq))
                                                                    : FigureValue(plan.layer_freq)},
                                              {"dispatcher", plan.dispatcher}}));
  } else {
    parts.emplace_back("experts", FigureValue());
  }
  if (plan.model.latent)
    parts.push_back(Figure::group("latent_attention", {{"query_rank", known(plan.model.latent->query_rank)},
                                                       {"kv_rank", known(plan.model.latent->kv_rank)},
                                                       {"plain_dim", known(plan.model.latent->plain_dim)},
                                                       {"rotary_dim", known(plan.model.latent->rotary_dim)},
                                                       {"value_dim", known(plan.model.latent->value_dim)}}));
  else
    parts.emplace_back("latent_attention", FigureValue());
  parts.emplace_back("prediction_layers", known(plan.model.prediction_layers));
  return Figure::group("model", std::move(parts));
}

// Of uneven pieces.
std::string layers_per_chunk(const MegatronPlan& plan) {
  std::string text;
  for (const std::int64_t layers : plan.chunk_layers)
    text += (text.empty() ? " layers_per_chunk: [" : ", ") + std::to_string(layers);
  return text.empty() ? "" : text + "]";
}

// What arguments say of software, over a stack that nobody chose; formats of gradients and state over any.
std::vector<StackChange> stack_changes(const MegatronPlan& plan, const Stated& stated) {
  const bool generic = stated.stack.empty(), short_gradients = plan.gradient_reduce != "fp32";
  const bool late = generic && !plan.overlap_gradients && plan.data.value_or(1) > 1 && plan.state != "zero3";
  const bool beside = generic && plan.overlap_tensor && plan.sequence_parallel;
  std::vector<StackChange> changes;
  if (short_gradients)  // their buffer too
    changes.push_back({"gradient_bytes: 2 gradient_memory_bytes: 2", said_of(plan.from, "gradient_reduce")});
  if (plan.state_bytes != MegatronPlan().state_bytes)
    changes.push_back(
        {"optimizer_state_bytes: " + std::to_string(plan.state_bytes), said_of(plan.from, "state_bytes")});
  if (late) changes.push_back({"gradients_overlapped: false", "--overlap-grad-reduce is not there"});
  if (beside)
    changes.push_back({"tensor_hidden: 0.75 tensor_chunks: 4",
                       said_of(plan.from, "overlap_tensor") + ": as podsim validate takes it"});
  return changes;
}

void add_recompute(ScenarioText& out, const MegatronPlan& plan) {
  if (plan.recompute == "selective" && !plan.modules.empty()) {
    for (const std::string& module : plan.modules)
      out.line("recompute_modules: " + in_quotes(module), plan.from.at("recompute_modules"));
    return;
  }
  out.line("recompute: " + plan.recompute, said_of(plan.from, "recompute"));
  if (plan.recompute == "full" && plan.method.value_or("") == "block" &&
      plan.recompute_layers.value_or(0) > 0)
    out.line("recompute_layers: " + std::to_string(*plan.recompute_layers), plan.from.at("recompute_layers"));
}

}  // namespace

std::vector<Figure> megatron_figures(const MegatronPlan& plan) {
  std::vector<Figure> all = {{"format", std::string("megatron")},
                             {"chips", known(plan.chips)},
                             needs_figure(plan.needs),
                             mesh_figure(plan)};
  if (plan.model.experts)
    all.push_back(Figure::group("expert", {{"expert", plan.expert},
                                           {"expert_tensor", plan.expert_tensor},
                                           {"expert_data", known(plan.expert_data)}}));
  else
    all.emplace_back("expert", FigureValue());
  append(all, {{"sequence_parallel", plan.sequence_parallel},
               {"state_sharding", plan.state.empty() ? FigureValue() : FigureValue(plan.state)},
               Figure::group("batch", {{"global_batch_sequences", known(plan.batch)},
                                       {"microbatch_sequences", known(plan.micro)},
                                       {"microbatches", known(plan.microbatches)}}),
               {"sequence_tokens", known(plan.sequence)},
               Figure::group("pipeline", {{"stages", plan.pipeline},
                                          {"chunks_per_stage", plan.chunks},
                                          {"schedule", std::string(schedule_of(plan))},
                                          {"first_stage_layers", known(plan.first)},
                                          {"last_stage_layers", known(plan.last)},
                                          {"embedding_counts_as_layer", plan.embedding_counts},
                                          {"loss_counts_as_layer", plan.loss_counts}}),
               {"precision", plan.precision},
               {"gradient_reduce", plan.gradient_reduce},
               Figure::group("recompute",
                             {{"mode", plan.recompute},
                              {"method", known(plan.method)},
                              {"layers", known(plan.recompute_layers)},
                              plan.modules.empty() ? Figure("modules", FigureValue())
                                                   : Figure::list("modules", values_of(plan.modules))}),
               Figure::group("overlap", {{"gradients", plan.overlap_gradients},
                                         {"parameters", plan.overlap_parameters},
                                         {"tensor", plan.overlap_tensor}}),
               model_figure(plan),
               {"batch_ramp", plan.ramp.empty() ? FigureValue() : FigureValue(plan.ramp)}});
  return all;
}

std::string megatron_text(const std::string& file, const MegatronPlan& plan) {
  const auto said = [](const Whole& number) { return number ? count_text(*number) : std::string("?"); };
  std::vector<std::vector<std::string>> rows = {
      {"chips", said(plan.chips)},
      {"pipeline x data x context x tensor", said(plan.pipeline) + " x " + said(plan.data) + " x " +
                                                 said(plan.context) + " x " + said(plan.tensor) +
                                                 (plan.sequence_parallel ? ", sequence parallel" : "")},
      {"global batch", said(plan.batch) + " sequences of " + said(plan.sequence) + " tokens, " +
                           said(plan.micro) + " in a microbatch, " + said(plan.microbatches) +
                           " microbatches"},
      {"model", said(plan.model.layers) + " layers, d_model " + said(plan.model.d_model) + ", " +
                    said(plan.model.heads) + " heads, " + said(plan.model.kv_heads) + " of keys, ffn " +
                    said(plan.model.ffn) + (plan.model.gated_ffn ? " gated" : "") + ", vocabulary " +
                    said(plan.model.vocabulary)},
      {"precision", plan.precision + ", gradients reduced in " + plan.gradient_reduce},
      {"state", plan.state.empty() ? "on every data-parallel rank" : plan.state},
      {"pipeline schedule",
       std::string(schedule_of(plan)) + ", " + said(plan.chunks) + (plan.chunks == 1 ? " chunk" : " chunks")},
      {"recompute", plan.recompute}};
  if (plan.model.experts)
    rows.push_back({"experts", said(plan.model.experts->experts) + ", " +
                                   said(plan.model.experts->experts_per_token) + " per token, over " +
                                   said(plan.expert) + " ranks, each cut over " + said(plan.expert_tensor)});
  std::string text = file + ": Megatron-LM\n\n" + align(rows) + "\n";
  for (const std::string& what : plan.not_simulated) text += "not simulated: " + what + "\n";
  return text;
}

std::string megatron_scenario(const std::string& file, MegatronPlan plan, const Stated& stated,
                              std::string& problem) {
  PODSIM_CHECK(plan.needs.empty() && plan.chips, "nothing is needed");
  ScenarioText out;
  out.comment("From " + file + ", by podsim import. Defaults are those of Megatron-LM.");
  for (const std::string& what : plan.not_simulated) out.comment("Not simulated: " + what + ".");
  add_cluster(out, stated, *plan.chips, plan.chips_from, 1, "");
  out.open("job");
  if (!stated.model.empty()) {
    out.line("model: " + in_quotes(stated.model), "--model");
  } else {
    plan.model.vocabulary = plan.padded;
    add_model(out, "imported", plan.model, file);
  }
  add_stack(out, stated, {assumed_stack(KnownOfSoftware::kMegatron), "the launcher is Megatron-LM"},
            stack_changes(plan, stated));
  LauncherDegrees degrees;
  degrees.pipeline = plan.pipeline;
  (plan.state == "zero3" ? degrees.fsdp : degrees.data) = *plan.data;
  degrees.context = plan.context;
  degrees.tensor = plan.tensor;
  degrees.experts = plan.model.experts.has_value();
  degrees.expert = degrees.experts ? plan.expert : 1;
  degrees.expert_tensor = plan.expert_tensor;
  degrees.sequence_parallel = plan.sequence_parallel;
  if (plan.swapped) degrees.outermost = {"data", "fsdp"};
  degrees.state = plan.state == "zero1"   ? SharedState::kZero1
                  : plan.state == "zero2" ? SharedState::kZero2
                  : plan.state == "zero3" ? SharedState::kZero3
                                          : SharedState::kWhole;
  if (plan.from.count("data") == 0) plan.from["data"] = "chips / (tensor x pipeline x context)";
  plan.from["fsdp"] = plan.from["data"];
  if (!add_mesh(out, degrees, plan.from, problem)) return "";
  if (plan.pipeline > 1) {
    std::string lines = std::string("schedule: ") + schedule_of(plan);
    if (plan.chunks > 1) lines += " chunks_per_stage: " + std::to_string(plan.chunks);
    out.line("pipeline { " + lines + layers_per_chunk(plan) + " }", plan.from["chunks"]);
  }
  out.line("global_batch_sequences: " + std::to_string(*plan.batch), plan.from["global_batch"]);
  out.line("microbatch_sequences: " + std::to_string(*plan.micro), plan.from["micro_batch"]);
  out.line("sequence_tokens: " + std::to_string(*plan.sequence), plan.from["sequence"]);
  out.line("precision: " + plan.precision, plan.from["precision"]);
  add_recompute(out, plan);
  if (plan.offload_optimizer) out.line("offload_optimizer: true", plan.from["offload_optimizer"]);
  out.close();
  return out.text();
}

}  // namespace podsim
