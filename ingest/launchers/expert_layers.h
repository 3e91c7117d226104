// Which layers of a config.json have experts.
#pragma once

#include <cstdint>
#include <vector>

#include "ingest/launchers/model_keys.h"
#include "ingest/launchers/scenario_text.h"

namespace podsim {

// By number of the layer. The numbers that say so are left in `experts`, as they are written.
std::vector<bool> read_expert_layers(ModelKeys& keys, std::int64_t layers, ModelSizes::Experts& experts);

// Says them as a model of the catalogue does: some dense layers, and then every n-th with experts. False
// where that cannot be said.
bool place_experts(const std::vector<bool>& has_experts, ModelSizes::Experts& experts);

}  // namespace podsim
