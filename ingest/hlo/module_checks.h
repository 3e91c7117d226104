// What holds in every HLO module that can be read.
#pragma once

#include <string>

#include "ingest/hlo/module.h"

namespace podsim::hlo {

// Whatever is called exists, nothing calls itself, and who takes part in each collective can be told. The
// first that does not hold is thrown as a ParseError with its line in `file`. O(instructions).
void check_module(const std::string& file, const Module& module);

}  // namespace podsim::hlo
