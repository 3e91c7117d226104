// Which words of a StableHLO module are operations.
#pragma once

#include <string_view>

namespace podsim::stablehlo {

// Of StableHLO, CHLO or Shardy; words of Shardy that annotate are none.
bool is_operation(std::string_view word);

// Of those, what sends between devices: all_gather and the like.
bool is_collective(std::string_view word);

}  // namespace podsim::stablehlo
