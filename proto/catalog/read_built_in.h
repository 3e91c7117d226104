// Tables that are part of the binary.
#pragma once

#include <string>

#include "engine/check.h"
#include "proto/catalog/builtin_catalog.h"
#include "proto/text/problem.h"

namespace podsim {

// What `read(file name, text)` makes of the table. Its result has `problems`; one would be a mistake of the
// program.
template <class Read>
auto read_built_in(const CatalogFile& file, const Read& read) {
  auto table = read(std::string(file.name), std::string(file.text));
  PODSIM_CHECK(table.problems.empty(), "built-in table: " + format_problem(table.problems.front()));
  return table;
}

}  // namespace podsim
