// StableHLO modules with annotations of Shardy or GSPMD, for podsim import.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "ingest/imported/imported.h"
#include "proto/text/problem.h"
#include "proto/text/read_file.h"

namespace podsim {

bool is_stablehlo(std::string_view text);

// REQUIRES: one file.
std::optional<Imported> import_stablehlo(const std::vector<InputText>& files, const Stated& stated,
                                         std::vector<Problem>& problems);

}  // namespace podsim
