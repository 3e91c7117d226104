// By the words of Megatron's arguments.py and its configuration of transformers.
#include "ingest/launchers/megatron_layers.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/launchers/attention_windows.h"
#include "ingest/launchers/layer_pattern.h"
#include "ingest/launchers/megatron_plan.h"

namespace podsim {
namespace {

std::string argument_at(const Configuration& settings, const std::string& name) {
  return "--" + name + ", " + settings.place(name);
}

// Saved recipes have keys that say nothing.
bool says_something(Configuration& settings, const std::string& name) {
  const std::string text = settings.text(name).value_or("");
  return !text.empty() && text != "None" && text != "none";
}

// The argument that asks for layers of a kind; empty where none does.
std::string asking(Configuration& settings, std::initializer_list<const char*> names) {
  std::string first;
  for (const char* name : names)
    if (says_something(settings, name) && first.empty()) first = name;
  return first;
}

// Sizes of layers that a recipe has whether or not the model has such layers.
void use_sizes_of_other_layers(Configuration& settings) {
  std::vector<std::string> names;
  for (const Setting& setting : settings.all())
    for (const std::string_view beginning : {"mamba-", "hybrid-", "linear-"})
      if (setting.name.starts_with(beginning)) names.push_back(setting.name);
  for (const std::string& name : names) settings.use(name);
}

class OtherLayers {
 public:
  OtherLayers(Configuration& settings, const Stated& stated, MegatronPlan& plan)
      : s_(settings), stated_(stated), plan_(plan) {}

  void read() {
    const bool hybrid = s_.is_true("is-hybrid-model");
    const std::string pattern = asking(s_, {"hybrid-override-pattern", "hybrid-layer-pattern"});
    if (hybrid || !pattern.empty()) refuse_layers("layers of Mamba", hybrid ? "is-hybrid-model" : pattern);
    if (const auto name =
            asking(s_, {"experimental-attention-variant", "linear-attention-type", "linear-attention-freq"});
        !name.empty())
      refuse_layers("other attention than that of transformers", name);
    if (const auto name =
            asking(s_, {"heterogeneous-layers-config-path", "heterogeneous-layers-config-encoded-json"});
        !name.empty())
      refuse_layers("layers of several shapes", name);
    s_.use("heterogeneous-block-specs");
    use_sizes_of_other_layers(s_);
    read_specification();
    if (s_.is_true("add-qkv-bias") && !plan_.model.biases)
      plan_.not_simulated.emplace_back("biases of queries, keys and values alone (--add-qkv-bias)");
    read_windows();
  }

 private:
  void refuse_layers(const std::string& what, const std::string& name) {
    if (!stated_.model.empty()) return;
    plan_.not_run.push_back(
        {"a model without " + what + " (" + argument_at(s_, name) + "), which podsim does not run",
         "--model"});
  }

  // Of a module and a function in it, which make the layers.
  void read_specification() {
    if (!says_something(s_, "spec")) return;
    const std::string text = s_.text("spec").value_or("");
    const auto has = [&](const char* word) { return text.find(word) != std::string::npos; };
    if (has("mamba") || has("hybrid")) return refuse_layers("layers of Mamba", "spec");
    if (!has("gpt_layer_specs") && !has("gpt_builders") && text != "local")
      plan_.not_simulated.push_back("layers of one's own (--spec " + text +
                                    "): those of a transformer are in their place");
  }

  // "(128,0)", "128,0": how far a query sees back and ahead, -1 without end. It sees itself too.
  void read_windows() {
    const bool windowed = says_something(s_, "window-size");
    const bool some = says_something(s_, "window-attn-skip-freq");
    if (!windowed || is_open("window-size") || (some && is_open("window-attn-skip-freq"))) return;
    const std::string text = *s_.text("window-size");
    std::int64_t back = 0;
    const std::size_t begin = std::min(text.find_first_of("-0123456789"), text.size());
    const auto [end, error] = std::from_chars(text.data() + begin, text.data() + text.size(), back);
    constexpr std::int64_t kMost = 100'000'000;
    if (error != std::errc() || back < -1 || back >= kMost)
      return s_.refuse("window-size", "window-size is \"" + text + "\"",
                       "expected tokens back and ahead, as in 127,0");
    if (back == -1) return;
    const auto period = some ? period_of_full_layers() : std::optional<std::int64_t>(0);
    if (!period) return;
    plan_.model.attention_window = back + 1;
    plan_.model.from["attention_window"] = argument_at(s_, "window-size");
    if (*period == 0) return;
    plan_.model.full_every = *period;
    plan_.model.from["full_every"] = argument_at(s_, "window-attn-skip-freq");
  }

  // A variable that nobody sets, which is needed.
  bool is_open(const std::string& name) {
    const std::string text = s_.text(name).value_or("");
    if (text.find('$') == std::string::npos) return false;
    s_.needs.push_back({name + ": " + text, "--set " + name + "=VALUE"});
    return true;
  }

  // 0 = all layers have the window; nothing where none has, or where they lie in no period, which is told.
  std::optional<std::int64_t> period_of_full_layers() {
    const std::string name = "window-attn-skip-freq", text = *s_.text(name);
    if (text.find_first_not_of("0123456789") == std::string::npos) {
      const auto every = s_.integer(name);
      if (every && (*every < 1 || *every > 10'000))
        s_.refuse(name, name + " is " + text, "expected 1 or more");
      return every.value_or(0) > 1 ? every : std::nullopt;
    }
    if (!plan_.model.layers) return std::nullopt;
    const auto windowed = layer_pattern(text, *plan_.model.layers);
    if (!windowed) {
      s_.refuse(name, name + " is \"" + text + "\"",
                "expected a number n, whose every n-th layer has no window, or a list of " +
                    std::to_string(*plan_.model.layers) + " numbers, 1 with a window and 0 without");
      return std::nullopt;
    }
    if (std::ranges::find(*windowed, true) == windowed->end()) return std::nullopt;
    const auto period = full_attention_period(*windowed);
    if (!period) refuse_layers("windows on layers in no period", name);
    return period;
  }

  Configuration& s_;
  const Stated& stated_;
  MegatronPlan& plan_;
};

}  // namespace

void read_megatron_layers(Configuration& settings, const Stated& stated, MegatronPlan& plan) {
  OtherLayers(settings, stated, plan).read();
}

}  // namespace podsim
