// How Megatron-LM deals layers out over the stages of a pipeline and their chunks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ingest/launchers/settings.h"

namespace podsim {

struct MegatronPlan;

// Of "Et*3|(tt|)*29,m|L", where bars part stages, a bracket or a letter is repeated, and t is a layer: layers
// of each stage. Nothing where that is no layout, or one of more than a million letters.
std::optional<std::vector<std::int64_t>> layout_layers(const std::string& layout);

// Layers of each piece of the model, in its order; empty where all have as many. What does not divide is a
// problem of the settings. REQUIRES: sizes, stages and chunks of the plan are read.
std::vector<std::int64_t> megatron_chunk_layers(Configuration& settings, const MegatronPlan& plan);

}  // namespace podsim
