// torchtitan: config_manager of 2025 says what is default.
#include <algorithm>
#include <string>
#include <utility>

#include "engine/words.h"
#include "ingest/launchers/launcher_mesh.h"
#include "ingest/launchers/launcher_stack.h"
#include "ingest/launchers/launchers.h"
#include "ingest/launchers/reasons.h"
#include "ingest/launchers/scenario_text.h"
#include "ingest/launchers/settings.h"
#include "ingest/launchers/torchtitan_names.h"
#include "ingest/launchers/torchtitan_recompute.h"
#include "proto/catalog/catalog.h"
#include "report/text/align.h"
#include "report/text/text.h"

namespace podsim {
namespace {

class Torchtitan {
 public:
  Torchtitan(const std::string& file, Configuration& settings, const Stated& stated)
      : file_(file), s_(settings), stated_(stated) {}

  std::optional<Imported> import(std::vector<Problem>& problems) {
    read_layout();
    read_batch();
    read_policies();
    s_.refuse_misspelt(why_not_used_by_torchtitan);
    if (s_.add_problems(problems)) return std::nullopt;
    if (!chips_) needs_.push_back({"chips", "--chips"});
    Imported imported =
        begun_import(figures(), text(), needs_, s_.account("settings", why_not_used_by_torchtitan));
    need_cluster(stated_, imported.needs_to_run);
    if (stated_.model.empty() && catalogue_.empty()) imported.needs_to_run.push_back({"model", "--model"});
    if (pipeline_ > 1 && torchtitan_schedule(schedule_).empty())
      imported.needs_to_run.push_back({"a schedule that podsim runs, instead of " + schedule_,
                                       "--set parallelism.pipeline_parallel_schedule=1F1B"});
    need_what_runs(imported.needs_to_run);
    if (needs_.empty() && imported.needs_to_run.empty()) imported.scenario = scenario(problems);
    if (!problems.empty()) return std::nullopt;
    return imported;
  }

 private:
  Whole whole(const std::string& name, const char* field) {
    if (s_.has(name)) from_[field] = name + ", " + s_.place(name);
    return s_.integer(name);
  }

  // Until 2025 what is now in [parallelism] was in [training], and in [experimental] before it was proven.
  std::string placed(const std::string& name) const {
    for (const char* section : {"training.", "experimental."})
      if (!s_.has("parallelism." + name) && s_.has(section + name)) return section + name;
    return "parallelism." + name;
  }

  std::int64_t degree(const std::string& name, const char* field) {
    const Whole number = whole(placed(name), field);
    if (number && (*number < 1 || *number > 1'000'000)) {
      s_.refuse(placed(name), name + " is " + std::to_string(*number), "expected at least 1");
      return 1;
    }
    return number.value_or(1);
  }

  void read_layout() {
    chips_ = stated_.chips;
    pipeline_ = degree("pipeline_parallel_degree", "pipeline");
    replicate_ = degree("data_parallel_replicate_degree", "data");
    context_ = degree("context_parallel_degree", "context");
    tensor_ = degree("tensor_parallel_degree", "tensor");
    expert_ = degree("expert_parallel_degree", "expert");
    expert_tensor_ = degree("expert_tensor_parallel_degree", "expert_tensor");
    shard_ = whole(placed("data_parallel_shard_degree"), "fsdp");
    if (!shard_) shard_ = whole("training.data_parallel_degree", "fsdp");
    if (shard_ && *shard_ < 1 && *shard_ != -1)
      s_.refuse(placed("data_parallel_shard_degree"), "the shard degree is " + std::to_string(*shard_),
                "expected -1, which is the rest, or at least 1");
    const std::int64_t others = pipeline_ * replicate_ * context_ * tensor_;
    const bool rest = !shard_ || *shard_ < 1;
    if (rest) shard_.reset();
    if (!chips_ && !rest) chips_ = others * *shard_, chips_from_ = "product of all degrees, " + file_;
    if (!chips_) return;
    const std::int64_t product = rest ? others : others * *shard_;
    if (rest ? *chips_ % product != 0 : *chips_ != product)
      s_.refuse("parallelism.tensor_parallel_degree",
                std::to_string(*chips_) + " chips are not " + (rest ? "a multiple of " : "") +
                    "pipeline x replicate x " + (rest ? "" : "shard x ") +
                    "context x tensor = " + std::to_string(product));
    else
      shard_ = rest ? *chips_ / product : *shard_;
  }

  void read_batch() {
    local_ = whole("training.local_batch_size", "local")
                 .value_or(whole("training.batch_size", "local").value_or(8));
    sequence_ = whole("training.seq_len", "sequence").value_or(2048);
    const Whole stated = whole("training.global_batch_size", "global_batch");
    micro_ = local_;
    const Whole number = whole(placed("pipeline_parallel_microbatches"), "micro_batch");
    if (pipeline_ > 1 && number && *number > 0)
      micro_ = std::max<std::int64_t>(1, local_ / *number);
    else if (pipeline_ > 1)
      micro_ = whole("parallelism.pipeline_parallel_microbatch_size", "micro_batch").value_or(1);
    else
      s_.use("parallelism.pipeline_parallel_microbatch_size");
    if (local_ < 1 || sequence_ < 1 || micro_ < 1) {
      s_.refuse("training.local_batch_size", "batch sizes and lengths are at least 1");
      return;
    }
    if (local_ % micro_ != 0)
      s_.refuse("parallelism.pipeline_parallel_microbatch_size",
                "a local batch of " + std::to_string(local_) + " is no multiple of the microbatch of " +
                    std::to_string(micro_));
    if (pipeline_ > 1) microbatches_ = local_ / micro_;
    if (stated && *stated > 0) global_ = *stated;
    if (!shard_) return;
    const std::int64_t together = local_ * replicate_ * *shard_;
    if (!global_) global_ = together;
    if (*global_ % together != 0)
      s_.refuse("training.global_batch_size",
                "a global batch of " + std::to_string(*global_) +
                    " is no multiple of local batch x replicate x shard = " + std::to_string(together));
    else
      accumulation_ = *global_ / together;
  }

  void read_policies() {
    name_ = s_.text("model.name").value_or("");
    flavor_ = s_.text("model.flavor").value_or("");
    catalogue_ = torchtitan_model(name_, flavor_);
    precision_ =
        s_.text("training.mixed_precision_param").value_or("bfloat16") == "float32" ? "fp32" : "bf16";
    from_["precision"] = "training.mixed_precision_param";
    reduce_ = s_.text("training.mixed_precision_reduce").value_or("float32") == "bfloat16" ? "bf16" : "fp32";
    for (const std::string& converter : converters()) {
      from_["precision"] = "model.converters, " + s_.place("model.converters");
      if (converter == "quantize.linear.float8" || converter == "float8")
        precision_ = recipe("float8", "tensorwise").starts_with("rowwise") ? "fp8_rowwise" : "fp8_tensorwise";
      else if (converter == "quantize.linear.mx" || converter == "mx")
        precision_ = recipe("mx", "mxfp8").starts_with("mxfp4") ? "mxfp4" : "mxfp8";
    }
    // As it was written in 2024.
    for (const char* flag :
         {"float8.enable_float8_linear", "training.enable_float8_linear", "training.enable_fp8_linear"})
      if (s_.is_true(flag)) {
        from_["precision"] = flag + (", " + s_.place(flag));
        precision_ = recipe("float8", "tensorwise").starts_with("rowwise") ? "fp8_rowwise" : "fp8_tensorwise";
      }
    recompute_ = read_torchtitan_recompute(s_);
    for (const char* setting : {"activation_checkpoint.mode", "activation_checkpoint.selective_ac_option"})
      if (s_.has(setting)) from_["recompute"] = std::string(setting) + ", " + s_.place(setting);
    const std::string reshard = s_.text("parallelism.fsdp_reshard_after_forward").value_or("default");
    reshard_ = reshard == "always" || (reshard != "never" && pipeline_ == 1);
    schedule_ = s_.text(placed("pipeline_parallel_schedule")).value_or("1F1B");
    const std::string named = placed("pipeline_parallel_schedule");
    from_["schedule"] = s_.has(named) ? named + ", " + s_.place(named) : "";
    layers_per_stage_ = whole("parallelism.pipeline_parallel_layers_per_stage", "chunks");
    async_ = s_.is_true(placed("enable_async_tensor_parallel"));
    compile_ = s_.is_true("compile.enable") || s_.is_true("training.compile");
    offloads_ = s_.is_true("training.enable_cpu_offload");
  }

  // A list, and until 2025 names between commas.
  std::vector<std::string> converters() {
    std::vector<std::string> names;
    for (const std::string& entry : s_.list("model.converters"))
      for (const std::string& name : split(entry, ','))
        if (!name.empty()) names.push_back(name);
    return names;
  }

  std::string recipe(const std::string& kind, const std::string& otherwise) {
    for (const char* form : {"quantize.linear.", ""})
      if (const auto name = s_.text(form + kind + ".recipe_name")) return *name;
    return otherwise;
  }

  std::optional<std::int64_t> expert_fsdp() const {
    if (!shard_) return std::nullopt;
    return *shard_ * context_ * tensor_ / expert_tensor_ / expert_;
  }

  // Nothing where experts are whole.
  std::string uneven_experts() const {
    if (!shard_ || expert_ == 1) return "";
    const std::int64_t ranks = *shard_ * context_ * tensor_ / expert_tensor_;
    if (ranks % expert_ == 0) return "";
    return "expert parallelism of " + std::to_string(expert_) + " does not divide the " +
           std::to_string(ranks) + " ranks that it is carved out of";
  }

  std::vector<Figure> figures() const {
    const std::vector<std::pair<const char*, Whole>> axes = {{"pipeline", pipeline_},
                                                             {"data", replicate_},
                                                             {"fsdp", shard_},
                                                             {"context", context_},
                                                             {"tensor", tensor_}};
    std::vector<Figure> mesh;
    for (const auto& [name, size] : axes)
      mesh.push_back(Figure::list("", {Figure("", FigureValue(std::string(name))), Figure("", known(size))}));
    std::vector<Figure> all = {{"format", std::string("torchtitan")},
                               {"chips", known(chips_)},
                               needs_figure(needs_),
                               {"model_name", name_},
                               {"flavor", flavor_},
                               {"catalogue", catalogue_.empty() ? FigureValue() : FigureValue(catalogue_)},
                               Figure::list("mesh_outer_to_inner", std::move(mesh))};
    if (expert_ > 1)
      all.push_back(Figure::group(
          "expert",
          {{"expert", expert_}, {"expert_tensor", expert_tensor_}, {"expert_fsdp", known(expert_fsdp())}}));
    else
      all.emplace_back("expert", FigureValue());
    append(all,
           {{"sequence_parallel", tensor_ > 1},
            {"state_sharding", std::string("fsdp over fsdp x context")},
            {"reshard_after_forward", reshard_},
            Figure::group("batch", {{"global_batch_sequences", known(global_)},
                                    {"microbatch_sequences", micro_},
                                    {"local_batch_sequences", local_},
                                    {"gradient_accumulation", known(accumulation_)}}),
            {"sequence_tokens", sequence_},
            Figure::group("pipeline", {{"stages", pipeline_},
                                       {"schedule", pipeline_ > 1 ? FigureValue(schedule_) : FigureValue()},
                                       {"microbatches", known(microbatches_)}}),
            {"precision", precision_},
            {"gradient_reduce", reduce_},
            Figure::group("recompute", {{"mode", recompute_}}),
            {"async_tensor", async_},
            {"compile", compile_}});
    if (const std::string uneven = uneven_experts(); !uneven.empty())
      all.push_back(Figure::list("contradictions", values_of(std::vector{uneven})));
    return all;
  }

  std::string text() const {
    const auto said = [](const Whole& number) { return number ? count_text(*number) : std::string("?"); };
    std::vector<std::vector<std::string>> rows = {
        {"chips", said(chips_)},
        {"model", name_ + " " + flavor_ + (catalogue_.empty() ? "" : ", here " + catalogue_)},
        {"pipeline x data x fsdp x context x tensor", said(pipeline_) + " x " + said(replicate_) + " x " +
                                                          said(shard_) + " x " + said(context_) + " x " +
                                                          said(tensor_)},
        {"global batch", said(global_) + " sequences of " + said(sequence_) + " tokens, " + said(local_) +
                             " on a rank, " + said(micro_) + " in a microbatch"},
        {"precision", precision_ + ", gradients reduced in " + reduce_},
        {"recompute", recompute_}};
    if (expert_ > 1)
      rows.push_back(
          {"experts", "over " + said(expert_) + " ranks, their weights over " + said(expert_fsdp())});
    const std::string uneven = uneven_experts();
    const std::string kept = keeps_weights();
    return file_ + ": torchtitan\n\n" + align(rows) + "\n" + (uneven.empty() ? "" : uneven + "\n") +
           (kept.empty() ? "" : "not simulated: " + kept + "\n");
  }

  // Of a stage: two, or as many as its layers make, with which embedding and head count as one layer each.
  std::int64_t chunks() const {
    static const Catalog catalog;
    const auto model = catalog.model(stated_.model.empty() ? catalogue_ : stated_.model);
    if (!model || layers_per_stage_.value_or(0) < 1) return 2;
    const std::int64_t stages = (model->layers + 2 + *layers_per_stage_ - 1) / *layers_per_stage_;
    return std::max<std::int64_t>(2, stages / pipeline_);
  }

  // Instead of what podsim does not simulate.
  void need_what_runs(std::vector<Needed>& needs) const {
    if (offloads_)
      needs.push_back({"weights on the chips: those on the host are not simulated",
                       "--set training.enable_cpu_offload=false"});
    if (recompute_ == "memory_budget")
      needs.push_back({"layers that say what they compute again, not a budget of memory",
                       "--set activation_checkpoint.mode=selective"});
    if (pipeline_ > 1 && accumulation_.value_or(1) > 1)
      needs.push_back({"one pass through the pipeline in a step, not " + std::to_string(*accumulation_) +
                           ", each of which empties it",
                       "--set training.global_batch_size=" + std::to_string(*global_ / *accumulation_)});
  }

  // Weights that stay gathered from forward to backward.
  std::string keeps_weights() const {
    return reshard_ || shard_.value_or(1) * context_ == 1
               ? ""
               : "weights that stay gathered until backward: they are let go and gathered again";
  }

  std::string scenario(std::vector<Problem>& problems) {
    std::string problem = uneven_experts();
    ScenarioText out;
    out.comment("From " + file_ + ", by podsim import. Defaults are those of torchtitan in 2025.");
    if (!keeps_weights().empty()) out.comment("Not simulated: " + keeps_weights() + ".");
    add_cluster(out, stated_, *chips_, chips_from_, 1, "");
    out.open("job");
    if (!stated_.model.empty())
      out.line("model: " + in_quotes(stated_.model), "--model");
    else
      out.line("model: " + in_quotes(catalogue_), "model.name and model.flavor, " + s_.place("model.flavor"));
    const char* stack = async_ ? "torchtitan_async_tp" : compile_ ? "torchtitan" : "torchtitan_eager";
    std::vector<StackChange> changes;
    if (reduce_ == "bf16")  // the shards add up in 32 bits, the format of the weights
      changes.push_back({"gradient_bytes: 2 gradient_memory_bytes: 4",
                         "training.mixed_precision_reduce, " + s_.place("training.mixed_precision_reduce")});
    add_stack(out, stated_, {stack, "compile.enable and parallelism.enable_async_tensor_parallel"}, changes);
    LauncherDegrees degrees;
    degrees.pipeline = pipeline_, degrees.data = replicate_, degrees.fsdp = *shard_;
    degrees.context = context_, degrees.tensor = tensor_, degrees.expert = expert_;
    degrees.expert_tensor = expert_ > 1 ? expert_tensor_ : tensor_;
    degrees.experts = expert_ > 1, degrees.sequence_parallel = true;
    if (*shard_ * context_ > 1) degrees.state = SharedState::kZero3;
    from_["state"] = "FSDP over fsdp x context";
    from_["sequence_parallel"] = "tensor parallelism of torchtitan cuts sequences too";
    from_.try_emplace("fsdp", "the rest");
    if (!problem.empty() || !add_mesh(out, degrees, from_, problem)) {
      s_.refuse("parallelism.expert_parallel_degree", problem);
      problems.push_back(s_.problems().back());
      return "";
    }
    if (pipeline_ > 1) {
      const std::string own = torchtitan_schedule(schedule_);
      out.line("pipeline { schedule: " + own +
                   (own == "interleaved" ? " chunks_per_stage: " + std::to_string(chunks()) : "") + " }",
               from_["schedule"]);
    }
    out.line("global_batch_sequences: " + std::to_string(*global_),
             from_.count("global_batch") != 0 ? from_["global_batch"] : "local batch x replicate x shard");
    out.line("microbatch_sequences: " + std::to_string(micro_),
             from_.count("micro_batch") != 0 ? from_["micro_batch"] : from_["local"]);
    out.line("sequence_tokens: " + std::to_string(sequence_), from_["sequence"]);
    out.line("precision: " + recipe_of_stack(stated_.stack.empty() ? stack : stated_.stack, precision_),
             from_["precision"]);
    if (recompute_.starts_with("selective:") && recompute_ != "selective:op") {
      out.line("recompute: full", from_["recompute"]);
      out.line("recompute_every: " + recompute_.substr(10), from_["recompute"]);
    } else {
      out.line("recompute: " + recompute_.substr(0, recompute_.find(':')), from_["recompute"]);
    }
    out.close();
    return out.text();
  }

  const std::string& file_;
  Configuration& s_;
  const Stated& stated_;
  std::map<std::string, std::string> from_;
  std::vector<Needed> needs_;
  std::int64_t pipeline_ = 1, replicate_ = 1, context_ = 1, tensor_ = 1, expert_ = 1, expert_tensor_ = 1,
               local_ = 8, micro_ = 8, sequence_ = 2048;
  Whole chips_, shard_, global_, accumulation_, microbatches_, layers_per_stage_;
  bool offloads_ = false, reshard_ = true, async_ = false, compile_ = false;
  std::string chips_from_ = "--chips", name_, flavor_, catalogue_, precision_, reduce_, recompute_, schedule_;
};

}  // namespace

bool is_torchtitan(std::string_view text) {
  for (const char* word :
       {"data_parallel_shard_degree", "tensor_parallel_degree", "data_parallel_replicate_degree"})
    if (text.find(word) != std::string_view::npos) return true;
  const auto has = [&](const char* word) { return text.find(word) != std::string_view::npos; };
  return has("[training]") && has("[model]") && has("flavor");
}

std::optional<Imported> import_torchtitan(const std::vector<InputText>& files, const Stated& stated,
                                          std::vector<Problem>& problems) {
  const InputText& file = files.front();
  const auto begins_as_python = [&](const char* word) { return file.text.find(word) != std::string::npos; };
  if (begins_as_python("\nfrom torchtitan") || begins_as_python("\nimport ")) {
    Problem problem;
    problem.file = file.name;
    problem.message = "this is a configuration in Python, which podsim does not run";
    problem.hint = "import the TOML file, or print the configuration as one";
    problems.push_back(problem);
    return std::nullopt;
  }
  auto settings = read_toml(file.name, file.text, problems);
  if (!settings) return std::nullopt;
  settings->set_stated(stated);
  return Torchtitan(file.name, *settings, stated).import(problems);
}

}  // namespace podsim
