// How many parameters the classes of the transformers library make of the sizes of a model.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "ingest/launchers/model_families.h"
#include "ingest/launchers/scenario_text.h"

namespace podsim {

struct ParameterQuestion {
  const ModelSizes& sizes;
  const ModelFamily& family;
  int norms = 2;  // of a layer
  bool attention_bias = false, mlp_bias = false;
  bool corrects_router = false;        // one more number for each expert
  bool counts_from_zero = false;       // the first layer is the 0th when every n-th has experts
  std::set<std::string> dense_layers;  // numbers of layers without experts
};

struct ParameterCount {
  std::int64_t all = 0, of_a_token = 0;
};

// Without the modules that predict further tokens, as such models are named. Nothing for sizes that no model
// has. REQUIRES: no size is missing.
std::optional<ParameterCount> parameter_count(const ParameterQuestion& question);

}  // namespace podsim
