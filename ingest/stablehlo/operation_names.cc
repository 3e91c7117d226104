// By the dialect before the name.
#include "ingest/stablehlo/operation_names.h"

#include <algorithm>
#include <array>

namespace podsim::stablehlo {

bool is_operation(std::string_view word) {
  constexpr std::array<std::string_view, 4> kAnnotations = {"sdy.mesh", "sdy.sharding",
                                                            "sdy.sharding_per_value", "sdy.sharding_rule"};
  return word.starts_with("stablehlo.") || word.starts_with("chlo.") ||
         (word.starts_with("sdy.") && std::ranges::find(kAnnotations, word) == kAnnotations.end());
}

bool is_collective(std::string_view word) {
  constexpr std::array<std::string_view, 8> kCollectives = {"stablehlo.all_gather",
                                                            "stablehlo.all_reduce",
                                                            "stablehlo.reduce_scatter",
                                                            "stablehlo.all_to_all",
                                                            "stablehlo.collective_permute",
                                                            "stablehlo.collective_broadcast",
                                                            "stablehlo.send",
                                                            "stablehlo.recv"};
  return std::ranges::find(kCollectives, word) != kCollectives.end();
}

}  // namespace podsim::stablehlo
