// An HLO module as podsim import shows it.
#pragma once

#include <optional>
#include <vector>

#include "ingest/imported/imported.h"
#include "proto/text/problem.h"
#include "proto/text/read_file.h"

namespace podsim {

// Of one file, which may hold several modules. Nothing, and problems, where it is damaged or has no loop that
// `stated` names.
std::optional<Imported> import_hlo(const std::vector<InputText>& files, const Stated& stated,
                                   std::vector<Problem>& problems);

}  // namespace podsim
