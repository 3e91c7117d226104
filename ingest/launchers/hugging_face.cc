// config.json: sizes, and the count of parameters that its classes make of them.
#include <algorithm>
#include <set>
#include <utility>

#include "ingest/launchers/attention_windows.h"
#include "ingest/launchers/expert_layers.h"
#include "ingest/launchers/hugging_face_model.h"
#include "ingest/launchers/known_model.h"
#include "ingest/launchers/launcher_stack.h"
#include "ingest/launchers/launchers.h"
#include "ingest/launchers/model_families.h"
#include "ingest/launchers/model_keys.h"
#include "ingest/launchers/parameter_count.h"
#include "ingest/launchers/reasons.h"
#include "ingest/launchers/settings.h"

namespace podsim {
namespace {

// Part by part, in the order in which later parts need earlier ones.
class HuggingFaceReader {
 public:
  HuggingFaceReader(Configuration& settings, const Stated& stated)
      : s_(settings), stated_(stated), keys_(settings, m_.from, model_.needs) {}

  // Contradictions are problems of the settings. `needs_of_step` gets what of a step is not stated.
  HuggingFaceModel read(std::vector<Needed>& needs_of_step) {
    read_type();
    read_sizes();
    read_feed_forward();
    read_attention();
    read_windows();
    read_latent();
    read_experts();
    read_rest();
    model_.step = read_step_sizes(s_, stated_, model_.positions, needs_of_step);
    s_.refuse_misspelt(why_not_used_by_hugging_face);
    if (s_.problems().empty()) check();
    if (!s_.problems().empty()) return std::move(model_);
    count_parameters();
    if (model_.needs.empty() && model_.shapes.empty()) model_.catalogue = name_in_catalogue(m_);
    return std::move(model_);
  }

 private:
  bool is(std::initializer_list<std::string_view> types) const {
    return std::ranges::find(types, model_.type) != types.end();
  }

  // Of models that are not run as they are.
  void not_run(const std::string& what) {
    if (!what.empty())
      model_.shapes.push_back({"a model without " + what + ", which podsim does not run", "--model"});
  }

  void read_type() {
    const std::string outer = s_.text("model_type").value_or("");
    const bool nested = std::any_of(s_.all().begin(), s_.all().end(), [](const Setting& setting) {
      return setting.name.starts_with("text_config.");
    });
    model_.type = s_.text("text_config.model_type").value_or(outer);
    if (nested) model_.outer_type = outer;
    family_ = model_family(model_.type);
    model_.type_is_known = family_ != nullptr;
    not_run(other_layers(s_));
    if (s_.is_true("is_encoder_decoder")) not_run("an encoder beside the decoder (is_encoder_decoder)");
    if (is_encoder(model_.type)) not_run("layers that see what follows (model_type " + model_.type + ")");
  }

  void read_sizes() {
    // The classes of Gemma 3 leave out what is their default.
    const bool gemma3 = is({"gemma3_text"});
    const auto of_gemma3 = [&](std::int64_t number) { return gemma3 ? Whole(number) : std::nullopt; };
    m_.layers = keys_.required({"num_hidden_layers", "n_layer", "n_layers", "num_layers"}, "layers");
    m_.d_model = is({"bloom"}) ? keys_.required({"n_embed", "hidden_size"}, "d_model")
                               : keys_.required({"hidden_size", "n_embd", "d_model"}, "d_model");
    m_.heads =
        keys_.required({"num_attention_heads", "n_head", "n_heads", "num_heads"}, "heads", of_gemma3(8));
    m_.kv_heads = keys_.whole(
        {"num_key_value_heads", "num_kv_heads", "attn_config.kv_n_heads", "multi_query_group_num"},
        "kv_heads");
    if (is({"falcon"}) && !keys_.flag("new_decoder_architecture", false)) m_.kv_heads.reset();
    if (!m_.kv_heads) m_.kv_heads = kv_heads_not_stated();
    m_.head_dim = keys_.whole({"head_dim"}, "head_dim");
    if (!m_.head_dim) m_.head_dim = of_gemma3(256);
    if (!m_.head_dim && m_.d_model && m_.heads.value_or(0) > 0) m_.head_dim = *m_.d_model / *m_.heads;
    m_.vocabulary = keys_.required({"vocab_size"}, "vocabulary", of_gemma3(262'208));
    model_.positions = keys_.whole({"max_position_embeddings", "n_positions", "max_seq_len"}, "positions");
    if (family_ != nullptr && family_->learned_positions >= 0 && model_.positions)
      m_.learned_positions = *model_.positions + family_->learned_positions;
    model_.tied = tied_embedding();
    m_.tied_embedding = model_.tied.value_or(false);
  }

  // Classes have a head of keys for each head of queries, or a single one (arXiv 1911.02150).
  Whole kv_heads_not_stated() {
    const bool single = keys_.flag("multi_query", is({"falcon", "gpt_bigcode"}));
    if (single && !(is({"falcon"}) && keys_.flag("new_decoder_architecture", false))) return 1;
    if (is({"gemma3_text"})) return 4;
    if (family_ != nullptr || keys_.stated("kv_lora_rank") || keys_.stated("multi_query")) return m_.heads;
    if (!each_layer_differs())
      model_.shapes.push_back({"num_key_value_heads", "--set num_key_value_heads=N"});
    return std::nullopt;
  }

  bool each_layer_differs() const { return keys_.stated("block_configs"); }

  std::optional<bool> tied_embedding() {
    const bool outside = s_.has("tie_word_embeddings"), inside = s_.has("text_config.tie_word_embeddings");
    const auto outer = s_.boolean("tie_word_embeddings"),
               inner = s_.boolean(keys_.key("tie_word_embeddings"));
    if (outside && s_.has("text_config.vocab_size") && !inside) return outer;
    if (inner) return inner;
    if (family_ != nullptr) return family_->tied;
    model_.shapes.push_back({"tie_word_embeddings", "--set tie_word_embeddings=true or false"});
    return std::nullopt;
  }

  void read_feed_forward() {
    m_.ffn = is({"llama4_text"}) ? keys_.whole({"intermediate_size_mlp", "intermediate_size"}, "ffn")
                                 : keys_.whole({"intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size",
                                                "ffn_config.ffn_hidden_size"},
                                               "ffn");
    const Whole times = keys_.whole({"expansion_ratio"}, "ffn");
    const bool four = is({"gpt2", "gpt_bigcode", "gpt_neox", "gpt_neo", "gptj", "falcon", "bloom", "mpt"});
    if (!m_.ffn && m_.d_model && (times || four)) m_.ffn = times.value_or(4) * *m_.d_model;
    std::string activation;
    for (const char* name : {"hidden_act", "hidden_activation", "activation_function"})
      if (const auto text = keys_.text(name); text && activation.empty()) activation = *text;
    model_.gated = family_ != nullptr ? family_->gated : is_gated(activation);
    if (!model_.gated)
      model_.shapes.push_back({activation.empty() ? "hidden_act" : "whether " + activation + " gates",
                               "--set hidden_act=swiglu, or gelu without a gate"});
    m_.gated_ffn = model_.gated.value_or(false);
  }

  // A class of its own may gate with any function; of these it is usual to or not to. GELU in the
  // approximation by tanh stands in both (Gemma, StarCoder).
  static std::optional<bool> is_gated(const std::string& activation) {
    static const std::set<std::string> kGated = {"silu", "swish", "swiglu", "geglu", "reglu", "gated-gelu"};
    static const std::set<std::string> kPlain = {"gelu",  "gelu_new",   "gelu_fast", "gelu_python",
                                                 "relu",  "quick_gelu", "relu2",     "squared_relu",
                                                 "relu6", "tanh"};
    if (kGated.contains(activation)) return true;
    return kPlain.contains(activation) ? std::optional(false) : std::nullopt;
  }

  void read_attention() {
    bool& bias = model_.attention_bias;
    bias = keys_.flag("attention_bias", family_ != nullptr && family_->attention_bias);
    if (is({"starcoder2", "ernie4_5"})) bias = keys_.flag("use_bias", is({"starcoder2"}));
    if (is({"internlm2", "falcon"})) bias = keys_.flag("bias", false);
    if (is({"stablelm"})) bias = keys_.flag("use_qkv_bias", false);
    if (is({"qwen2_moe"})) bias = keys_.flag("qkv_bias", true);
    m_.qk_norm = family_ != nullptr && family_->query_norm != ModelFamily::QueryNorm::kNone &&
                 family_->query_norm != ModelFamily::QueryNorm::kWholeIfAsked;
    m_.qk_norm = keys_.flag("use_qk_norm", m_.qk_norm) || keys_.flag("qk_layernorm", false);
    m_.attention_sinks = is({"gpt_oss"});
  }

  void read_windows() {
    AttentionWindows windows = read_attention_windows(keys_, model_.type, m_.layers);
    m_.attention_window = windows.window;
    m_.full_every = windows.full_every;
    model_.layers_of = std::move(windows.layers_of);
    not_run(windows.not_run);
  }

  void read_latent() {
    const Whole kv_rank = keys_.whole({"kv_lora_rank"}, "kv_rank");
    if (!kv_rank) return;
    ModelSizes::Latent latent;
    latent.kv_rank = kv_rank;
    latent.query_rank = keys_.whole({"q_lora_rank"}, "query_rank");
    latent.plain_dim = keys_.whole({"qk_nope_head_dim"}, "plain_dim");
    latent.rotary_dim = keys_.whole({"qk_rope_head_dim"}, "rotary_dim");
    latent.value_dim = keys_.whole({"v_head_dim"}, "value_dim");
    for (const auto& [number, name] :
         {std::pair(latent.plain_dim, "qk_nope_head_dim"), std::pair(latent.rotary_dim, "qk_rope_head_dim"),
          std::pair(latent.value_dim, "v_head_dim")})
      if (!number) model_.needs.push_back({name, std::string("--set ") + name + "=N"});
    m_.latent = latent;
    m_.head_dim.reset();
  }

  void read_experts() {
    const Whole experts = keys_.whole({"num_local_experts", "num_experts", "n_routed_experts",
                                       "moe_num_experts", "ffn_config.moe_num_experts"},
                                      "experts");
    if (experts.value_or(0) < 2 || !m_.layers || *m_.layers > kMostLayers) return need_ffn(true);
    ModelSizes::Experts mixture;
    mixture.experts = experts;
    mixture.experts_per_token =
        keys_.required({"num_experts_per_tok", "moe_k", "num_experts_per_token", "ffn_config.moe_top_k"},
                       "experts_per_token");
    mixture.expert_ffn =
        is({"llama4_text"})
            ? keys_.whole({"intermediate_size"}, "expert_ffn")
            : keys_.whole({"moe_intermediate_size", "expert_intermediate_size"}, "expert_ffn");
    if (!mixture.expert_ffn) mixture.expert_ffn = m_.ffn;
    mixture.shared_ffn = keys_.whole({"shared_expert_intermediate_size"}, "shared_ffn");
    const Whole shared = keys_.whole({"n_shared_experts", "num_shared_experts"}, "shared_ffn");
    if (!mixture.shared_ffn && shared && mixture.expert_ffn)
      mixture.shared_ffn = *shared * *mixture.expert_ffn;
    if (is({"llama4_text"})) mixture.shared_ffn = mixture.expert_ffn;
    if (!mixture.shared_ffn) mixture.shared_ffn = 0;
    mixture.most_groups = most_groups();
    mixture.router_bias = keys_.text("topk_method").value_or("") == "noaux_tc" ||
                          is({"gpt_oss", "deepseek_v3", "glm4_moe", "minimax_m2"});
    model_.has_experts = read_expert_layers(keys_, *m_.layers, mixture);
    const bool everywhere = std::ranges::find(model_.has_experts, false) == model_.has_experts.end();
    need_ffn(!everywhere || !mixture.expert_ffn);
    if (!place_experts(model_.has_experts, mixture)) not_run("experts on layers of no period");
    m_.experts = mixture;
  }

  void need_ffn(bool some_layer_has_it) {
    if (!m_.ffn && some_layer_has_it && !each_layer_differs())
      model_.needs.push_back({"intermediate_size", "--set intermediate_size=N"});
  }

  // Groups of experts that a token may go to: configuration_deepseek_v3.py of transformers 4.57 has 4 of 8
  // where the file says nothing.
  Whole most_groups() {
    const bool v3 = is({"deepseek_v3"});
    const Whole groups = keys_.whole({"n_group"}, "groups"),
                most = keys_.whole({"topk_group"}, "most_groups");
    const std::int64_t of = groups.value_or(v3 ? 8 : 1), chosen = most.value_or(v3 ? 4 : 1);
    return chosen < of ? Whole(chosen) : std::nullopt;
  }

  void read_rest() {
    m_.prediction_layers = keys_.whole({"num_nextn_predict_layers"}, "prediction_layers");
    m_.biases = model_.attention_bias && (family_ == nullptr || family_->mlp_bias || is({"gpt_oss"}));
    m_.rms_norm = family_ == nullptr || family_->norm == ModelFamily::Norm::kRms;
    m_.post_norms = family_ != nullptr && family_->norms == 4;
    model_.mlp_bias = keys_.flag("mlp_bias", family_ != nullptr && family_->mlp_bias);
    if (is({"falcon"})) model_.mlp_bias = model_.attention_bias;
    for (const char* name : {"torch_dtype", "dtype"})
      for (const std::string& at : {std::string("text_config.") + name, std::string(name)})
        if (const auto type = s_.text(at); type && model_.dtype.empty()) model_.dtype = *type;
    for (const char* at :
         {"quantization_config.quant_method", "text_config.quantization_config.quant_method"})
      if (const auto method = s_.text(at)) model_.quantization = *method;
  }

  void check() {
    if (m_.heads && m_.kv_heads && *m_.kv_heads > 0 && *m_.heads % *m_.kv_heads != 0)
      keys_.refuse("num_key_value_heads",
                   std::to_string(*m_.heads) + " heads are not a multiple of " +
                       std::to_string(*m_.kv_heads) + " key heads",
                   "");
    if (m_.experts && m_.experts->experts_per_token && *m_.experts->experts_per_token > *m_.experts->experts)
      keys_.refuse("num_experts_per_tok",
                   std::to_string(*m_.experts->experts_per_token) + " experts per token of " +
                       std::to_string(*m_.experts->experts),
                   "");
    if (m_.layers && *m_.layers > kMostLayers)
      keys_.refuse("num_hidden_layers", "more layers than any model has", "");
  }

  // By what runs beside what.
  int norms() {
    if (is({"stablelm"})) return keys_.flag("use_parallel_residual", false) ? 1 : 2;
    if (!is({"falcon"})) return family_->norms;
    const bool own = keys_.flag("new_decoder_architecture", false) &&
                     keys_.whole({"num_ln_in_parallel_attn"}, "norms").value_or(2) == 2;
    return own || !keys_.flag("parallel_attn", true) ? 2 : 1;
  }

  // Embeddings narrower than the model are not counted.
  bool narrow_embedding() {
    const Whole width = keys_.whole({"word_embed_proj_dim"}, "embedding");
    return width && width != m_.d_model;
  }

  void count_parameters() {
    const bool narrow = narrow_embedding();
    if (!model_.needs.empty() || family_ == nullptr || narrow || (!m_.ffn && !m_.experts)) return;
    const auto counted =
        parameter_count({m_, *family_, norms(), model_.attention_bias, model_.mlp_bias, model_.has_experts});
    if (!counted) return;
    model_.parameters = counted->all;
    model_.active = counted->of_a_token;
  }

  static constexpr std::int64_t kMostLayers = 10'000;

  Configuration& s_;
  const Stated& stated_;
  HuggingFaceModel model_;
  ModelSizes& m_ = model_.sizes;
  ModelKeys keys_;
  const ModelFamily* family_ = nullptr;
};

std::optional<Imported> imported_hugging_face(const std::string& file, Configuration& settings,
                                              const Stated& stated, std::vector<Problem>& problems) {
  std::vector<Needed> needs_of_step;
  const HuggingFaceModel model = HuggingFaceReader(settings, stated).read(needs_of_step);
  if (settings.add_problems(problems)) return std::nullopt;
  Imported imported = begun_import(hugging_face_figures(model), hugging_face_text(file, model), model.needs,
                                   settings.account("keys", why_not_used_by_hugging_face));
  need_cluster(stated, imported.needs_to_run);
  if (stated.stack.empty() && generic_stack(stated).name.empty())
    imported.needs_to_run.push_back({"stack", "--stack"});
  if (!stated.chips) imported.needs_to_run.push_back({"chips", "--chips"});
  imported.needs_to_run.insert(imported.needs_to_run.end(), needs_of_step.begin(), needs_of_step.end());
  if (stated.model.empty())
    imported.needs_to_run.insert(imported.needs_to_run.end(), model.shapes.begin(), model.shapes.end());
  if (model.needs.empty() && imported.needs_to_run.empty())
    imported.scenario = hugging_face_scenario(file, model, stated);
  return imported;
}

}  // namespace

bool is_hugging_face(std::string_view text) {
  if (!text.substr(std::min(text.find_first_not_of(" \t\r\n"), text.size())).starts_with("{")) return false;
  const auto has = [&](const char* word) { return text.find(word) != std::string_view::npos; };
  return (has("\"model_type\"") || has("\"architectures\"")) &&
         (has("\"hidden_size\"") || has("\"text_config\"") || has("\"n_embd\"") || has("\"n_embed\"") ||
          has("\"d_model\""));
}

std::optional<Imported> import_hugging_face(const std::vector<InputText>& files, const Stated& stated,
                                            std::vector<Problem>& problems) {
  const InputText& file = files.front();
  auto settings = read_json_settings(file.name, file.text, problems);
  if (!settings) return std::nullopt;
  settings->set_stated(stated);
  return imported_hugging_face(file.name, *settings, stated, problems);
}

}  // namespace podsim
