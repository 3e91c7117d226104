// Under which licences podsim and what it is made of stand.
#pragma once

#include <string>

namespace podsim {

// podsim, the libraries in the binary, and what its pages draw with.
std::string licences();

}  // namespace podsim
