// Meshes of Shardy where they stand as text of an attribute, which compilers that know no Shardy pass on.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ingest/stablehlo/module.h"

namespace podsim::stablehlo {

// Of "{none = #sdy.mesh<[]>, mesh = #sdy.mesh<[\22x\22=2]>}"; nothing where an axis has no size.
std::optional<std::vector<std::pair<std::string, Mesh>>> meshes_in(std::string_view text);

}  // namespace podsim::stablehlo
