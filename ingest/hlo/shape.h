// Types of HLO values: arrays of an element type, and tuples of types.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace podsim::hlo {

// Bits of an element: "bf16" has 16. Nothing for a name that is no element type; 0 for token and opaque.
std::optional<int> element_bits(std::string_view type);

// The element type that differs from a mistyped one in a single character, or empty.
std::string nearest_element_type(std::string_view type);

struct Shape {
  std::string type;  // of an array; empty for a tuple
  int bits = 0;      // that an element takes in memory: 4-bit types are packed only where so said
  std::vector<std::int64_t> dimensions;
  std::vector<Shape> leaves;  // elements of a tuple, which may be tuples

  bool is_tuple() const { return type.empty(); }
  std::int64_t elements() const;  // of an array; of a tuple all together
  std::int64_t bytes() const;     // of all arrays in it
};

}  // namespace podsim::hlo
