// StableHLO modules out of text.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/stablehlo/module.h"
#include "proto/text/problem.h"

namespace podsim::stablehlo {

// All modules of a file. Nothing, and problems with line and column, where brackets do not match, a type is
// unknown, a value or a function is not defined, functions call each other in a circle, or there is no
// function.
std::optional<std::vector<Module>> read_modules(const std::string& file, std::string_view text,
                                                std::vector<Problem>& problems);

}  // namespace podsim::stablehlo
