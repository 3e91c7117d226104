// The look of pictures: colours and letters as a style sheet, hatches as patterns.
#pragma once

#include <span>
#include <string>

#include "report/pictures/roles.h"

namespace podsim {

std::string style_of(std::span<const Role> roles);

// Definitions that the style sheet refers to.
std::string patterns_of(std::span<const Role> roles);

}  // namespace podsim
