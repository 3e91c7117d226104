// The values of a JSON text, with the digits that it has.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace podsim {

struct JsonValue {
  std::string key;   // "memory_by_stage_gib[1].total"
  std::string text;  // of a number its digits, of a string what it says
  bool number = false;
};

// All that are no objects or lists, in their order. REQUIRES: the text is JSON.
std::vector<JsonValue> json_values(const std::string& json);

}  // namespace podsim
