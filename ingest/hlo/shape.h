// Types of HLO values: arrays of an element type, and tuples of types.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/hlo/short_list.h"

namespace podsim::hlo {

// A row of the table of element types.
struct ElementType {
  std::string_view name;  // for as long as the program runs
  int bits;               // of an element: "bf16" has 16; 0 for token and opaque
};

// Nothing for a name that is no element type.
std::optional<ElementType> element_type(std::string_view name);

// The element type that differs from a mistyped one in a single character, or empty.
std::string nearest_element_type(std::string_view type);

// Of an array, a tuple, a token or what is opaque.
struct Shape {
  std::string_view type;  // name of an ElementType, of an array; empty for a tuple
  ShortList<std::int64_t, 2> dimensions;
  std::vector<Shape> leaves;  // elements of a tuple, which may be tuples
  int bits = 0;               // that an element takes in memory: 4-bit types are packed only where so said

  bool is_tuple() const { return type.empty(); }
  std::int64_t elements() const;  // of an array; of a tuple all together
  std::int64_t bytes() const;     // of all arrays in it
};

bool alike(const Shape& a, const Shape& b);   // type and dimensions, of all that is in them
std::string shape_words(const Shape& shape);  // "f32[8,128]", "a tuple of 2"

}  // namespace podsim::hlo
