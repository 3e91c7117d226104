// Every value of a JSON text in tables that people read: a list of objects is one table, not a line for each
// value.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "proto/pages/json_digits.h"

namespace podsim {

// A list of objects: entries by figures. The key of a value is that of its entry and then that of its figure.
struct ValueList {
  std::string list;                  // "operations", empty = the whole text
  std::vector<std::string> entries;  // "operations[0]"
  std::vector<std::string> figures;  // ".gflop"
  std::map<std::pair<std::size_t, std::size_t>, const JsonValue*> at =
      {};  // by (entry, figure), where there is one
};

struct ValueTables {
  std::vector<const JsonValue*> single;  // in no object of a list
  std::vector<ValueList> lists;          // each value of an object in the innermost of its lists
};

// In the order of the text. REQUIRES: the values outlive the tables.
ValueTables value_tables(std::span<const JsonValue> values);

}  // namespace podsim
