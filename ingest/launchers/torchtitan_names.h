// What podsim calls the models and schedules of torchtitan.
#pragma once

#include <string>

namespace podsim {

// Of the catalogue; empty where it has none.
std::string torchtitan_model(const std::string& name, const std::string& flavor);

// Of a pipeline, for one of PyTorch, whose names have no case; empty where there is none.
std::string torchtitan_schedule(std::string name);

}  // namespace podsim
