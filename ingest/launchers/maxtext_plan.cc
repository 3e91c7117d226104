// MaxText: pyconfig.py of 2025 says how sizes scale and axes are filled.
#include "ingest/launchers/maxtext_plan.h"

#include <algorithm>
#include <utility>

#include "ingest/launchers/known_model.h"
#include "ingest/launchers/settings.h"
#include "proto/catalog/catalog.h"
#include "report/text/text.h"

namespace podsim {
namespace {

class MaxTextReader {
 public:
  MaxTextReader(MaxTextSources& sources, const Stated& stated)
      : s_(sources.all), sources_(sources), stated_(stated) {}

  MaxTextPlan read() {
    read_model();
    read_layout();
    read_batch();
    read_pipeline();
    read_policies();
    read_state();
    for (const char* name : {"model_name", "quantization", "remat_policy", "attention"})
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

  // Whether anything but the defaults of base.yml says it.
  bool stated(const std::string& name) const { return s_.has(name) && sources_.assumed.count(name) == 0; }

  // A size of the model: of one that the catalogue has where no setting states another.
  Whole base(const std::string& name, const char* field, const Whole& known) {
    return plan_.catalogue.empty() || stated(name) || !known ? size(name, field) : known;
  }

  bool base_flag(const std::string& name, bool known) {
    return plan_.catalogue.empty() || stated(name) ? s_.is_true(name) : known;
  }

  void read_model() {
    plan_.name = s_.text("model_name").value_or("default");
    if (plan_.name != "default" && !sources_.model_found && !take_from_catalogue()) return;
    ModelSizes& model = plan_.model;
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
    const bool pairs = s_.text("decoder_block").value_or("") == "gemma2" ||
                       (plan_.catalogue.starts_with("gemma2") && stated("base_num_decoder_layers"));
    model.layers = scaled(base("base_num_decoder_layers", "layers", model.layers), whole_steps + pairs);
    model.d_model = scaled(base("base_emb_dim", "d_model", model.d_model), embed);
    model.heads = scaled(base("base_num_query_heads", "heads", model.heads), heads);
    model.kv_heads = scaled(base("base_num_kv_heads", "kv_heads", model.kv_heads), heads);
    model.ffn = scaled(base("base_mlp_dim", "ffn", model.ffn), heads);
    model.head_dim = base("head_dim", "head_dim", model.head_dim);
    model.vocabulary = base("vocab_size", "vocabulary", model.vocabulary);
    if (plan_.catalogue.empty() || stated("mlp_activations")) read_activations();
    model.tied_embedding = base_flag("logits_via_embedding", model.tied_embedding);
    model.qk_norm = base_flag("use_qk_norm", model.qk_norm);
    model.post_norms = base_flag("use_post_attn_norm", model.post_norms);
    if (plan_.catalogue.empty()) model.rms_norm = true;
    read_attention();
    read_experts(heads);
    // What a configuration takes away no override does.
    if (plan_.known.experts && !model.experts) plan_.catalogue.clear();
  }

  void read_activations() {
    const std::vector<std::string> activations = s_.list("mlp_activations");
    plan_.model.gated_ffn = activations.size() > 1 ||
                            (!activations.empty() && activations.front().find(',') != std::string::npos);
    if (stated("mlp_activations"))
      plan_.model.from["gated_ffn"] = "mlp_activations, " + s_.place("mlp_activations");
  }

  void read_attention() {
    const std::string type = s_.text("attention_type").value_or("global");
    if (type == "mla" || plan_.model.latent) read_latent();
    if (type != "local_sliding") return;
    plan_.model.attention_window = size("sliding_window_size", "attention_window");
    if (plan_.model.full_every) plan_.model.full_every = 0;
  }

  void read_experts(std::int64_t scaled_by) {
    ModelSizes::Experts mixture = plan_.model.experts.value_or(ModelSizes::Experts{});
    const Whole width_before = mixture.expert_ffn;
    const std::int64_t shared_before =
        width_before.value_or(0) > 0 ? mixture.shared_ffn.value_or(0) / *width_before : 0;
    mixture.experts = base("num_experts", "experts", mixture.experts.value_or(1));
    plan_.model.experts.reset();
    s_.use("decoder_block");
    if (mixture.experts.value_or(1) == 1) {
      for (const char* name : {"sparse_matmul", "num_experts_per_tok", "capacity_factor", "base_moe_mlp_dim",
                               "shared_experts", "first_num_dense_layers"})
        s_.use(name);
      return;
    }
    mixture.experts_per_token = base("num_experts_per_tok", "experts_per_token", mixture.experts_per_token);
    if (mixture.experts_per_token.value_or(0) > *mixture.experts)
      s_.refuse("num_experts_per_tok", std::to_string(*mixture.experts_per_token) + " experts per token of " +
                                           std::to_string(*mixture.experts));
    if (plan_.catalogue.empty() || stated("base_moe_mlp_dim")) {
      const Whole width = whole("base_moe_mlp_dim", "expert_ffn");
      mixture.expert_ffn = width && *width > 0 ? Whole(*width << scaled_by) : plan_.model.ffn;
    } else if (!width_before || width_before == plan_.known.ffn) {
      mixture.expert_ffn = plan_.model.ffn;
    }
    mixture.capacity_factor = capacity_factor();
    if (!s_.boolean("sparse_matmul").value_or(true) && !mixture.capacity_factor)
      plan_.not_run.push_back(
          {"experts that compute their own tokens alone: without a capacity a dense product "
           "has every expert compute all of them",
           "--set sparse_matmul=true"});
    const bool counted = plan_.catalogue.empty() || stated("shared_experts");
    plan_.shared = counted ? whole("shared_experts", "shared_ffn").value_or(0) : shared_before;
    if (mixture.expert_ffn && (counted || mixture.expert_ffn != width_before))
      mixture.shared_ffn = plan_.shared * *mixture.expert_ffn;
    if (plan_.catalogue.empty() || stated("first_num_dense_layers"))
      mixture.dense_layers = whole("first_num_dense_layers", "dense_layers").value_or(0);
    plan_.model.experts = mixture;
  }

  // -1 is without a limit.
  std::optional<double> capacity_factor() {
    const auto capacity = s_.number("capacity_factor");
    if (stated("capacity_factor"))
      plan_.model.from["capacity_factor"] = "capacity_factor, " + s_.place("capacity_factor");
    return capacity && *capacity > 0 ? capacity : std::nullopt;
  }

  void read_latent() {
    const bool known = plan_.model.latent.has_value();
    ModelSizes::Latent latent = plan_.model.latent.value_or(ModelSizes::Latent{0, 512, 128, 64, 128});
    const auto read = [&](const char* name, const char* field, Whole& number) {
      if (!known || stated(name)) number = whole(name, field).value_or(*number);
    };
    read("q_lora_rank", "query_rank", latent.query_rank);
    read("kv_lora_rank", "kv_rank", latent.kv_rank);
    read("qk_nope_head_dim", "plain_dim", latent.plain_dim);
    read("qk_rope_head_dim", "rotary_dim", latent.rotary_dim);
    read("v_head_dim", "value_dim", latent.value_dim);
    plan_.model.latent = latent;
  }

  // The model's own file is not there: its sizes may be known here.
  bool take_from_catalogue() {
    static const Catalog catalog;
    const std::string wanted = stated_.model.empty() ? plan_.name : stated_.model;
    const auto entry = catalog.canonical(Catalog::Section::kModels, wanted);
    const auto model = entry ? catalog.model(*entry) : std::nullopt;
    if (!model) {
      plan_.needs.push_back({"sizes of " + plan_.name, "the file models/" + plan_.name + ".yml, or --model"});
      return false;
    }
    plan_.catalogue = *entry;
    plan_.known = plan_.model = sizes_of_model(*model);
    return true;
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

  // MaxText lets microbatches pass through a buffer that shifts from stage to stage, round by round where a
  // stage has several pieces (layers/pipeline.py).
  void read_pipeline() {
    plan_.stages = std::max<std::int64_t>(1, axes_product(plan_, {"pipeline"}));
    const Whole stated_microbatches = whole("num_pipeline_microbatches", "microbatches"),
                stated_layers = whole("num_layers_per_pipeline_stage", "chunks"),
                stated_repeats = whole("num_pipeline_repeats", "repeats");
    if (plan_.stages < 2) return;
    plan_.pipeline_microbatches = stated_microbatches.value_or(-1);
    if (plan_.pipeline_microbatches == -1) plan_.pipeline_microbatches = plan_.stages;
    const std::string stages = std::to_string(plan_.stages) + " stages";
    if (plan_.pipeline_microbatches < 1 || plan_.pipeline_microbatches % plan_.stages != 0)
      return s_.refuse("num_pipeline_microbatches",
                       "num_pipeline_microbatches is " + std::to_string(plan_.pipeline_microbatches),
                       "expected a multiple of the " + stages);
    const std::int64_t layers = plan_.model.layers.value_or(0), each = stated_layers.value_or(1);
    if (layers == 0) return;
    if (each < 1 || each > layers || layers % (plan_.stages * each) != 0)
      return s_.refuse("num_layers_per_pipeline_stage", std::to_string(layers) +
                                                            " layers are no multiple of " + stages +
                                                            " with " + std::to_string(each) + " layers each");
    plan_.chunks = layers / (plan_.stages * each);
    if (stated_repeats.value_or(-1) != -1 && *stated_repeats != plan_.chunks)
      return s_.refuse("num_pipeline_repeats", "num_pipeline_repeats is " + std::to_string(*stated_repeats),
                       "expected " + std::to_string(plan_.chunks) + ": " + std::to_string(layers) +
                           " layers over " + stages + " with " + std::to_string(each) + " layers each");
    read_microbatch();
  }

  void read_microbatch() {
    if (!plan_.global) return;
    const std::int64_t shards = axes_product(plan_, {"data", "diloco", "fsdp", "fsdp_transpose", "expert"});
    const std::int64_t parts = plan_.pipeline_microbatches * plan_.accumulation * shards;
    if (*plan_.global % parts != 0)
      return s_.refuse("num_pipeline_microbatches",
                       std::to_string(*plan_.global) + " sequences do not divide into " +
                           std::to_string(plan_.pipeline_microbatches * plan_.accumulation) +
                           " microbatches on " + std::to_string(shards) + " batch shards",
                       "expected whole sequences of each");
    plan_.micro = *plan_.global / parts;
  }

  // Adam keeps two moments, the first in mu_dtype and the second as the weights are. Weights of 32 bits are
  // kept beside those of 16 that the matmuls read; weights of 16 bits are the only ones.
  void read_state() {
    const std::string first = s_.text("mu_dtype").value_or("");
    const auto bytes = [&](const char* name, const std::string& type) -> std::int64_t {
      if (type == "fp32") return 4;
      if (type == "bf16" || type == "fp16") return 2;
      s_.refuse(name, std::string(name) + " is \"" + type + "\"", "expected float32, bfloat16 or float16");
      return 4;
    };
    const std::int64_t weight = bytes("weight_dtype", plan_.weights);
    const std::int64_t mean = first.empty() ? weight : bytes("mu_dtype", short_type(first));
    if (s_.text("opt_type").value_or("adamw").find("adam") == std::string::npos) return;
    plan_.state_bytes = (weight == 4 ? 4 : 0) + mean + weight;
    const char* name = !first.empty() && weight == 4 ? "mu_dtype" : "weight_dtype";
    plan_.from["state_bytes"] = std::string(name) + ", " + s_.place(name) + ": " +
                                (weight == 4 ? "weights of 4 bytes and moments of " : "moments of ") +
                                std::to_string(mean) + " and " + std::to_string(weight) + " bytes" +
                                (weight == 4 ? "" : ", no weights beside those of 16 bits");
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
    plan_.remat = read_maxtext_remat(s_);
    plan_.not_run.insert(plan_.not_run.end(), plan_.remat.not_run.begin(), plan_.remat.not_run.end());
    plan_.attention = s_.text("attention").value_or("autoselected");
    plan_.scan = s_.boolean("scan_layers").value_or(true);
    plan_.offload_optimizer = s_.is_true("optimizer_memory_host_offload");
    plan_.from["offload_optimizer"] =
        "optimizer_memory_host_offload, " + s_.place("optimizer_memory_host_offload");
    if (s_.is_true("parameter_memory_host_offload"))
      plan_.not_run.push_back({"weights on the chips: those on the host are not simulated",
                               "--set parameter_memory_host_offload=false"});
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

std::int64_t axes_product(const MaxTextPlan& plan, std::initializer_list<std::string_view> names) {
  std::int64_t product = 1;
  for (const MaxTextPlan::Axes& level : {plan.ici, plan.dcn})
    for (const auto& [name, number] : level)
      if (std::ranges::find(names, name) != names.end()) product *= number;
  return product;
}

MaxTextPlan read_maxtext_plan(MaxTextSources& sources, const Stated& stated) {
  return MaxTextReader(sources, stated).read();
}

}  // namespace podsim
