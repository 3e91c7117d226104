// Arguments first, then recipes, then formats of 8 and 4 bits, which stand beside those of 16.
#include "ingest/launchers/megatron_precision.h"

#include <algorithm>
#include <cctype>
#include <optional>

namespace podsim {
namespace {

// Nothing where it is missing, or says that there is none: false, none, null.
std::optional<std::string> format_of(Configuration& settings, const std::string& name) {
  auto text = settings.text(name);
  if (!text) return std::nullopt;
  std::string lower = *text;
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const char* none : {"", "false", "none", "null", "no", "0", "~"})
    if (lower == none) return std::nullopt;
  return lower;
}

// Of the recipes of FP8 that Transformer Engine has.
std::string fp8_named(const std::string& recipe) {
  const auto has = [&](const char* word) { return recipe.find(word) != std::string::npos; };
  if (has("mxfp8")) return "mxfp8";
  if (has("blockwise") || has("subchannel")) return "fp8_blockwise";
  return "fp8_tensorwise";
}

class PrecisionReader {
 public:
  explicit PrecisionReader(Configuration& settings) : s_(settings) {}

  MegatronPrecision read() {
    for (const char* name : {"bf16", "fp16"})
      if (s_.is_true(name) && wide_ == "fp32") said(wide_ = name, std::string("--") + name, name);
    read_recipe("precision");
    read_recipe("mixed-precision");
    read_narrow();
    read_gradients();
    return std::move(read_);
  }

 private:
  void said(const std::string& matmuls, const std::string& words, const char* name) {
    read_.matmuls = matmuls;
    read_.matmuls_from = words + ", " + s_.place(name);
  }

  // "bf16_with_fp8_current_scaling_mixed" of Megatron-Bridge, "bf16-mixed" and 16 of NeMo.
  void read_recipe(const char* name) {
    const auto recipe = format_of(s_, name);
    if (!recipe) return;
    const auto has = [&](const char* word) { return recipe->find(word) != std::string::npos; };
    const std::string wide = has("bf16")                                ? "bf16"
                             : has("fp16") || recipe->starts_with("16") ? "fp16"
                             : has("32")                                ? "fp32"
                                                                        : "";
    if (wide.empty() && !has("fp8") && !has("fp4"))
      return s_.refuse(name, std::string(name) + " is \"" + *recipe + "\"",
                       "expected bf16, fp16 or fp32 in it");
    if (!wide.empty()) wide_ = wide;
    const std::string words = std::string(name) == "precision" ? "precision" : "mixed_precision";
    said(has("nvfp4") || has("fp4") ? "nvfp4" : has("fp8") ? fp8_named(*recipe) : wide_, words, name);
  }

  void read_narrow() {
    const std::string recipe = s_.text("fp8-recipe").value_or("delayed");
    for (const char* name : {"fp8-format", "fp8"})
      if (format_of(s_, name)) said(fp8_named(recipe), std::string("--") + name, name);
    for (const char* name : {"fp4-format", "fp4"})
      if (format_of(s_, name)) said("nvfp4", std::string("--") + name, name);
  }

  // Arguments of --bf16 keep and reduce gradients in 32 bits unless they say otherwise; those of --fp16 have
  // the format of the weights unless they do.
  void read_gradients() {
    const auto keep = [&](const std::string& format, const char* name) {
      read_.gradients = wide_ == "fp32" ? "fp32" : format;
      if (s_.has(name)) read_.gradients_from = "--" + std::string(name) + ", " + s_.place(name);
    };
    if (wide_ == "fp16") {
      keep(s_.is_true("accumulate-allreduce-grads-in-fp32") ? "fp32" : "fp16",
           s_.has("accumulate-allreduce-grads-in-fp32") ? "accumulate-allreduce-grads-in-fp32" : "fp16");
    }
    s_.use("accumulate-allreduce-grads-in-fp32");
    if (s_.has("grad-reduce-in-fp32"))
      keep(s_.is_true("grad-reduce-in-fp32") ? "fp32" : wide_, "grad-reduce-in-fp32");
    if (s_.is_true("grad-reduce-in-bf16")) keep("bf16", "grad-reduce-in-bf16");
  }

  Configuration& s_;
  MegatronPrecision read_;
  std::string wide_ = "fp32";
};

}  // namespace

MegatronPrecision read_megatron_precision(Configuration& settings) {
  return PrecisionReader(settings).read();
}

}  // namespace podsim
