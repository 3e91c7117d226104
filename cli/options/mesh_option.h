// --mesh data=16,model=8
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace CLI {
class App;
}

namespace podsim {

void add_mesh_option(CLI::App& verb, std::vector<std::string>& axes);

// Axes major to minor; nothing where one has no name or no size, which is said.
std::optional<std::vector<std::pair<std::string, std::int64_t>>> mesh_axes(
    const std::vector<std::string>& axes);

}  // namespace podsim
