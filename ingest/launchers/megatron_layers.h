// What arguments of Megatron-LM make of layers beside those of a plain transformer.
#pragma once

#include "ingest/imported/imported.h"
#include "ingest/launchers/settings.h"

namespace podsim {

struct MegatronPlan;

// Windows of attention go into the model of the plan. Layers of other kinds make no scenario unless the user
// names a model; biases of queries, keys and values alone are told not to be simulated. What is no window is
// a problem of the settings. REQUIRES: the number of layers and the biases of the plan are read.
void read_megatron_layers(Configuration& settings, const Stated& stated, MegatronPlan& plan);

}  // namespace podsim
