// MaxText: pyconfig.py of 2025 says how sizes scale and axes are filled.
#include "ingest/launchers/maxtext_plan.h"

#include <algorithm>
#include <utility>

#include "proto/catalog/catalog.h"
#include "report/text/text.h"

namespace podsim {
namespace {

using Whole = std::optional<std::int64_t>;

class MaxTextReader {
 public:
  MaxTextReader(MaxTextSources& sources, const Stated& stated)
      : s_(sources.all), sources_(sources), stated_(stated) {}

  MaxTextPlan read() {
    read_model();
    read_layout();
    read_batch();
    read_policies();
    for (const char* name : {"model_name", "quantization", "remat_policy"})
      plan_.from[name] = std::string(name) + ", " + s_.place(name);
    return std::move(plan_);
  }

 private:
  Whole whole(const std::string& name, const char* field = nullptr) {
    if (field != nullptr && s_.has(name))
      plan_.from[field] = plan_.model.from[field] = name + ", " + s_.place(name);
    return s_.integer(name);
  }

  Whole size(const std::string& name, const char* field) {
    const Whole number = whole(name, field);
    if (number && (*number < 1 || *number > 100'000'000)) {
      s_.refuse(name, name + " is " + std::to_string(*number), "expected at least 1");
      return std::nullopt;
    }
    return number;
  }

  void read_model() {
    plan_.name = s_.text("model_name").value_or("default");
    if (plan_.name != "default" && !sources_.model_found) return from_catalogue();
    const std::int64_t scale = size("global_parameter_scale", "scale").value_or(1);
    std::int64_t power = 0;
    while ((std::int64_t{1} << power) < scale) ++power;
    if ((std::int64_t{1} << power) != scale)
      s_.refuse("global_parameter_scale", "global_parameter_scale is " + std::to_string(scale),
                "expected a power of two");
    const std::int64_t whole_steps = power / 3, rest = power % 3;
    const auto scaled = [](const Whole& number, std::int64_t by) {
      return number ? Whole(*number << by) : number;
    };
    const std::int64_t heads = whole_steps + (rest > 0 ? 1 : 0), embed = whole_steps + (rest > 1 ? 1 : 0);
    plan_.model.layers = scaled(size("base_num_decoder_layers", "layers"), whole_steps);
    if (s_.text("decoder_block").value_or("") == "gemma2") plan_.model.layers = scaled(plan_.model.layers, 1);
    plan_.model.d_model = scaled(size("base_emb_dim", "d_model"), embed);
    plan_.model.heads = scaled(size("base_num_query_heads", "heads"), heads);
    plan_.model.kv_heads = scaled(size("base_num_kv_heads", "kv_heads"), heads);
    plan_.model.ffn = scaled(size("base_mlp_dim", "ffn"), heads);
    plan_.model.head_dim = size("head_dim", "head_dim");
    plan_.model.vocabulary = size("vocab_size", "vocabulary");
    const std::vector<std::string> activations = s_.list("mlp_activations");
    plan_.model.gated_ffn = activations.size() > 1 ||
                            (!activations.empty() && activations.front().find(',') != std::string::npos);
    plan_.model.tied_embedding = s_.is_true("logits_via_embedding");
    plan_.model.qk_norm = s_.is_true("use_qk_norm");
    plan_.model.post_norms = s_.is_true("use_post_attn_norm");
    plan_.model.rms_norm = true;
    if (s_.text("attention_type").value_or("global") == "mla") read_latent();
    if (const Whole experts = size("num_experts", "experts"); experts && *experts > 1) {
      ModelSizes::Experts mixture;
      mixture.experts = experts;
      mixture.experts_per_token = size("num_experts_per_tok", "experts_per_token");
      const Whole width = whole("base_moe_mlp_dim", "expert_ffn");
      mixture.expert_ffn = width && *width > 0 ? scaled(width, heads) : plan_.model.ffn;
      mixture.capacity_factor = capacity_factor();
      plan_.shared = whole("shared_experts", "shared_ffn").value_or(0);
      if (mixture.expert_ffn) mixture.shared_ffn = plan_.shared * *mixture.expert_ffn;
      mixture.dense_layers = whole("first_num_dense_layers", "dense_layers").value_or(0);
      plan_.model.experts = mixture;
    } else {
      for (const char* name : {"num_experts_per_tok", "capacity_factor", "base_moe_mlp_dim", "shared_experts",
                               "first_num_dense_layers"})
        s_.use(name);
    }
    s_.use("decoder_block");
  }

  // -1 is without a limit.
  std::optional<double> capacity_factor() {
    const auto capacity = s_.number("capacity_factor");
    return capacity && *capacity > 0 ? capacity : std::nullopt;
  }

  void read_latent() {
    ModelSizes::Latent latent;
    latent.query_rank = whole("q_lora_rank", "query_rank").value_or(0);
    latent.kv_rank = whole("kv_lora_rank", "kv_rank").value_or(512);
    latent.plain_dim = whole("qk_nope_head_dim", "plain_dim").value_or(128);
    latent.rotary_dim = whole("qk_rope_head_dim", "rotary_dim").value_or(64);
    latent.value_dim = whole("v_head_dim", "value_dim").value_or(128);
    plan_.model.latent = latent;
  }

  // The model's own file is not there: its sizes may be known here.
  void from_catalogue() {
    static const Catalog catalog;
    const std::string wanted = stated_.model.empty() ? plan_.name : stated_.model;
    const auto entry = catalog.canonical(Catalog::Section::kModels, wanted);
    const auto model = entry ? catalog.model(*entry) : std::nullopt;
    if (!model) {
      plan_.needs.push_back({"sizes of " + plan_.name, "the file models/" + plan_.name + ".yml, or --model"});
      return;
    }
    plan_.catalogue = *entry;
    plan_.model.layers = model->layers;
    plan_.model.d_model = model->d_model;
    plan_.model.heads = model->heads;
    plan_.model.kv_heads = model->kv_heads;
    plan_.model.head_dim = model->head_dim;
    plan_.model.ffn = model->ffn;
    plan_.model.gated_ffn = model->gated_ffn;
    plan_.model.vocabulary = model->vocabulary;
    plan_.model.tied_embedding = model->tied_embedding;
    if (!model->experts) return;
    ModelSizes::Experts mixture;
    mixture.experts = model->experts->experts;
    mixture.experts_per_token = model->experts->experts_per_token;
    mixture.expert_ffn = model->experts->expert_ffn;
    mixture.shared_ffn = model->experts->shared_ffn;
    mixture.dense_layers = model->experts->dense_layers;
    mixture.capacity_factor = capacity_factor();
    plan_.shared = mixture.expert_ffn.value_or(0) > 0 ? *mixture.shared_ffn / *mixture.expert_ffn : 0;
    plan_.model.experts = mixture;
  }

  // Axes of one level that are not 1, in the order of the file.
  std::vector<std::pair<std::string, std::int64_t>> axes(const std::string& level) {
    std::vector<std::pair<std::string, std::int64_t>> found;
    std::vector<std::string> names;
    for (const Setting& setting : s_.all())
      if (setting.name.starts_with(level) && setting.name.ends_with("_parallelism"))
        names.push_back(setting.name);
    int open = 0;
    for (const std::string& name : names) {
      const std::string axis = name.substr(level.size(), name.size() - level.size() - 12);
      const Whole number = whole(name, axis.c_str());
      if (!number) continue;
      if (*number < 1 && *number != -1)
        s_.refuse(name, name + " is " + std::to_string(*number),
                  "expected -1, which is the rest, or at least 1");
      else if (*number > 1'000'000)
        s_.refuse(name, name + " is larger than any machine");
      else if (*number == -1 && ++open > 1)
        s_.refuse(name, "two axes of " + level.substr(0, 3) + " are -1, the rest");
      else if (*number != 1)
        found.emplace_back(axis, *number);
    }
    return found;
  }

  // The axis that is the rest, if any, takes what the others leave of `devices`; false where that is no whole
  // number.
  static bool fill(std::vector<std::pair<std::string, std::int64_t>>& level, std::int64_t devices) {
    std::int64_t fixed = 1;
    std::pair<std::string, std::int64_t>* rest = nullptr;
    for (auto& axis : level)
      if (axis.second == -1)
        rest = &axis;
      else if (__builtin_mul_overflow(fixed, axis.second, &fixed))
        return false;
    if (rest == nullptr) return fixed == devices;
    if (devices % fixed != 0) return false;
    rest->second = devices / fixed;
    return true;
  }

  static std::int64_t product(const std::vector<std::pair<std::string, std::int64_t>>& level) {
    std::int64_t all = 1;
    for (const auto& [axis, number] : level)
      if (number > 1 && __builtin_mul_overflow(all, number, &all)) return 0;
    return all;
  }

  void read_layout() {
    plan_.ici = axes("ici_");
    plan_.dcn = axes("dcn_");
    plan_.slices = stated_.slices.value_or(product(plan_.dcn));
    if (plan_.slices < 1 || !fill(plan_.dcn, plan_.slices))
      return s_.refuse("dcn_data_parallelism", std::to_string(plan_.slices) +
                                                   " slices are not the product of the dcn axes, " +
                                                   std::to_string(product(plan_.dcn)));
    std::erase_if(plan_.dcn, [](const auto& axis) { return axis.second == 1; });
    const bool open =
        std::any_of(plan_.ici.begin(), plan_.ici.end(), [](const auto& axis) { return axis.second == -1; });
    const std::int64_t fixed = product(plan_.ici);
    if (fixed < 1 || fixed > 100'000'000)
      return s_.refuse("ici_fsdp_parallelism", "the mesh is larger than any machine");
    plan_.chips = stated_.chips;
    if (!plan_.chips && !open) {
      plan_.chips = fixed * plan_.slices;
      plan_.chips_from = "product of the axes";
    }
    if (!plan_.chips) return;
    if (*plan_.chips % plan_.slices != 0 || !fill(plan_.ici, *plan_.chips / plan_.slices))
      return s_.refuse("ici_fsdp_parallelism",
                       std::to_string(*plan_.chips) + " chips in " + std::to_string(plan_.slices) +
                           " slices are not " +
                           (open ? "a multiple of the other axes, " : "the product of the axes, ") +
                           std::to_string(fixed) + " in a slice");
    std::erase_if(plan_.ici, [](const auto& axis) { return axis.second == 1; });
  }

  void read_batch() {
    plan_.per_device = s_.number("per_device_batch_size").value_or(12);
    plan_.accumulation = size("gradient_accumulation_steps", "accumulation").value_or(1);
    plan_.sequence = size("max_target_length", "sequence").value_or(2048);
    if (plan_.per_device <= 0 || plan_.per_device > 1e6) {
      s_.refuse("per_device_batch_size", "per_device_batch_size is " + shortest(plan_.per_device),
                "expected more than 0");
      return;
    }
    if (!plan_.chips) return;
    const double batch =
        static_cast<double>(*plan_.chips) * plan_.per_device * static_cast<double>(plan_.accumulation);
    if (batch != static_cast<double>(static_cast<std::int64_t>(batch)) || batch < 1)
      s_.refuse("per_device_batch_size", "a global batch of " + shortest(batch) +
                                             " sequences is no whole number: chips x per_device_batch_size x "
                                             "gradient_accumulation_steps");
    else
      plan_.global = static_cast<std::int64_t>(batch);
  }

  static std::string short_type(const std::string& type) {
    return type == "float32" ? "fp32" : type == "bfloat16" ? "bf16" : type == "float16" ? "fp16" : type;
  }

  void read_policies() {
    plan_.quantization = s_.text("quantization").value_or("");
    plan_.precision =
        plan_.quantization.empty() ? short_type(s_.text("dtype").value_or("bfloat16")) : plan_.quantization;
    s_.use("dtype");
    plan_.weights = short_type(s_.text("weight_dtype").value_or("float32"));
    plan_.policy = s_.text("remat_policy").value_or("full");
    plan_.attention = s_.text("attention").value_or("autoselected");
    plan_.scan = s_.boolean("scan_layers").value_or(true);
    for (const char* name :
         {"global_parameter_scale", "compile_topology", "compile_topology_num_slices", "num_slices"})
      s_.use(name);
  }

  Configuration& s_;
  const MaxTextSources& sources_;
  const Stated& stated_;
  MaxTextPlan plan_;
};

}  // namespace

MaxTextPlan read_maxtext_plan(MaxTextSources& sources, const Stated& stated) {
  return MaxTextReader(sources, stated).read();
}

}  // namespace podsim
