// Scenario files in, validated specs out; every problem at once, each with its place.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "proto/catalog/catalog.h"
#include "proto/text/override.h"
#include "scheduler/question/spec.h"

namespace podsim {

struct LoadResult {
  std::optional<Spec> spec;  // present when there are no problems
  std::vector<Problem> problems;
  std::vector<Problem> warnings;  // worth telling; the spec is usable
};

// `text` is text format, JSON (suffix .json, or the first non-blank character is '{') or binary (suffix .pb,
// or it has NUL bytes). ENSURES: at most 20 problems; never throws, never crashes, whatever the bytes;
// O(size) with size capped at 4 MiB.
LoadResult load_scenario(const std::string& file_name, const std::string& text, const Catalog& catalog,
                         const std::vector<Override>& overrides);

// Reads the file first; a missing or unreadable file is a problem.
LoadResult load_scenario_file(const std::string& path, const Catalog& catalog,
                              const std::vector<Override>& overrides);

}  // namespace podsim
