// Sharding cases in, as JSON; every problem at once, each with its place.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "proto/text/problem.h"
#include "workload/cases/shard_case.h"

namespace podsim {

struct LoadShardCasesResult {
  std::optional<std::vector<ShardCase>> cases;  // present when there are no problems
  std::vector<Problem> problems;
  // Where there are some: all cases up to the last that was looked at, those with problems as Unplanned.
  std::vector<ShardCase> readable = {};
};

// {"format": "gspmd-cases/1", "cases": [...]}; docs/reference/sharding-cases.md lists the keys of each
// operation.
// ENSURES: at most 20 problems; never throws, never crashes; at most 32 MiB of text, 4 million values, 10,000
// cases, meshes of 6 axes and 2^20 devices, tensors of 12 dimensions and 2^44 elements.
LoadShardCasesResult load_shard_cases(const std::string& file_name, const std::string& text);

// Reads the file first, standard input where it is "-"; a missing or unreadable file is a problem.
LoadShardCasesResult load_shard_cases_file(const std::string& path);

}  // namespace podsim
