// config.json: sizes, and the count of parameters that its classes make of them.
#include <algorithm>
#include <set>
#include <utility>

#include "ingest/launchers/known_model.h"
#include "ingest/launchers/launchers.h"
#include "ingest/launchers/model_families.h"
#include "ingest/launchers/parameter_count.h"
#include "ingest/launchers/reasons.h"
#include "ingest/launchers/scenario_text.h"
#include "ingest/launchers/settings.h"
#include "ingest/launchers/step_sizes.h"
#include "report/text/align.h"
#include "report/text/text.h"

namespace podsim {
namespace {

using Whole = std::optional<std::int64_t>;

class HuggingFace {
 public:
  HuggingFace(const std::string& file, Configuration& settings, const Stated& stated)
      : file_(file), s_(settings), stated_(stated) {}

  std::optional<Imported> import(std::vector<Problem>& problems) {
    read_type();
    read_sizes();
    read_attention();
    read_experts();
    read_rest();
    std::vector<Needed> needs_of_step;
    step_ = read_step_sizes(s_, stated_, positions_, needs_of_step);
    s_.refuse_misspelt(why_not_used_by_hugging_face);
    if (s_.problems().empty()) check();
    if (!s_.problems().empty()) {
      problems.insert(problems.end(), s_.problems().begin(), s_.problems().end());
      return std::nullopt;
    }
    count_parameters();
    if (needs_.empty()) catalogue_ = name_in_catalogue(m_);
    Imported imported;
    imported.needs = needs_;
    imported.figures = figures();
    Account account = s_.account("keys", why_not_used_by_hugging_face);
    imported.accounts = {account};
    imported.figures.push_back(account_figure(account));
    imported.text = text() + needs_text(needs_) + account_text(account);
    need_cluster(stated_, true, imported.needs_to_run);
    if (!stated_.chips) imported.needs_to_run.push_back({"chips", "--chips"});
    imported.needs_to_run.insert(imported.needs_to_run.end(), needs_of_step.begin(), needs_of_step.end());
    if (const std::string other = other_layers(s_); !other.empty())
      imported.needs_to_run.push_back(
          {"a model without " + other + ", which podsim does not run", "--model"});
    if (needs_.empty() && imported.needs_to_run.empty()) imported.scenario = scenario();
    return imported;
  }

 private:
  // A key of the language model, which other models wrap.
  std::string key(const std::string& name) const {
    return s_.has("text_config." + name) ? "text_config." + name : name;
  }

  // By any of its names; none is more than a model has.
  Whole whole(std::initializer_list<const char*> names, const char* field) {
    Whole found;
    for (const char* name : names) {
      const std::string at = key(name);
      const Whole number = s_.integer(at);
      if (!number) continue;
      if (*number < 0 || *number > 1'000'000'000) {
        s_.refuse(at, at + " is " + std::to_string(*number), "expected a size");
        continue;
      }
      if (found) continue;
      found = number;
      m_.from[field] = at + ", " + s_.place(at);
    }
    return found;
  }

  Whole required(std::initializer_list<const char*> names, const char* field,
                 Whole otherwise = std::nullopt) {
    Whole number = whole(names, field);
    if (number && *number == 0) s_.refuse(key(*names.begin()), std::string(*names.begin()) + " is 0");
    if (!number) number = otherwise;
    if (!number) needs_.push_back({*names.begin(), "--set " + std::string(*names.begin()) + "=N"});
    return number;
  }

  bool flag(const std::string& name, bool otherwise) { return s_.boolean(key(name)).value_or(otherwise); }

  void read_type() {
    const std::string outer = s_.text("model_type").value_or("");
    const bool nested = std::any_of(s_.all().begin(), s_.all().end(), [](const Setting& setting) {
      return setting.name.starts_with("text_config.");
    });
    type_ = s_.text("text_config.model_type").value_or(outer);
    if (nested) outer_type_ = outer;
    family_ = model_family(type_);
    if (family_ == nullptr) s_.needs.clear();
  }

  void read_sizes() {
    // The classes of Gemma 3 leave out what is their default.
    const bool gemma3 = type_ == "gemma3_text";
    const auto of_gemma3 = [&](std::int64_t number) { return gemma3 ? Whole(number) : std::nullopt; };
    const bool each_differs = s_.has(key("block_configs"));
    m_.layers = required({"num_hidden_layers", "n_layer", "n_layers", "num_layers"}, "layers");
    m_.d_model = required({"hidden_size", "n_embd", "d_model"}, "d_model");
    m_.heads = required({"num_attention_heads", "n_head", "n_heads", "num_heads"}, "heads", of_gemma3(8));
    m_.kv_heads = whole({"num_key_value_heads", "num_kv_heads", "attn_config.kv_n_heads"}, "kv_heads");
    if (type_ == "falcon" && !flag("new_decoder_architecture", false))
      m_.kv_heads = flag("multi_query", true) ? Whole(1) : m_.heads;
    if (!m_.kv_heads && !each_differs) m_.kv_heads = gemma3 ? Whole(4) : m_.heads;
    m_.head_dim = whole({"head_dim"}, "head_dim");
    if (!m_.head_dim) m_.head_dim = of_gemma3(256);
    if (!m_.head_dim && m_.d_model && m_.heads.value_or(0) > 0) m_.head_dim = *m_.d_model / *m_.heads;
    m_.ffn = type_ == "llama4_text" ? whole({"intermediate_size_mlp", "intermediate_size"}, "ffn")
                                    : whole({"intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size",
                                             "ffn_config.ffn_hidden_size"},
                                            "ffn");
    static const std::set<std::string> kFourTimes = {"gpt2", "gpt_neox", "gpt_neo",
                                                     "gptj", "falcon",   "bloom"};
    if (!m_.ffn && m_.d_model && kFourTimes.count(type_) != 0) m_.ffn = 4 * *m_.d_model;
    const bool experts_alone = s_.has(key("moe_intermediate_size")) && !s_.has(key("first_k_dense_replace"));
    if (!m_.ffn && !each_differs && !experts_alone)
      needs_.push_back({"intermediate_size", "--set intermediate_size=N"});
    m_.vocabulary = required({"vocab_size"}, "vocabulary", of_gemma3(262'208));
    positions_ = whole({"max_position_embeddings", "n_positions", "max_seq_len"}, "positions");
    if (family_ != nullptr && family_->learned_positions >= 0 && positions_)
      m_.learned_positions = *positions_ + family_->learned_positions;
    const std::string act = s_.text(key("hidden_act")).value_or("silu");
    for (const char* name : {"hidden_activation", "activation_function"}) s_.use(key(name));
    m_.gated_ffn =
        family_ != nullptr ? family_->gated : act == "silu" || act == "gelu_pytorch_tanh" || act == "swiglu";
    m_.tied_embedding = flag("tie_word_embeddings", family_ != nullptr && family_->tied);
    if (s_.has("tie_word_embeddings") && s_.has("text_config.vocab_size") &&
        !s_.has("text_config.tie_word_embeddings"))
      m_.tied_embedding = s_.is_true("tie_word_embeddings");
    s_.use("tie_word_embeddings");  // the inner one is of the language model
  }

  void read_attention() {
    attention_bias_ = flag("attention_bias", family_ != nullptr && family_->attention_bias);
    if (type_ == "starcoder2" || type_ == "ernie4_5")
      attention_bias_ = flag("use_bias", type_ == "starcoder2");
    if (type_ == "internlm2") attention_bias_ = flag("bias", false);
    if (type_ == "stablelm") attention_bias_ = flag("use_qkv_bias", false);
    if (type_ == "qwen2_moe") attention_bias_ = flag("qkv_bias", true);
    if (type_ == "falcon") attention_bias_ = flag("bias", false);
    m_.qk_norm = family_ != nullptr && family_->query_norm != ModelFamily::QueryNorm::kNone &&
                 family_->query_norm != ModelFamily::QueryNorm::kWholeIfAsked;
    m_.qk_norm = flag("use_qk_norm", m_.qk_norm) || flag("qk_layernorm", false);
    const bool off = !flag("use_sliding_window", true);
    const Whole window = whole({"sliding_window"}, "attention_window");
    if (!off) m_.attention_window = window;
    for (const std::string& type : s_.list(key("layer_types"))) layers_of_[type] += 1;
    const Whole pattern = whole({"sliding_window_pattern", "_sliding_window_pattern"}, "full_every");
    if (type_ == "gemma3_text" && layers_of_.empty()) m_.full_every = pattern.value_or(6);
    if (type_ == "gemma2" && layers_of_.empty()) m_.full_every = 2;
    if (layers_of_.count("full_attention") != 0 && layers_of_.size() > 1 && m_.layers)
      m_.full_every = *m_.layers / layers_of_["full_attention"];
    if (!m_.attention_window) m_.full_every.reset();
    m_.attention_sinks = type_ == "gpt_oss";
    const Whole kv_rank = whole({"kv_lora_rank"}, "kv_rank");
    if (!kv_rank) return;
    ModelSizes::Latent latent;
    latent.kv_rank = kv_rank;
    latent.query_rank = whole({"q_lora_rank"}, "query_rank");
    latent.plain_dim = whole({"qk_nope_head_dim"}, "plain_dim");
    latent.rotary_dim = whole({"qk_rope_head_dim"}, "rotary_dim");
    latent.value_dim = whole({"v_head_dim"}, "value_dim");
    for (const auto& [number, name] :
         {std::pair(latent.plain_dim, "qk_nope_head_dim"), std::pair(latent.rotary_dim, "qk_rope_head_dim"),
          std::pair(latent.value_dim, "v_head_dim")})
      if (!number) needs_.push_back({name, std::string("--set ") + name + "=N"});
    m_.latent = latent;
    m_.head_dim.reset();
  }

  void read_experts() {
    const Whole experts = whole({"num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts",
                                 "ffn_config.moe_num_experts"},
                                "experts");
    if (!experts || *experts < 2) return;
    ModelSizes::Experts mixture;
    mixture.experts = experts;
    mixture.experts_per_token =
        required({"num_experts_per_tok", "moe_k", "num_experts_per_token", "ffn_config.moe_top_k"},
                 "experts_per_token");
    mixture.expert_ffn = type_ == "llama4_text"
                             ? whole({"intermediate_size"}, "expert_ffn")
                             : whole({"moe_intermediate_size", "expert_intermediate_size"}, "expert_ffn");
    if (!mixture.expert_ffn) mixture.expert_ffn = m_.ffn;
    mixture.shared_ffn = whole({"shared_expert_intermediate_size"}, "shared_ffn");
    const Whole shared = whole({"n_shared_experts", "num_shared_experts"}, "shared_ffn");
    if (!mixture.shared_ffn && shared && mixture.expert_ffn)
      mixture.shared_ffn = *shared * *mixture.expert_ffn;
    if (type_ == "llama4_text") mixture.shared_ffn = mixture.expert_ffn;
    if (!mixture.shared_ffn) mixture.shared_ffn = 0;
    mixture.dense_layers = whole({"first_k_dense_replace"}, "dense_layers").value_or(0);
    mixture.every = std::max<std::int64_t>(
        1,
        whole({"decoder_sparse_step", "interleave_moe_layer_step", "moe_layer_freq"}, "every").value_or(1));
    mixture.router_bias = type_ == "gpt_oss";
    for (const std::string& layer : s_.list(key("mlp_only_layers"))) dense_.insert(layer);
    s_.use(key("moe_layers"));
    m_.experts = mixture;
  }

  void read_rest() {
    m_.prediction_layers = whole({"num_nextn_predict_layers"}, "prediction_layers");
    m_.biases = attention_bias_ && (family_ == nullptr || family_->mlp_bias || type_ == "gpt_oss");
    m_.rms_norm = family_ == nullptr || family_->norm == ModelFamily::Norm::kRms;
    m_.post_norms = family_ != nullptr && family_->norms == 4;
    mlp_bias_ = flag("mlp_bias", family_ != nullptr && family_->mlp_bias);
    if (type_ == "falcon") mlp_bias_ = attention_bias_;
    for (const char* name : {"torch_dtype", "dtype"})
      for (const std::string& at : {std::string("text_config.") + name, std::string(name)})
        if (const auto type = s_.text(at); type && dtype_.empty()) dtype_ = *type;
    for (const char* at :
         {"quantization_config.quant_method", "text_config.quantization_config.quant_method"})
      if (const auto method = s_.text(at)) quantization_ = *method;
    corrects_router_ = s_.text(key("topk_method")).value_or("") == "noaux_tc";
  }

  void check() {
    if (m_.heads && m_.kv_heads && *m_.kv_heads > 0 && *m_.heads % *m_.kv_heads != 0)
      s_.refuse(key("num_key_value_heads"), std::to_string(*m_.heads) + " heads are not a multiple of " +
                                                std::to_string(*m_.kv_heads) + " key heads");
    if (m_.experts && m_.experts->experts_per_token && *m_.experts->experts_per_token > *m_.experts->experts)
      s_.refuse(key("num_experts_per_tok"), std::to_string(*m_.experts->experts_per_token) +
                                                " experts per token of " +
                                                std::to_string(*m_.experts->experts));
    if (m_.layers && *m_.layers > 10'000)
      s_.refuse(key("num_hidden_layers"), "more layers than any model has");
  }

  bool counts_layers_from_zero() const { return s_.has(key("moe_layer_freq")); }

  // Of Falcon by what runs beside what.
  int norms() {
    if (type_ != "falcon") return family_->norms;
    return flag("new_decoder_architecture", false) || !flag("parallel_attn", true) ? 2 : 1;
  }

  // Embeddings narrower than the model are not counted.
  bool narrow_embedding() {
    const Whole width = whole({"word_embed_proj_dim"}, "embedding");
    return width && width != m_.d_model;
  }

  void count_parameters() {
    const bool narrow = narrow_embedding();
    if (!needs_.empty() || family_ == nullptr || narrow || (!m_.ffn && !m_.experts)) return;
    const auto counted = parameter_count({m_, *family_, norms(), attention_bias_, mlp_bias_,
                                          corrects_router_ || type_ == "glm4_moe" || type_ == "minimax_m2",
                                          counts_layers_from_zero(), dense_});
    if (!counted) return;
    parameters_ = counted->all;
    active_ = counted->of_a_token;
  }

  Figure experts_figure() const {
    if (!m_.experts) return {"experts", FigureValue()};
    const ModelSizes::Experts& experts = *m_.experts;
    return Figure::group("experts", {{"experts", known(experts.experts)},
                                     {"experts_per_token", known(experts.experts_per_token)},
                                     {"expert_ffn", known(experts.expert_ffn)},
                                     {"shared_ffn", known(experts.shared_ffn)},
                                     {"dense_layers", known(experts.dense_layers)},
                                     {"every", known(experts.every)}});
  }

  Figure latent_figure() const {
    if (!m_.latent) return {"latent_attention", FigureValue()};
    return Figure::group("latent_attention", {{"query_rank", known(m_.latent->query_rank)},
                                              {"kv_rank", known(m_.latent->kv_rank)},
                                              {"plain_dim", known(m_.latent->plain_dim)},
                                              {"rotary_dim", known(m_.latent->rotary_dim)},
                                              {"value_dim", known(m_.latent->value_dim)}});
  }

  std::vector<Figure> figures() const {
    const auto said = [](const std::string& text) {
      return text.empty() ? FigureValue() : FigureValue(text);
    };
    std::vector<std::string> types;
    for (const auto& [type, count] : layers_of_) types.push_back(type);
    Figure model = Figure::group("model", {{"layers", known(m_.layers)},
                                           {"d_model", known(m_.d_model)},
                                           {"heads", known(m_.heads)},
                                           {"kv_heads", known(m_.kv_heads)},
                                           {"head_dim", known(m_.head_dim)},
                                           {"ffn", known(m_.ffn)},
                                           {"gated_ffn", m_.gated_ffn},
                                           {"vocabulary", known(m_.vocabulary)},
                                           {"tied_embedding", m_.tied_embedding},
                                           {"qk_norm", m_.qk_norm},
                                           {"attention_biases", attention_bias_},
                                           {"attention_window", known(m_.attention_window)},
                                           types.empty() ? Figure("layer_types", FigureValue())
                                                         : Figure::list("layer_types", values_of(types)),
                                           experts_figure(),
                                           latent_figure(),
                                           {"prediction_layers", known(m_.prediction_layers)}});
    return {{"format", std::string("hf")},           {"model_type", said(type_)},
            {"outer_model_type", said(outer_type_)}, needs_figure(needs_),
            {"catalogue", said(catalogue_)},         std::move(model),
            {"parameters", known(parameters_)},      {"active_parameters", known(active_)},
            {"max_positions", known(positions_)},    {"dtype", said(dtype_)},
            {"quantization", said(quantization_)}};
  }

  std::string text() const {
    const auto said = [](const Whole& number) { return number ? count_text(*number) : std::string("?"); };
    std::vector<std::vector<std::string>> rows = {
        {"layers", said(m_.layers)},
        {"d_model", said(m_.d_model)},
        {"heads",
         said(m_.heads) + (m_.latent ? ", latent attention"
                                     : ", " + said(m_.kv_heads) + " of keys, of " + said(m_.head_dim))},
        {"ffn", said(m_.ffn) + (m_.gated_ffn ? ", gated" : "")},
        {"vocabulary", said(m_.vocabulary) + (m_.tied_embedding ? ", tied" : "")}};
    if (m_.experts)
      rows.push_back({"experts", said(m_.experts->experts) + " of " + said(m_.experts->expert_ffn) + ", " +
                                     said(m_.experts->experts_per_token) + " per token"});
    if (m_.attention_window) rows.push_back({"attention window", said(m_.attention_window)});
    rows.push_back({"parameters", family_ == nullptr
                                      ? "not counted: model_type \"" + type_ + "\" is not known"
                                      : said(parameters_) + ", " + said(active_) + " of a token"});
    if (!catalogue_.empty()) rows.push_back({"in the catalogue", catalogue_});
    return file_ + ": Hugging Face configuration, " + (type_.empty() ? "no model_type" : type_) + "\n\n" +
           align(rows) + "\n";
  }

  std::string scenario() {
    ScenarioText out;
    out.comment("From " + file_ + ", by podsim import.");
    add_cluster(out, stated_, *stated_.chips, "--chips", stated_.slices.value_or(1), "--slices");
    out.open("job");
    if (!catalogue_.empty())
      out.line("model: " + in_quotes(catalogue_), "has the sizes of " + file_);
    else
      add_model(out, type_.empty() ? "imported" : type_, m_, file_);
    out.line("stack: " + in_quotes(stated_.stack), stated_.stack_from);
    LauncherDegrees degrees;
    degrees.fsdp = *stated_.chips;
    std::string problem;
    const std::string assumed = "assumed: fully sharded over all chips, which may not be the fastest layout";
    add_mesh(out, degrees, {{"fsdp", assumed}, {"state", assumed}}, problem);
    out.line("global_batch_sequences: " + std::to_string(*step_.batch_sequences), step_.batch_from);
    out.line("sequence_tokens: " + std::to_string(*step_.sequence_tokens), step_.sequence_from);
    out.line("precision: bf16", "assumed");
    out.close();
    return out.text();
  }

  const std::string& file_;
  Configuration& s_;
  const Stated& stated_;
  ModelSizes m_;
  const ModelFamily* family_ = nullptr;
  std::vector<Needed> needs_;
  std::map<std::string, std::int64_t> layers_of_;  // [type]
  std::set<std::string> dense_;                    // layers without experts
  Whole positions_, parameters_, active_;
  bool attention_bias_ = false, mlp_bias_ = false, corrects_router_ = false;
  std::string type_, outer_type_, dtype_, quantization_, catalogue_;
  StepSizes step_;
};

}  // namespace

bool is_hugging_face(std::string_view text) {
  if (!text.substr(std::min(text.find_first_not_of(" \t\r\n"), text.size())).starts_with("{")) return false;
  const auto has = [&](const char* word) { return text.find(word) != std::string_view::npos; };
  return (has("\"model_type\"") || has("\"architectures\"")) &&
         (has("\"hidden_size\"") || has("\"text_config\"") || has("\"n_embd\"") || has("\"d_model\""));
}

std::optional<Imported> import_hugging_face(const std::vector<InputText>& files, const Stated& stated,
                                            std::vector<Problem>& problems) {
  const InputText& file = files.front();
  auto settings = read_json_settings(file.name, file.text, problems);
  if (!settings) return std::nullopt;
  settings->set_stated(stated);
  return HuggingFace(file.name, *settings, stated).import(problems);
}

}  // namespace podsim
