// Megatron-LM: arguments.py of 2025 says what is default and what contradicts what.
#include "ingest/launchers/read_megatron.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <utility>

#include "ingest/launchers/expert_layers.h"
#include "ingest/launchers/launched_ranks.h"
#include "ingest/launchers/layer_pattern.h"
#include "ingest/launchers/megatron_layers.h"
#include "ingest/launchers/megatron_optimizer.h"
#include "ingest/launchers/megatron_precision.h"
#include "ingest/launchers/megatron_stages.h"
#include "ingest/launchers/settings.h"

namespace podsim {
namespace {

class MegatronReader {
 public:
  MegatronReader(Configuration& settings, const Stated& stated) : s_(settings), stated_(stated) {}

  MegatronPlan read() {
    read_model();
    read_layout();
    read_batch();
    read_policies();
    check();
    s_.use("max-position-embeddings");
    return std::move(plan_);
  }

 private:
  Whole whole(const std::string& name, const char* field = nullptr) {
    if (field != nullptr && s_.has(name))
      plan_.from[field] = plan_.model.from[field] = "--" + name + ", " + s_.place(name);
    const Whole number = s_.integer(name);
    if (number && *number < 0) s_.refuse(name, name + " is negative");
    return number;
  }

  // A size of the layout, at least 1.
  std::int64_t degree(const std::string& name, const char* axis) {
    const Whole number = whole(name, axis);
    if (number && *number == 0) s_.refuse(name, name + " is 0", "expected at least 1");
    return number ? std::clamp<std::int64_t>(*number, 1, 1'000'000) : 1;
  }

  bool flag(const std::string& name, const char* field = nullptr) {
    if (field != nullptr && s_.has(name))
      plan_.from[field] = plan_.model.from[field] = "--" + name + ", " + s_.place(name);
    return s_.is_true(name);
  }

  void read_model() {
    plan_.model.layers = whole("num-layers", "layers");
    plan_.model.d_model = whole("hidden-size", "d_model");
    plan_.model.heads = whole("num-attention-heads", "heads");
    const Whole groups = whole("num-query-groups", "kv_heads");
    plan_.model.kv_heads = flag("group-query-attention") ? groups.value_or(1) : plan_.model.heads;
    if (!s_.has("group-query-attention") && groups && file_has_no_flags()) plan_.model.kv_heads = groups;
    // As Megatron-DeepSpeed has it.
    if (const Whole own = whole("num-key-value-heads", "kv_heads")) plan_.model.kv_heads = own;
    plan_.model.head_dim = whole("kv-channels", "head_dim");
    if (!plan_.model.head_dim && plan_.model.d_model && plan_.model.heads.value_or(0) > 0)
      plan_.model.head_dim = *plan_.model.d_model / *plan_.model.heads;
    plan_.model.gated_ffn = flag("swiglu", "gated_ffn") || flag("geglu", "gated_ffn");
    plan_.model.ffn = whole("ffn-hidden-size", "ffn");
    if (!plan_.model.ffn && plan_.model.d_model && *plan_.model.d_model < 100'000'000)
      plan_.model.ffn =
          s_.is_true("swiglu") ? *plan_.model.d_model * 8 / 3 / 64 * 64 : 4 * *plan_.model.d_model;
    plan_.model.tied_embedding = !flag("untie-embeddings-and-output-weights", "tied_embedding");
    plan_.model.biases = !flag("disable-bias-linear", "biases");
    std::string norm = s_.text("normalization").value_or("LayerNorm");
    std::ranges::transform(norm, norm.begin(), [](unsigned char c) { return std::tolower(c); });
    plan_.model.rms_norm = norm == "rmsnorm";
    plan_.model.qk_norm = flag("qk-layernorm", "qk_norm");
    const auto dropout = s_.number("hidden-dropout");
    plan_.model.dropout = dropout.value_or(0.1) > 0;
    if (dropout) plan_.model.from["dropout"] = "--hidden-dropout, " + s_.place("hidden-dropout");
    const bool rotary = flag("use-rotary-position-embeddings") || s_.is_true("no-position-embedding");
    if (!rotary && s_.text("position-embedding-type").value_or("learned_absolute") == "learned_absolute")
      plan_.model.learned_positions = whole("max-position-embeddings", "learned_positions");
    plan_.model.prediction_layers = whole("mtp-num-layers", "prediction_layers");
    read_experts();
    read_megatron_layers(s_, stated_, plan_);
    if (flag("multi-latent-attention")) {
      ModelSizes::Latent latent;
      latent.query_rank = whole("q-lora-rank", "query_rank");
      latent.kv_rank = whole("kv-lora-rank", "kv_rank").value_or(32);
      latent.plain_dim = whole("qk-head-dim", "plain_dim").value_or(128);
      latent.rotary_dim = whole("qk-pos-emb-head-dim", "rotary_dim").value_or(64);
      latent.value_dim = whole("v-head-dim", "value_dim").value_or(128);
      plan_.model.latent = latent;
    }
  }

  // A saved recipe has no flag for grouped queries: the number alone says it.
  bool file_has_no_flags() const {
    return std::none_of(s_.all().begin(), s_.all().end(), [](const Setting& setting) {
      return setting.source_line.find("--") != std::string::npos;
    });
  }

  void read_experts() {
    const Whole experts = whole("num-experts", "experts");
    if (!experts) return;
    ModelSizes::Experts mixture;
    mixture.experts = experts;
    mixture.experts_per_token = whole("moe-router-topk", "experts_per_token").value_or(2);
    mixture.expert_ffn = whole("moe-ffn-hidden-size", "expert_ffn");
    if (!mixture.expert_ffn) mixture.expert_ffn = plan_.model.ffn;
    mixture.shared_ffn = whole("moe-shared-expert-intermediate-size", "shared_ffn");
    mixture.capacity_factor = s_.number("moe-expert-capacity-factor");
    read_expert_layers(mixture);
    plan_.model.experts = mixture;
  }

  void read_expert_layers(ModelSizes::Experts& mixture) {
    plan_.layer_freq = s_.text("moe-layer-freq").value_or("1");
    if (!plan_.model.layers) return;
    const auto pattern = layer_pattern(plan_.layer_freq, *plan_.model.layers);
    if (!pattern)
      return s_.refuse("moe-layer-freq", "moe-layer-freq is \"" + plan_.layer_freq + "\"",
                       "expected a number, or a list of " + std::to_string(*plan_.model.layers) +
                           " numbers 0 and 1 as in ([0]*1+[1]*" +
                           std::to_string(std::max<std::int64_t>(1, *plan_.model.layers - 1)) + ")");
    if (!place_experts(*pattern, mixture))
      plan_.not_run.push_back({"experts on every n-th layer, behind dense ones alone where there are such",
                               "--set moe-layer-freq=1, or the list of such layers"});
    for (const char* field : {"dense_layers", "every"})
      if (s_.has("moe-layer-freq"))
        plan_.model.from[field] = "--moe-layer-freq, " + s_.place("moe-layer-freq");
  }

  void read_layout() {
    plan_.tensor = degree("tensor-model-parallel-size", "tensor");
    plan_.pipeline = degree("pipeline-model-parallel-size", "pipeline");
    plan_.context = degree("context-parallel-size", "context");
    if (const std::int64_t ulysses = degree("ds-sequence-parallel-size", "context"); ulysses > 1) {
      plan_.context *= ulysses;
      plan_.not_simulated.emplace_back(
          "heads exchanged for sequences (--ds-sequence-parallel-size): sequences are cut as context "
          "parallelism cuts them");
    }
    plan_.expert = degree("expert-model-parallel-size", "expert");
    const Whole expert_tensor = whole("expert-tensor-parallel-size");
    plan_.expert_tensor = std::max<std::int64_t>(1, expert_tensor.value_or(plan_.tensor));
    plan_.swapped = flag("use-tp-pp-dp-mapping");
    plan_.sequence_parallel = flag("sequence-parallel", "sequence_parallel") && plan_.tensor > 1;
    plan_.model.vocabulary = whole("vocab-size", "vocabulary");
    const std::int64_t multiple =
        std::clamp<std::int64_t>(whole("make-vocab-size-divisible-by").value_or(128), 1, 1'000'000) *
        plan_.tensor;
    if (plan_.model.vocabulary && *plan_.model.vocabulary < 1'000'000'000)
      plan_.padded = (*plan_.model.vocabulary + multiple - 1) / multiple * multiple;
    if (const Whole padded = whole("padded-vocab-size")) plan_.padded = padded;
    read_chips();
  }

  void read_chips() {
    const LaunchedRanks launched = launched_ranks(s_);
    plan_.chips = stated_.chips ? stated_.chips : launched.ranks;
    plan_.chips_from = stated_.chips ? "--chips" : launched.from;
    plan_.chips_unknown = launched.unknown;
    for (const char* other :
         {"job-name",      "time",      "partition",    "account",       "output",      "error",
          "nodelist",      "exclusive", "mem",          "cpus-per-task", "master-addr", "master-port",
          "node-rank",     "rdzv-id",   "rdzv-backend", "rdzv-endpoint", "tee",         "max-restarts",
          "gpus-per-task", "gpus",      "log-dir"})
      s_.use(std::string("launcher.") + other);
  }

  // Of "[32 32 1000]", and of "0:32 1000:64".
  static std::string first_stage(const std::string& text) {
    const std::size_t begin = std::min(text.find_first_of("0123456789"), text.size());
    return text.substr(begin, text.find_first_of(" ,]", begin) - begin);
  }
  static Whole last_stage(const std::string& schedule) {
    const std::size_t colon = schedule.rfind(':');
    const std::int64_t batch =
        colon == std::string::npos ? 0 : std::strtoll(schedule.c_str() + colon + 1, nullptr, 10);
    return batch > 0 ? Whole(batch) : std::nullopt;
  }

  void read_batch() {
    plan_.batch = whole("global-batch-size", "global_batch");
    plan_.micro = whole("micro-batch-size", "micro_batch");
    plan_.sequence = whole("seq-length", "sequence");
    for (const char* name : {"rampup-batch-size", "step-batch-size-schedule"})
      if (const auto text = s_.text(name)) plan_.ramp = first_stage(*text);
    if (const auto schedule = s_.text("step-batch-size-schedule"); schedule && !plan_.batch)
      plan_.batch = last_stage(*schedule);
    const std::int64_t replica = plan_.tensor * plan_.pipeline * plan_.context;
    if (!plan_.chips) return;
    if (*plan_.chips % replica != 0) {
      s_.refuse("tensor-model-parallel-size",
                std::to_string(*plan_.chips) +
                    " chips are not a multiple of tensor x pipeline x context = " + std::to_string(replica),
                plan_.chips_from + "; tensor " + std::to_string(plan_.tensor) + ", pipeline " +
                    std::to_string(plan_.pipeline) + ", context " + std::to_string(plan_.context) +
                    "; --chips states another number");
      return;
    }
    plan_.data = *plan_.chips / replica;
    if (plan_.model.experts) {
      const std::int64_t grid = plan_.expert * plan_.expert_tensor * plan_.pipeline;
      if (*plan_.chips % grid != 0)
        s_.refuse(
            "expert-model-parallel-size",
            std::to_string(*plan_.chips) +
                " chips are not a multiple of expert x expert tensor x pipeline = " + std::to_string(grid));
      else
        plan_.expert_data = *plan_.chips / grid;
    }
    if (!plan_.micro || *plan_.micro == 0) return;
    if (!plan_.batch && plan_.ramp.empty() && !s_.has("global-batch-size")) {
      plan_.batch = *plan_.data * *plan_.micro;
      plan_.from["global_batch"] = "not stated: one microbatch on every data-parallel rank";
    }
    if (!plan_.batch) return;
    const std::int64_t step = *plan_.data * *plan_.micro;
    if (*plan_.batch % step != 0)
      s_.refuse("global-batch-size", "a global batch of " + std::to_string(*plan_.batch) +
                                         " sequences is not a multiple of microbatch x data = " +
                                         std::to_string(*plan_.micro) + " x " + std::to_string(*plan_.data));
    else
      plan_.microbatches = *plan_.batch / step;
  }

  void read_policies() {
    read_state();
    read_precision();
    read_optimizer();
    read_offload();
    read_recompute();
    plan_.first = whole("decoder-first-pipeline-num-layers");
    plan_.last = whole("decoder-last-pipeline-num-layers");
    plan_.embedding_counts = flag("account-for-embedding-in-pipeline-split");
    plan_.loss_counts = flag("account-for-loss-in-pipeline-split");
    if (const Whole layers = whole("num-layers-per-virtual-pipeline-stage", "chunks");
        layers && *layers > 0) {
      const std::int64_t ends = (plan_.embedding_counts ? 1 : 0) + (plan_.loss_counts ? 1 : 0);
      const std::int64_t per_stage = (plan_.model.layers.value_or(0) + ends) / plan_.pipeline;
      if (per_stage % *layers != 0)
        s_.refuse("num-layers-per-virtual-pipeline-stage", std::to_string(per_stage) +
                                                               " layers of a stage are not a multiple of " +
                                                               std::to_string(*layers));
      plan_.chunks = std::max<std::int64_t>(1, per_stage / *layers);
    }
    for (const char* name : {"num-virtual-stages-per-pipeline-rank", "virtual-pipeline-model-parallel-size"})
      if (const Whole chunks = whole(name, "chunks"); chunks && *chunks > 0) plan_.chunks = *chunks;
    if (const auto layout = s_.text("pipeline-model-parallel-layout")) read_stages(*layout);
    plan_.chunk_layers = megatron_chunk_layers(s_, plan_);
    plan_.overlap_gradients = flag("overlap-grad-reduce");
    plan_.overlap_parameters = flag("overlap-param-gather");
    plan_.overlap_tensor = flag("tp-comm-overlap", "overlap_tensor");
    if (plan_.overlap_gradients && !plan_.overlap_parameters && plan_.state == "zero1")
      plan_.not_simulated.emplace_back(
          "updated weights that are gathered with nothing beside it (without --overlap-param-gather)");
    plan_.dispatcher = s_.text("moe-token-dispatcher-type").value_or("allgather");
  }

  void read_stages(const std::string& layout) {
    const auto stages = layout_layers(layout);
    if (!stages)
      return s_.refuse("pipeline-model-parallel-layout", "the layout of the pipeline is \"" + layout + "\"",
                       "expected stages of E, t, m and L with | between them, as in Et*3|(tt|)*29m|L");
    const std::int64_t count = std::ssize(*stages);
    plan_.layout = *stages;
    if (count % plan_.pipeline != 0)
      s_.refuse("pipeline-model-parallel-layout",
                "a layout of " + std::to_string(count) +
                    " stages is not a multiple of pipeline = " + std::to_string(plan_.pipeline));
    else
      plan_.chunks = count / plan_.pipeline;
  }

  void read_state() {
    if (flag("use-distributed-optimizer", "state")) plan_.state = "zero1";
    const bool own = flag("use-megatron-fsdp", "state") || flag("use-custom-fsdp", "state");
    const auto strategy = s_.text("data-parallel-sharding-strategy");
    if (own)
      plan_.state = !strategy || *strategy == "optim_grads_params" ? "zero3"
                    : *strategy == "optim_grads"                   ? "zero2"
                    : *strategy == "optim"                         ? "zero1"
                                                                   : "";
    if (own && !strategy)
      plan_.not_simulated.emplace_back(
          "all state on every rank, the default of --data-parallel-sharding-strategy: --use-megatron-fsdp is "
          "taken to shard weights, gradients and optimizer");
    if (flag("use-torch-fsdp2", "state")) plan_.state = "zero3";  // whatever the strategy
    if (const Whole stage = whole("zero-stage", "state"); stage && *stage >= 0 && *stage <= 3)
      plan_.state = *stage == 0 ? "" : "zero" + std::to_string(*stage);
  }

  void read_precision() {
    const MegatronPrecision read = read_megatron_precision(s_);
    plan_.precision = read.matmuls;
    plan_.gradient_reduce = read.gradients;
    if (!read.matmuls_from.empty()) plan_.from["precision"] = read.matmuls_from;
    if (!read.gradients_from.empty()) plan_.from["gradient_reduce"] = read.gradients_from;
  }

  void read_optimizer() {
    MegatronOptimizer read = read_megatron_optimizer(s_);
    plan_.state_bytes = read.state_bytes;
    if (!read.from.empty()) plan_.from["state_bytes"] = read.from;
    for (std::string& what : read.not_simulated) plan_.not_simulated.push_back(std::move(what));
  }

  // Weights and moments on the host, of all of the model or of a part of it.
  void read_offload() {
    if (!s_.is_true("optimizer-cpu-offload")) return s_.use("optimizer-offload-fraction");
    plan_.from["offload_optimizer"] = "--optimizer-cpu-offload, " + s_.place("optimizer-cpu-offload");
    plan_.offload_optimizer = s_.number("optimizer-offload-fraction").value_or(1) >= 1;
    if (!plan_.offload_optimizer)
      plan_.not_run.push_back({"the state of the optimizer on the host as a whole, not a part of it",
                               "--set optimizer-offload-fraction=1"});
  }

  void read_recompute() {
    const auto granularity = s_.text("recompute-granularity");
    const bool all = flag("checkpoint-activations", "recompute");  // as it was written until 2022
    plan_.recompute = flag("recompute-activations", "recompute") ? "selective"
                      : granularity                              ? *granularity
                                                                 : (all ? "full" : "none");
    if (granularity)
      plan_.from["recompute"] = "--recompute-granularity, " + s_.place("recompute-granularity");
    if (plan_.recompute != "none" && plan_.recompute != "selective" && plan_.recompute != "full")
      s_.refuse("recompute-granularity", "recompute granularity \"" + plan_.recompute + "\" is not known",
                "expected selective or full");
    plan_.method = s_.text("recompute-method");
    plan_.recompute_layers = whole("recompute-num-layers", "recompute_layers");
    if (plan_.recompute == "full" && plan_.method.value_or("uniform") == "uniform" &&
        plan_.recompute_layers.value_or(1) > 1)
      plan_.not_simulated.push_back("one input kept for " + std::to_string(*plan_.recompute_layers) +
                                    " layers (--recompute-num-layers): each layer keeps its own");
    if (s_.has("recompute-modules"))
      plan_.from["recompute_modules"] = "--recompute-modules, " + s_.place("recompute-modules");
    for (const std::string& entry : s_.list("recompute-modules")) {
      std::string word;
      for (const char c : entry + " ") {
        if (c != ' ' && c != '[' && c != ']' && c != ',' && c != '"' && c != '\'') {
          word += c;
        } else if (!word.empty()) {
          plan_.modules.push_back(std::move(word));
          word.clear();
        }
      }
    }
  }

  void check() {
    if (plan_.model.heads && *plan_.model.heads > 0 && *plan_.model.heads % plan_.tensor != 0)
      s_.refuse("num-attention-heads",
                std::to_string(*plan_.model.heads) +
                    " heads are not a multiple of tensor = " + std::to_string(plan_.tensor));
    const bool uneven = plan_.first || plan_.last || plan_.embedding_counts || plan_.loss_counts ||
                        s_.has("pipeline-model-parallel-layout");
    if (plan_.model.layers && !uneven && *plan_.model.layers % plan_.pipeline != 0)
      s_.refuse("num-layers",
                std::to_string(*plan_.model.layers) +
                    " layers are not a multiple of pipeline = " + std::to_string(plan_.pipeline));
    if (plan_.model.experts && *plan_.model.experts->experts % plan_.expert != 0)
      s_.refuse("num-experts",
                std::to_string(*plan_.model.experts->experts) +
                    " experts are not a multiple of expert parallel = " + std::to_string(plan_.expert));
    for (const auto& [name, size] :
         {std::pair("num-layers", plan_.model.layers), std::pair("hidden-size", plan_.model.d_model),
          std::pair("num-attention-heads", plan_.model.heads), std::pair("seq-length", plan_.sequence),
          std::pair("micro-batch-size", plan_.micro)})
      if (!size && !s_.has(name)) plan_.needs.push_back({name, std::string("--set ") + name + "=N"});
  }

  Configuration& s_;
  const Stated& stated_;
  MegatronPlan plan_;
};

}  // namespace

MegatronPlan read_megatron(Configuration& settings, const Stated& stated) {
  return MegatronReader(settings, stated).read();
}

}  // namespace podsim
