// Reads what arguments of Megatron-LM mean into a plan.
#pragma once

#include "ingest/launchers/megatron_plan.h"

namespace podsim {

// Contradictions are problems of the settings.
MegatronPlan read_megatron(Configuration& settings, const Stated& stated);

}  // namespace podsim
