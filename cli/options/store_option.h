// --store FILE: where verbs keep and find simulated steps.
#pragma once

#include <memory>
#include <string>

#include "planner/store/store.h"

namespace CLI {
class App;
}

namespace podsim {

void add_store_option(CLI::App& verb, std::string& path);

// Of results: two builds of one name that may simulate differently have different ones.
std::string model_version();

// Nothing where the path is empty.
std::unique_ptr<Store> open_result_store(const std::string& path);

}  // namespace podsim
