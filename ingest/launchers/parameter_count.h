// How many parameters the classes of the transformers library make of the sizes of a model.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ingest/launchers/model_families.h"
#include "ingest/launchers/scenario_text.h"

namespace podsim {

struct ParameterQuestion {
  const ModelSizes& sizes;
  const ModelFamily& family;
  int norms = 2;  // of a layer
  bool attention_bias = false, mlp_bias = false;
  std::vector<bool> has_experts;  // by number of the layer
};

struct ParameterCount {
  std::int64_t all = 0, of_a_token = 0;
};

// Without the modules that predict further tokens, as such models are named. Nothing for sizes that no model
// has. REQUIRES: no size is missing.
std::optional<ParameterCount> parameter_count(const ParameterQuestion& question);

}  // namespace podsim
