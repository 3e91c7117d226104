// Which layers of a config.json attend within a window.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ingest/launchers/model_keys.h"

namespace podsim {

// What the layers of a model attend to.
struct AttentionWindows {
  std::optional<std::int64_t> window, full_every;  // as a model of the catalogue has them
  std::map<std::string, std::int64_t> layers_of;   // [type of `layer_types`]
  // What no model of the catalogue has, in words that follow "a model without"; empty where there is nothing.
  std::string not_run;
};

// Layers that contradict each other are problems of the settings.
AttentionWindows read_attention_windows(ModelKeys& keys, const std::string& model_type,
                                        std::optional<std::int64_t> layers);

// n where every n-th layer attends to all and the others within a window, 0 where all have the window;
// nothing where neither holds.
std::optional<std::int64_t> full_attention_period(const std::vector<bool>& windowed);

}  // namespace podsim
