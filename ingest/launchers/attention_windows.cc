// Layer by layer, and then the period that says the same.
#include "ingest/launchers/attention_windows.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "engine/check.h"
#include "ingest/launchers/settings.h"

namespace podsim {
namespace {

// What configuration_*.py of transformers 4.57 takes for keys that a file leaves out.
struct WindowDefaults {
  std::string_view model_type;
  std::int64_t window = 0;       // 0 = none
  std::int64_t period = 0;       // of layers, the last of which is full; 0 = all have the window
  bool use = true;               // without use_sliding_window
  std::int64_t full_before = 0;  // max_window_layers: those before have no window
};

constexpr std::array kWindowDefaults = {
    WindowDefaults{"mistral", 4096},
    WindowDefaults{"gemma2", 4096, 2},
    WindowDefaults{"gemma3_text", 4096, 6},
    WindowDefaults{"cohere2", 4096, 4},
    WindowDefaults{"exaone4", 4096, 4},
    WindowDefaults{"olmo3", 4096, 4},
    WindowDefaults{"gpt_oss", 128, 2},
    WindowDefaults{"qwen2", 4096, 0, false, 28},
    WindowDefaults{"qwen2_moe", 4096, 0, false, 28},
    WindowDefaults{"qwen2_vl", 4096, 0, false, 80},
    WindowDefaults{"qwen2_vl_text", 4096, 0, false, 80},
    WindowDefaults{"qwen2_5_vl", 4096, 0, false, 80},
    WindowDefaults{"qwen2_5_vl_text", 4096, 0, false, 80},
    WindowDefaults{"qwen3", 4096, 0, false, 28},
    WindowDefaults{"qwen3_moe", 4096, 0, false, 28},
    WindowDefaults{"mimo", 4096, 0, false, 28},
    WindowDefaults{"smollm3", 0, 0, false, 28},
};

WindowDefaults window_defaults(const std::string& model_type) {
  const auto found = std::ranges::find(kWindowDefaults, model_type, &WindowDefaults::model_type);
  return found == kWindowDefaults.end() ? WindowDefaults{} : *found;
}

// The stated period of layers, of which those marked have the window: 4, or "LLLG" as EXAONE writes it.
std::vector<bool> stated_period(ModelKeys& keys) {
  for (const char* name : {"sliding_window_pattern", "_sliding_window_pattern"}) {
    if (!keys.stated(name)) continue;
    std::vector<bool> period;
    const std::string text = keys.text(name).value_or("");
    if (!text.empty() && text.find_first_not_of("LG") == std::string::npos) {
      for (const char letter : text) period.push_back(letter == 'L');
      return period;
    }
    constexpr std::size_t kMostDigits = 4;
    if (!text.empty() && text.size() <= kMostDigits &&
        text.find_first_not_of("0123456789") == std::string::npos) {
      const Whole length = keys.whole({name}, "full_every");
      if (length && *length >= 1) {
        period.assign(static_cast<std::size_t>(*length), true);
        period.back() = false;
        return period;
      }
    }
    keys.refuse(name, std::string(name) + " is \"" + text + "\"",
                "expected a number of layers, the last of which attends to all, or letters: LLLG");
  }
  return {};
}

// Of each layer whether it has the window; `from` gets what says so.
std::vector<bool> windowed_layers(ModelKeys& keys, const WindowDefaults& defaults, std::size_t layers,
                                  std::string& from) {
  std::vector<bool> windowed(layers, true);
  const std::vector<bool> period = stated_period(keys);
  PODSIM_CHECK(defaults.period >= 0 && defaults.full_before >= 0, "families count layers from 0 on");
  const Whole full_before = keys.whole({"max_window_layers"}, "full_before");
  if (const auto types = keys.list("layer_types"); !types.empty()) {
    if (types.size() != layers)
      keys.refuse(
          "layer_types",
          "layer_types has " + std::to_string(types.size()) + " layers, the model " + std::to_string(layers),
          "expected one type for each of num_hidden_layers");
    for (std::size_t i = 0; i < std::min(types.size(), layers); ++i)
      windowed[i] = types[i] == "sliding_attention";
    from = "layer_types";
  } else if (!period.empty()) {
    for (std::size_t i = 0; i < layers; ++i) windowed[i] = period[i % period.size()];
    from = keys.stated("sliding_window_pattern") ? "sliding_window_pattern" : "_sliding_window_pattern";
  } else if (defaults.period > 0) {
    for (std::size_t i = 0; i < layers; ++i)
      windowed[i] = (i + 1) % static_cast<std::size_t>(defaults.period) != 0;
  } else {
    const auto full = static_cast<std::size_t>(full_before.value_or(defaults.full_before));
    std::fill_n(windowed.begin(), std::min(full, layers), false);
    from = "max_window_layers";
  }
  return windowed;
}

}  // namespace

AttentionWindows read_attention_windows(ModelKeys& keys, const std::string& model_type, Whole layers) {
  constexpr std::int64_t kMostLayers = 10'000;
  AttentionWindows found;
  const WindowDefaults defaults = window_defaults(model_type);
  for (const std::string& type : keys.list("layer_types")) {
    found.layers_of[type] += 1;
    if (type != "full_attention" && type != "sliding_attention" && found.not_run.empty())
      found.not_run = "layers of " + type;
  }
  const bool use = keys.flag("use_sliding_window", defaults.use);
  Whole window = keys.whole({"sliding_window"}, "attention_window");
  if (keys.setting("sliding_window") == nullptr && defaults.window > 0) window = defaults.window;
  if (!layers || *layers > kMostLayers) return found;
  std::string from;
  const std::vector<bool> windowed = windowed_layers(keys, defaults, static_cast<std::size_t>(*layers), from);
  if (!use || window.value_or(0) == 0 || std::ranges::find(windowed, true) == windowed.end()) return found;
  found.window = window;
  if (!found.not_run.empty()) return found;
  const Whole period = full_attention_period(windowed);
  if (!period)
    found.not_run =
        "windows on layers in no period (" +
        (keys.stated(from) ? keys.origin(from) : "as the classes of " + model_type + " have them") + ")";
  if (period.value_or(0) == 0) return found;
  found.full_every = period;
  if (keys.stated(from)) keys.say("full_every", from);
  return found;
}

Whole full_attention_period(const std::vector<bool>& windowed) {
  const auto full = std::ranges::find(windowed, false);
  if (full == windowed.end()) return 0;
  const std::int64_t period = full - windowed.begin() + 1;
  for (std::size_t i = 0; i < windowed.size(); ++i)
    if (windowed[i] != ((static_cast<std::int64_t>(i) + 1) % period != 0)) return std::nullopt;
  return period;
}

}  // namespace podsim
