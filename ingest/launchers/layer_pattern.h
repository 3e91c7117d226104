// Which layers have experts, as --moe-layer-freq of Megatron-LM says it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace podsim {

// A number n: every n-th layer, from the first one on. Else a list in the words of Python, "([0]*3+[1]*58)",
// with a number for each layer. Nothing where it is neither, or has other layers than `layers`.
std::optional<std::vector<bool>> layer_pattern(const std::string& text, std::int64_t layers);

}  // namespace podsim
