// Figures, tables and scenarios of hugging_face_model.h.
#include <utility>

#include "ingest/launchers/hugging_face_model.h"
#include "ingest/launchers/launcher_mesh.h"
#include "ingest/launchers/launcher_stack.h"
#include "ingest/launchers/settings.h"
#include "report/text/align.h"
#include "report/text/text.h"

namespace podsim {
namespace {

FigureValue said_or_null(const std::string& text) { return text.empty() ? FigureValue() : FigureValue(text); }

FigureValue known_flag(const std::optional<bool>& flag) { return flag ? FigureValue(*flag) : FigureValue(); }

Figure hub_experts_figure(const ModelSizes& sizes) {
  if (!sizes.experts) return {"experts", FigureValue()};
  const ModelSizes::Experts& experts = *sizes.experts;
  return Figure::group("experts", {{"experts", known(experts.experts)},
                                   {"experts_per_token", known(experts.experts_per_token)},
                                   {"expert_ffn", known(experts.expert_ffn)},
                                   {"shared_ffn", known(experts.shared_ffn)},
                                   {"dense_layers", known(experts.dense_layers)},
                                   {"every", known(experts.every)}});
}

Figure hub_latent_figure(const ModelSizes& sizes) {
  if (!sizes.latent) return {"latent_attention", FigureValue()};
  return Figure::group("latent_attention", {{"query_rank", known(sizes.latent->query_rank)},
                                            {"kv_rank", known(sizes.latent->kv_rank)},
                                            {"plain_dim", known(sizes.latent->plain_dim)},
                                            {"rotary_dim", known(sizes.latent->rotary_dim)},
                                            {"value_dim", known(sizes.latent->value_dim)}});
}

// A model has a dense block, also where every layer has experts in its place.
ModelSizes with_ffn(ModelSizes sizes) {
  if (!sizes.ffn && sizes.experts) sizes.ffn = sizes.experts->expert_ffn;
  return sizes;
}

}  // namespace

std::vector<Figure> hugging_face_figures(const HuggingFaceModel& model) {
  const ModelSizes& sizes = model.sizes;
  std::vector<std::string> types;
  for (const auto& [type, count] : model.layers_of) types.push_back(type);
  Figure figure = Figure::group("model", {{"layers", known(sizes.layers)},
                                          {"d_model", known(sizes.d_model)},
                                          {"heads", known(sizes.heads)},
                                          {"kv_heads", known(sizes.kv_heads)},
                                          {"head_dim", known(sizes.head_dim)},
                                          {"ffn", known(sizes.ffn)},
                                          {"gated_ffn", known_flag(model.gated)},
                                          {"vocabulary", known(sizes.vocabulary)},
                                          {"tied_embedding", known_flag(model.tied)},
                                          {"qk_norm", sizes.qk_norm},
                                          {"attention_biases", model.attention_bias},
                                          {"attention_window", known(sizes.attention_window)},
                                          {"full_every", known(sizes.full_every)},
                                          types.empty() ? Figure("layer_types", FigureValue())
                                                        : Figure::list("layer_types", values_of(types)),
                                          hub_experts_figure(sizes),
                                          hub_latent_figure(sizes),
                                          {"prediction_layers", known(sizes.prediction_layers)}});
  return {{"format", std::string("hf")},
          {"model_type", said_or_null(model.type)},
          {"outer_model_type", said_or_null(model.outer_type)},
          needs_figure(model.needs),
          {"catalogue", said_or_null(model.catalogue)},
          std::move(figure),
          {"parameters", known(model.parameters)},
          {"active_parameters", known(model.active)},
          {"max_positions", known(model.positions)},
          {"dtype", said_or_null(model.dtype)},
          {"quantization", said_or_null(model.quantization)}};
}

std::string hugging_face_text(const std::string& file, const HuggingFaceModel& model) {
  const ModelSizes& sizes = model.sizes;
  const auto said = [](const Whole& number) { return number ? count_text(*number) : std::string("?"); };
  const auto flag = [](const std::optional<bool>& is, const char* what) {
    return !is ? ", " + std::string(what) + "?" : *is ? ", " + std::string(what) : "";
  };
  std::vector<std::vector<std::string>> rows = {
      {"layers", said(sizes.layers)},
      {"d_model", said(sizes.d_model)},
      {"heads", said(sizes.heads) +
                    (sizes.latent ? ", latent attention"
                                  : ", " + said(sizes.kv_heads) + " of keys, of " + said(sizes.head_dim))},
      {"ffn", said(sizes.ffn) + flag(model.gated, "gated")},
      {"vocabulary", said(sizes.vocabulary) + flag(model.tied, "tied")}};
  if (sizes.experts)
    rows.push_back({"experts", said(sizes.experts->experts) + " of " + said(sizes.experts->expert_ffn) +
                                   ", " + said(sizes.experts->experts_per_token) + " per token"});
  if (sizes.attention_window)
    rows.push_back({"attention window",
                    said(sizes.attention_window) +
                        (sizes.full_every ? ", 1 of " + said(sizes.full_every) + " layers without" : "")});
  rows.push_back({"parameters", !model.type_is_known
                                    ? "not counted: model_type \"" + model.type + "\" is not known"
                                    : said(model.parameters) + ", " + said(model.active) + " of a token"});
  if (!model.catalogue.empty()) rows.push_back({"in the catalogue", model.catalogue});
  return file + ": Hugging Face configuration, " + (model.type.empty() ? "no model_type" : model.type) +
         "\n\n" + align(rows) + "\n";
}

std::string hugging_face_scenario(const std::string& file, const HuggingFaceModel& model,
                                  const Stated& stated) {
  ScenarioText out;
  out.comment("From " + file + ", by podsim import.");
  add_cluster(out, stated, *stated.chips, "--chips", stated.slices.value_or(1), "--slices");
  out.open("job");
  if (!stated.model.empty())
    out.line("model: " + in_quotes(stated.model), "--model");
  else if (!model.catalogue.empty())
    out.line("model: " + in_quotes(model.catalogue), "has the sizes of " + file);
  else
    add_model(out, model.type.empty() ? "imported" : model.type, with_ffn(model.sizes), file);
  add_stack(out, stated, generic_stack(stated));
  LauncherDegrees degrees;
  degrees.fsdp = *stated.chips;
  degrees.state = SharedState::kZero3;
  std::string problem;
  const std::string assumed = "assumed: fully sharded over all chips, which may not be the fastest layout";
  add_mesh(out, degrees, {{"fsdp", assumed}, {"state", assumed}}, problem);
  out.line("global_batch_sequences: " + std::to_string(*model.step.batch_sequences), model.step.batch_from);
  out.line("sequence_tokens: " + std::to_string(*model.step.sequence_tokens), model.step.sequence_from);
  out.line("precision: bf16", "assumed");
  out.close();
  return out.text();
}

}  // namespace podsim
