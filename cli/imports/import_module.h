// A compiled module on a chip and a fabric.
#pragma once

#include <optional>
#include <string>

#include "cli/networks/network.h"
#include "ingest/imported/imported.h"

namespace podsim {

// What a device takes for the module there, in place of what the file holds; nothing where the chip, the
// stack or the fabric does not fit, which is said. An empty stack is that of a front end of XLA that nothing
// is known of. REQUIRES: imported.on_machine.
std::optional<Imported> run_imported_module(const std::string& file, const Imported& imported,
                                            const std::string& chip, const std::string& stack,
                                            const NetworkOptions& network);

}  // namespace podsim
