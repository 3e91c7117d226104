// Whether the shapes of an HLO module agree with each other, as the compiler that wrote it has made sure.
#pragma once

#include <string>

#include "ingest/hlo/module.h"

namespace podsim::hlo {

// Stops with a ParseError at the first result that does not follow from its operands: a digit of it was
// changed. Operations whose rules need more than a glance are taken as they are. REQUIRES: calls and
// attributes are there.
void check_shapes(const std::string& file, const Module& module);

}  // namespace podsim::hlo
