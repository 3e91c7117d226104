// Axes out of words.
#include "cli/options/mesh_option.h"

#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "engine/number_text.h"

namespace podsim {

void add_mesh_option(CLI::App& verb, std::vector<std::string>& axes) {
  verb.add_option("--mesh", axes,
                  "Device mesh of a module that no compiler has partitioned, major to minor, where it names "
                  "none, or instead of its own")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("NAME=SIZE,...");
}

std::optional<std::vector<std::pair<std::string, std::int64_t>>> mesh_axes(
    const std::vector<std::string>& axes) {
  constexpr std::int64_t kMostDevices = 1 << 20;
  constexpr std::size_t kMostAxes = 15;
  std::vector<std::pair<std::string, std::int64_t>> mesh;
  std::int64_t devices = 1;
  for (const std::string& text : axes) {
    const std::size_t equals = text.find('=');
    const bool named = equals != std::string::npos && equals > 0;
    const std::int64_t size = named ? whole_text_as<std::int64_t>(text.substr(equals + 1)).value_or(0) : 0;
    const std::string name = text.substr(0, equals);
    const bool again =
        std::any_of(mesh.begin(), mesh.end(), [&](const auto& axis) { return axis.first == name; });
    if (size < 1 || size > kMostDevices || devices * size > kMostDevices || again ||
        mesh.size() == kMostAxes) {
      spdlog::error(
          "--mesh \"{}\": expected axes of other names and their sizes, such as data=16,model=8, "
          "15 axes and {} devices at most",
          text, kMostDevices);
      return std::nullopt;
    }
    devices *= size;
    mesh.emplace_back(name, size);
  }
  return mesh;
}

}  // namespace podsim
