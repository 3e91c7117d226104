// Types of tensors as MLIR writes them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace podsim::stablehlo {

struct TensorType {
  std::vector<std::int64_t> sizes;  // 1 where a size is not known until it runs
  std::string element;
  bool has_open_size = false;
};

// "8192x784xf32"; nothing where it is none, or where the element type is unknown: then `unknown` is its name.
std::optional<TensorType> tensor_type(std::string_view text, std::string& unknown);

// The nearest type that there is; empty where none is near.
std::string nearest_element_type(const std::string& name);

std::int64_t elements_of(const TensorType& type);

}  // namespace podsim::stablehlo
