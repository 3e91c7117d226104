// A scenario of the library as the loaders take it.
#pragma once

#include <vector>

#include "api/podsim/podsim.h"
#include "proto/text/override.h"

namespace podsim {

std::vector<Override> overrides_of(const Scenario& scenario);

}  // namespace podsim
