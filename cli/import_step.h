// An imported step of several ranks, run on a fabric.
#pragma once

#include <optional>
#include <string>

#include "cli/network.h"
#include "ingest/imported/imported.h"

namespace podsim {

// What the step takes on that fabric and who waits for whom, in place of what the files hold; nothing where
// the fabric does not fit, which is said. `of` names the files. REQUIRES: imported.step.
std::optional<Imported> run_imported_step(const std::string& of, const Imported& imported,
                                          const NetworkOptions& network);

}  // namespace podsim
