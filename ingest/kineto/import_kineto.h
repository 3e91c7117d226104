// Profiles of PyTorch, of one rank or of several, for podsim import.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "ingest/imported/imported.h"
#include "proto/text/problem.h"
#include "proto/text/read_file.h"

namespace podsim {

bool is_kineto(std::string_view text);

// One file is told with all that it says; several are ranks of one run, and their collectives are joined.
std::optional<Imported> import_kineto(const std::vector<InputText>& files, const Stated& stated,
                                      std::vector<Problem>& problems);

}  // namespace podsim
