// DeepSpeed: defaults of its constants; of three batch sizes two give the third.
#include <algorithm>
#include <array>
#include <utility>

#include "ingest/launchers/launcher_mesh.h"
#include "ingest/launchers/launcher_stack.h"
#include "ingest/launchers/launchers.h"
#include "ingest/launchers/reasons.h"
#include "ingest/launchers/scenario_text.h"
#include "ingest/launchers/settings.h"
#include "report/text/align.h"
#include "report/text/text.h"

namespace podsim {
namespace {

class DeepSpeed {
 public:
  DeepSpeed(const std::string& file, Configuration& settings, const Stated& stated)
      : file_(file), s_(settings), stated_(stated) {}

  std::optional<Imported> import(std::vector<Problem>& problems) {
    read_batch();
    read_zero();
    read_precision();
    for (const Setting& setting : s_.all())
      if (setting.text == "auto") auto_.push_back(setting.name);
    std::sort(auto_.begin(), auto_.end());
    sequence_ = s_.integer("sequence_tokens");
    s_.refuse_misspelt(why_not_used_by_deepspeed);
    if (s_.add_problems(problems)) return std::nullopt;
    Imported imported =
        begun_import(figures(), text(), needs_, s_.account("settings", why_not_used_by_deepspeed));
    need_cluster(stated_, imported.needs_to_run);
    if (stated_.model.empty()) imported.needs_to_run.push_back({"model", "--model"});
    if (!sequence_) imported.needs_to_run.push_back({"sequence_tokens", "--set sequence_tokens=N"});
    if (parameters_)
      imported.needs_to_run.push_back({"weights on the chips: those on the host are not simulated",
                                       "--set zero_optimization.offload_param.device=none"});
    if (optimizer_ == "nvme")
      imported.needs_to_run.push_back(
          {"optimizer state in the memory of the host: that on nvme is not simulated",
           "--set zero_optimization.offload_optimizer.device=cpu"});
    if (optimizer_ && offloaded_.value_or(1) < 1)
      imported.needs_to_run.push_back({"optimizer state on the host as a whole, not a part of it",
                                       "--set zero_optimization.offload_optimizer.ratio=1"});
    if (needs_.empty() && !data_) imported.needs_to_run.push_back({"chips", "--chips"});
    if (needs_.empty() && imported.needs_to_run.empty()) imported.scenario = scenario();
    return imported;
  }

 private:
  // Nothing where it is missing or left to the trainer, which is noted.
  Whole batch_size(const std::string& name) {
    const auto text = s_.text(name);
    if (text == "auto") {
      needs_.push_back({name, "--set " + name + "=N"});
      return std::nullopt;
    }
    const Whole number = s_.integer(name);
    if (number && (*number < 1 || *number > 1'000'000'000)) {
      s_.refuse(name, name + " is " + std::to_string(*number), "expected at least 1");
      return std::nullopt;
    }
    return number;
  }

  void read_batch() {
    global_ = batch_size("train_batch_size");
    micro_ = batch_size("train_micro_batch_size_per_gpu");
    accumulation_ = batch_size("gradient_accumulation_steps");
    const bool trainer = !needs_.empty();
    data_ = stated_.chips;
    if (!data_ && global_ && micro_ && accumulation_) {
      if (*global_ % (*micro_ * *accumulation_) == 0) data_ = *global_ / (*micro_ * *accumulation_);
    } else if (!data_) {
      needs_.push_back({"chips", "--chips"});
    }
    if (!global_ && !micro_ && !trainer)
      needs_.insert(needs_.begin(), {"train_batch_size", "--set train_batch_size=N"});
    if (!accumulation_ && !trainer && !(global_ && micro_)) accumulation_ = 1;
    if (global_ && micro_ && accumulation_) return check();
    if (!data_) return;
    if (global_ && micro_) accumulation_ = quotient(*micro_ * *data_, "gradient_accumulation_steps");
    if (global_ && accumulation_ && !micro_)
      micro_ = quotient(*accumulation_ * *data_, "train_micro_batch_size_per_gpu");
    if (!global_ && micro_ && accumulation_) global_ = *micro_ * *accumulation_ * *data_;
  }

  Whole quotient(std::int64_t divisor, const char* wanted) {
    if (*global_ % divisor == 0) return *global_ / divisor;
    s_.refuse("train_batch_size",
              "train_batch_size " + std::to_string(*global_) + " is not a multiple of " +
                  std::to_string(divisor) + ", and " + wanted + " no whole number",
              std::to_string(*data_) + " data-parallel ranks");
    return std::nullopt;
  }

  void check() {
    const std::int64_t ranks = data_.value_or(1);
    const std::int64_t product = *micro_ * *accumulation_ * ranks;
    if (product == *global_) return;
    s_.refuse("train_batch_size", "train_batch_size " + std::to_string(*global_) +
                                      " is not micro batch x gradient_accumulation_steps x "
                                      "data parallel = " +
                                      std::to_string(*micro_) + " x " + std::to_string(*accumulation_) +
                                      (data_ ? " x " + std::to_string(ranks) + " = " + std::to_string(product)
                                             : " x any number"));
  }

  std::optional<std::string> device(const std::string& name) {
    const auto text = s_.text("zero_optimization." + name + ".device");
    if (!text || *text == "none" || *text == "auto") return std::nullopt;
    if (*text != "cpu" && *text != "nvme")
      s_.refuse("zero_optimization." + name + ".device", "the device is \"" + *text + "\"",
                "expected cpu, nvme or none");
    return text;
  }

  void read_zero() {
    if (s_.has("zero_optimization"))
      stage_ = s_.is_true("zero_optimization") ? 1 : 0;
    else
      stage_ = s_.integer("zero_optimization.stage").value_or(0);
    if (stage_ < 0 || stage_ > 3)
      s_.refuse("zero_optimization.stage", "stage " + std::to_string(stage_) + " of ZeRO",
                "expected 0, 1, 2 or 3");
    optimizer_ = device("offload_optimizer");
    parameters_ = device("offload_param");
    offloaded_ = s_.number("zero_optimization.offload_optimizer.ratio");
    if (offloaded_ && (*offloaded_ < 0 || *offloaded_ > 1))
      s_.refuse("zero_optimization.offload_optimizer.ratio", "the ratio is " + shortest(*offloaded_),
                "expected 0 to 1");
    if (s_.is_true("zero_optimization.cpu_offload")) optimizer_ = "cpu";  // as it was written until 2021
    if (s_.is_true("zero_optimization.cpu_offload_params")) parameters_ = "cpu";
    overlap_ = unless_auto("zero_optimization.overlap_comm") ? s_.is_true("zero_optimization.overlap_comm")
                                                             : stage_ == 3;
    bucket_ = 5e8;
    if (s_.has("zero_optimization.reduce_bucket_size")) {
      bucket_.reset();
      if (unless_auto("zero_optimization.reduce_bucket_size"))
        bucket_ = s_.number("zero_optimization.reduce_bucket_size");
    }
    hpz_ = s_.integer("zero_optimization.zero_hpz_partition_size");
    mics_ = s_.integer("zero_optimization.mics_shard_size");
    if (mics_ && *mics_ < 1) mics_.reset();  // -1 is without
    if (mics_ && data_ && *data_ % *mics_ != 0)
      s_.refuse("zero_optimization.mics_shard_size",
                std::to_string(*data_) + " data-parallel ranks are no multiple of shards over " +
                    std::to_string(*mics_));
    quantized_weights_ = s_.boolean("zero_optimization.zero_quantized_weights");
    quantized_gradients_ = s_.boolean("zero_optimization.zero_quantized_gradients");
  }

  // Whether it is there, and not left to the trainer.
  bool unless_auto(const std::string& name) {
    const auto text = s_.text(name);
    return text && *text != "auto";
  }

  void read_precision() {
    precision_ = "fp32";
    for (const auto& [key, name] :
         {std::pair("fp16", "fp16"), std::pair("bfloat16", "bf16"), std::pair("bf16", "bf16")}) {
      const std::string enabled = std::string(key) + ".enabled";
      if (s_.has(enabled) && !unless_auto(enabled)) {
        open_precision_ = true;
      } else if (s_.is_true(enabled)) {
        if (precision_ == "fp16" && std::string(name) == "bf16")
          s_.refuse(enabled, enabled + " beside fp16.enabled",
                    "expected one of them; DeepSpeed takes no both");
        precision_ = name;
        precision_from_ = enabled + ", " + s_.place(enabled);
      }
    }
    open_precision_ = open_precision_ && precision_ == "fp32";
    if (open_precision_) needs_.push_back({"precision", "--set bf16.enabled=true"});
    if (s_.is_true("amp.enabled") && precision_ == "fp32" && !open_precision_) {
      open_precision_ = true;
      needs_.push_back({"precision: amp.enabled has products in fp16", "--set fp16.enabled=true"});
    }
  }

  std::vector<Figure> figures() const {
    const auto said = [](const std::optional<std::string>& text) {
      return text ? FigureValue(*text) : FigureValue();
    };
    const auto flag = [](const std::optional<bool>& is) { return is ? FigureValue(*is) : FigureValue(); };
    return {{"format", std::string("deepspeed")},
            needs_figure(needs_),
            {"error", FigureValue()},
            {"data_parallel", known(data_)},
            {"zero_stage", stage_},
            Figure::group("batch", {{"global_batch_sequences", known(global_)},
                                    {"microbatch_sequences", known(micro_)},
                                    {"gradient_accumulation", known(accumulation_)}}),
            {"precision", open_precision_ ? FigureValue() : FigureValue(precision_)},
            {"offload_optimizer", said(optimizer_)},
            {"offload_parameters", said(parameters_)},
            {"overlap_communication", overlap_},
            {"reduce_bucket_elements", known(bucket_)},
            {"hpz_partition", known(hpz_)},
            {"quantized_weights", flag(quantized_weights_)},
            {"quantized_gradients", flag(quantized_gradients_)},
            Figure::list("auto", values_of(auto_))};
  }

  std::string text() const {
    const auto said = [](const Whole& number) { return number ? count_text(*number) : std::string("?"); };
    std::vector<std::vector<std::string>> rows = {
        {"data parallel", said(data_)},
        {"ZeRO", "stage " + said(stage_) + (optimizer_ ? ", optimizer on " + *optimizer_ : "") +
                     (parameters_ ? ", weights on " + *parameters_ : "")},
        {"global batch", said(global_) + " sequences, " + said(micro_) + " in a microbatch, " +
                             said(accumulation_) + " microbatches"},
        {"precision", open_precision_ ? "?" : precision_},
        {"left to the trainer", auto_.empty() ? "nothing" : std::to_string(auto_.size()) + " settings"}};
    return file_ + ": DeepSpeed\n\n" + align(rows) + "\n";
  }

  std::string scenario() {
    const auto from = [&](const char* name) {
      return s_.place(name).empty() ? "follows from the others" : std::string(name) + ", " + s_.place(name);
    };
    ScenarioText out;
    out.comment("From " + file_ + ", by podsim import. Defaults are those of DeepSpeed.");
    out.comment("Tensor and pipeline parallelism are the launcher's: none assumed.");
    if (hpz_.value_or(1) > 1 || quantized_weights_.value_or(false) || quantized_gradients_.value_or(false))
      out.comment("Not simulated of ZeRO++: second copies of weights within nodes, quantised transfers.");
    add_cluster(out, stated_, *data_,
                stated_.chips ? "--chips" : "train_batch_size / (micro batch x accumulation)", 1, "");
    out.open("job");
    out.line("model: " + in_quotes(stated_.model), "--model");
    std::vector<StackChange> changes;
    if (stated_.stack.empty() && !overlap_ && *data_ > 1 && stage_ < 3)
      changes.push_back({"gradients_overlapped: false",
                         s_.has("zero_optimization.overlap_comm")
                             ? from("zero_optimization.overlap_comm")
                             : "zero_optimization.overlap_comm is not there: false below stage 3"});
    add_stack(out, stated_, {"generic_fsdp", "assumed: sharded data parallelism that nobody tuned"}, changes);
    LauncherDegrees degrees;
    (stage_ == 3 ? degrees.fsdp : degrees.data) = *data_;
    if (stage_ == 3 && mics_) degrees.fsdp = *mics_, degrees.data = *data_ / *mics_;
    degrees.state = stage_ == 1   ? SharedState::kZero1
                    : stage_ == 2 ? SharedState::kZero2
                    : stage_ == 3 ? SharedState::kZero3
                                  : SharedState::kWhole;
    const std::string stage = "zero_optimization.stage, " + s_.place("zero_optimization.stage");
    std::string problem;
    add_mesh(out, degrees, {{"data", "data parallel"}, {"fsdp", "data parallel"}, {"state", stage}}, problem);
    out.line("global_batch_sequences: " + std::to_string(*global_), from("train_batch_size"));
    out.line("microbatch_sequences: " + std::to_string(*micro_), from("train_micro_batch_size_per_gpu"));
    out.line("sequence_tokens: " + std::to_string(*sequence_), "--set sequence_tokens");
    out.line("precision: " + precision_, precision_from_);
    if (optimizer_) out.line("offload_optimizer: true", from("zero_optimization.offload_optimizer.device"));
    out.close();
    return out.text();
  }

  const std::string& file_;
  Configuration& s_;
  const Stated& stated_;
  std::vector<Needed> needs_;
  std::vector<std::string> auto_;
  Whole data_, global_, micro_, accumulation_, hpz_, mics_, sequence_;
  std::int64_t stage_ = 0;
  bool overlap_ = false, open_precision_ = false;
  std::optional<double> bucket_, offloaded_;
  std::optional<bool> quantized_weights_, quantized_gradients_;
  std::optional<std::string> optimizer_, parameters_;
  std::string precision_, precision_from_;
};

}  // namespace

bool is_deepspeed(std::string_view text) {
  if (!text.substr(std::min(text.find_first_not_of(" \t\r\n"), text.size())).starts_with("{")) return false;
  for (const char* word :
       {"\"zero_optimization\"", "\"train_micro_batch_size_per_gpu\"", "\"train_batch_size\""})
    if (text.find(word) != std::string_view::npos) return true;
  return false;
}

std::optional<Imported> import_deepspeed(const std::vector<InputText>& files, const Stated& stated,
                                         std::vector<Problem>& problems) {
  const InputText& file = files.front();
  auto settings = read_json_settings(file.name, file.text, problems);
  if (!settings) return std::nullopt;
  settings->set_stated(stated);
  return DeepSpeed(file.name, *settings, stated).import(problems);
}

}  // namespace podsim
