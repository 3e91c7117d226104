// What podsim knows of a model by its sizes, and what it does not run.
#pragma once

#include <string>

#include "ingest/launchers/scenario_text.h"
#include "ingest/launchers/settings.h"
#include "workload/job/model.h"

namespace podsim {

// What a configuration can say of a model.
ModelSizes sizes_of_model(const Model& model);

// The model of the catalogue that add_model() would write with these sizes, but for numbers that no figure
// asks for; empty where there is none. REQUIRES: no size is missing.
std::string name_in_catalogue(const ModelSizes& sizes);

// The key of a config.json that says that layers differ from each other, or that some have no attention;
// empty where none does.
std::string other_layers(const Configuration& settings);

// Whether models of this type are encoders, whose every token sees all others.
bool is_encoder(const std::string& model_type);

}  // namespace podsim
