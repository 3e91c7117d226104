// JSON text as a tree of values that know where they stand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "proto/text/document.h"

namespace podsim {

// What a file of cases may hold, so that a hostile one fails fast.
constexpr std::size_t kMostJsonBytes = 32u << 20;  // of text
constexpr std::int32_t kMostJsonValues = 4'000'000;

enum class JsonKind : std::uint8_t { kNull, kBoolean, kNumber, kString, kArray, kObject };

// Values in the order of the text: those inside of value v are v + 1 .. values[v].end - 1.
struct JsonTree {
  struct Value {
    JsonKind kind = JsonKind::kNull;
    std::uint32_t offset = 0;      // of the value's first byte; of a string, its opening quote
    std::uint32_t key_offset = 0;  // of its key's opening quote, inside an object
    std::int32_t key = -1;         // in `texts`; -1 inside an array
    std::int32_t text = -1;        // of a string, in `texts`
    std::int32_t end = 0;
    double number = 0;  // of a boolean 0 or 1
  };
  std::vector<Value> values;
  std::vector<std::string> texts;

  const Value& at(std::int32_t value) const { return values[value]; }
  std::int32_t first_inside(std::int32_t value) const { return value + 1; }
  std::int32_t after(std::int32_t value) const { return values[value].end; }
  std::int32_t count_inside(std::int32_t value) const;
};

// False when the text is no JSON, nested deeper than kMaxDepth or has more than `most_values` values; the
// document then has the problem.
bool parse_json_tree(Document& document, std::int32_t most_values, JsonTree& tree);

}  // namespace podsim
