// The table of element types, and sizes.
#include "ingest/hlo/shape.h"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>

#include "engine/words.h"

namespace podsim::hlo {
namespace {

// XLA, primitive_util and shape_util: one byte holds a pred, and an element of less than a byte unless it is
// packed.
constexpr std::array kElementTypes = std::to_array<ElementType>({{"pred", 8},       {"s1", 8},
                                                                 {"s2", 8},         {"s4", 8},
                                                                 {"s8", 8},         {"s16", 16},
                                                                 {"s32", 32},       {"s64", 64},
                                                                 {"u1", 8},         {"u2", 8},
                                                                 {"u4", 8},         {"u8", 8},
                                                                 {"u16", 16},       {"u32", 32},
                                                                 {"u64", 64},       {"f16", 16},
                                                                 {"bf16", 16},      {"f32", 32},
                                                                 {"f64", 64},       {"f8e3m4", 8},
                                                                 {"f8e4m3", 8},     {"f8e4m3fn", 8},
                                                                 {"f8e4m3fnuz", 8}, {"f8e5m2", 8},
                                                                 {"f8e5m2fnuz", 8}, {"f8e4m3b11fnuz", 8},
                                                                 {"f8e8m0fnu", 8},  {"f4e2m1fn", 8},
                                                                 {"c64", 64},       {"c128", 128},
                                                                 {"token", 0},      {"opaque", 0}});

}  // namespace

std::optional<ElementType> element_type(std::string_view name) {
  const auto found = std::ranges::find(kElementTypes, name, &ElementType::name);
  if (found == kElementTypes.end()) return std::nullopt;
  return *found;
}

std::string nearest_element_type(std::string_view type) {
  for (const ElementType& known : kElementTypes) {
    if (known.name.size() != type.size()) continue;
    const int differ = std::inner_product(type.begin(), type.end(), known.name.begin(), 0, std::plus<>(),
                                          std::not_equal_to<>());
    if (differ == 1) return std::string(known.name);
  }
  return "";
}

std::int64_t Shape::elements() const {
  std::int64_t count = is_tuple() ? 0 : 1;
  for (const std::int64_t length : dimensions) count *= length;
  for (const Shape& leaf : leaves) count += leaf.elements();
  return count;
}

std::int64_t Shape::bytes() const {
  if (!is_tuple()) return (elements() * bits + 7) / 8;
  std::int64_t sum = 0;
  for (const Shape& leaf : leaves) sum += leaf.bytes();
  return sum;
}

bool alike(const Shape& a, const Shape& b) {
  return a.type == b.type && a.dimensions == b.dimensions && std::ranges::equal(a.leaves, b.leaves, alike);
}

std::string shape_words(const Shape& shape) {
  if (shape.is_tuple()) return "a tuple of " + std::to_string(shape.leaves.size());
  return std::string(shape.type) + "[" + separated_numbers(shape.dimensions, ",") + "]";
}

}  // namespace podsim::hlo
