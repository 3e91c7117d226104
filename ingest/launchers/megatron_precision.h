// What arguments of Megatron-LM and recipes of NeMo say of number formats.
#pragma once

#include <string>

#include "ingest/launchers/settings.h"

namespace podsim {

struct MegatronPrecision {
  std::string matmuls = "fp32", matmuls_from;      // as podsim names recipes; where it is said
  std::string gradients = "fp32", gradients_from;  // in which they are reduced
};

// What is no format is a problem of the settings.
MegatronPrecision read_megatron_precision(Configuration& settings);

}  // namespace podsim
