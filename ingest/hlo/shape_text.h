// Shapes as HLO texts write them.
#pragma once

#include <cstdint>
#include <string_view>

#include "ingest/hlo/scanner.h"
#include "ingest/hlo/shape.h"

namespace podsim::hlo {

// "bf16[8,128]{1,0:T(8,128)(2,1)}", or a tuple of such. Throws a ParseError where none stands there.
Shape read_shape(Scanner& scan);

// With which the text begins; -1 where none does, or one that is too large.
std::int64_t leading_number(std::string_view digits);

}  // namespace podsim::hlo
