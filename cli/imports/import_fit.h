// Measured collectives as the channel of a fabric.
#pragma once

#include <optional>
#include <string>

#include "ingest/imported/imported.h"

namespace podsim {

// The channel of the fabric for which predictions are nearest to what was measured, with the errors before
// and after, in place of what the file holds; nothing where something is missing, which is said.
std::optional<Imported> fit_imported_times(const std::string& file, const Imported& imported,
                                           const std::string& fabric);

}  // namespace podsim
