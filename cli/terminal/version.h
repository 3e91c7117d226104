// Which podsim this is.
#pragma once

#include <string>

namespace podsim {

std::string version();  // "0.1.0"

// The commit that it was built from, "063e462", with a + when the sources differ from it; empty when they lie
// in no repository of their own.
std::string commit();

}  // namespace podsim
