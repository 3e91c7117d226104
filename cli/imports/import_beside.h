// A recorded step, and what podsim predicts for the scenario that is said to describe it.
#pragma once

#include <optional>
#include <string>

#include "ingest/imported/imported.h"

namespace podsim {

// Both in one table, in place of what the files hold; nothing where the scenario cannot be loaded, or no step
// was recorded, which is said. `of` names the files.
std::optional<Imported> put_beside(const std::string& of, const Imported& imported,
                                   const std::string& scenario);

}  // namespace podsim
