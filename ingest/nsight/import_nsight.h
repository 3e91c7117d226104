// Databases that Nsight Systems exports, for podsim import: every device as a rank of a profile.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "ingest/imported/imported.h"
#include "proto/text/problem.h"
#include "proto/text/read_file.h"

namespace podsim {

bool is_nsight(std::string_view bytes);

// Devices of one file in their order, those of the next behind them.
std::optional<Imported> import_nsight(const std::vector<InputText>& files, const Stated& stated,
                                      std::vector<Problem>& problems);

}  // namespace podsim
