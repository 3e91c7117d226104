// What podsim knows of a model by its sizes, and what it does not run.
#pragma once

#include <string>

#include "ingest/launchers/scenario_text.h"
#include "ingest/launchers/settings.h"

namespace podsim {

// The model of the catalogue with these sizes; empty where there is none. REQUIRES: no size is missing.
std::string name_in_catalogue(const ModelSizes& sizes);

// The key of a config.json that says that layers differ from each other, or that some have no attention;
// empty where none does.
std::string other_layers(const Configuration& settings);

}  // namespace podsim
