// Whether the types of operations follow from each other.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ingest/stablehlo/tokens.h"

namespace podsim::stablehlo {

// The first operation of a block, regions in it included, whose results do not follow from its operands and
// attributes, at its place; nothing where all do. The rules are those of HLO, by which the operation is
// lowered; operations without HLO of their own form are taken as they are. `open` is the brace of the block.
std::vector<Problem> type_problems(const std::string& file, std::string_view text, const Tokens& tokens,
                                   std::size_t open);

}  // namespace podsim::stablehlo
