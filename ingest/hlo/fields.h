// Attributes of HLO instructions that are lists and windows, and sums of counts that no text can overflow.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "ingest/hlo/module.h"

namespace podsim::hlo {

// {1,2} as numbers; empty where something else stands there.
std::vector<std::int64_t> list_of(std::string_view text);

// One dimension of window={size=3x3 stride=2x2 pad=1_1x1_1 lhs_dilate=1x1 rhs_dilate=1x1}.
struct WindowDimension {
  std::int64_t size = 1, stride = 1, pad_low = 0, pad_high = 0;
  std::int64_t base_dilation = 1, window_dilation = 1;
};
std::vector<WindowDimension> window_of(const Instruction& instruction);

// The number behind `key` in a dictionary, "attn_heads = 64 : i64" or "\"m\":\"64\""; -1 where there is none.
std::int64_t number_of(std::string_view dictionary, std::string_view key);

// Of counts that are not negative; the largest number where the result is larger.
std::int64_t saturating_add(std::int64_t a, std::int64_t b);
std::int64_t saturating_multiply(std::int64_t a, std::int64_t b);

}  // namespace podsim::hlo
