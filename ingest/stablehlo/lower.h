// StableHLO modules as HLO text before partitioning, annotations and manual regions included.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/stablehlo/module.h"
#include "proto/text/problem.h"

namespace podsim::stablehlo {

// A module as text of HLO, or why there is none.
struct Lowered {
  std::string name;     // may be empty
  std::string hlo;      // sharding={...} of GSPMD, shardy={[{x},{?}]} of Shardy
  Mesh mesh;            // the first that is named; empty where none is
  std::string refused;  // why there is no HLO; empty where there is
  std::optional<std::size_t> refused_at = std::nullopt;  // byte of the text, where it has a place
};

// The modules of a file. What has no HLO operation, or attributes that are not known, becomes a custom call
// of its name. Nothing, and problems, where read_modules refuses the file.
std::optional<std::vector<Lowered>> lower_modules(const std::string& file, std::string_view text,
                                                  std::vector<Problem>& problems);

}  // namespace podsim::stablehlo
