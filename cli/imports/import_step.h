// An imported step of several ranks, run on a fabric.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/imports/slow_parts.h"
#include "cli/networks/network.h"
#include "ingest/imported/imported.h"
#include "scheduler/replay/astra_ring.h"

namespace podsim {

// What the step takes on that fabric and who waits for whom, in place of what the files hold; nothing where
// the fabric does not fit, which is said. `of` names the files. REQUIRES: imported.step.
std::optional<Imported> run_imported_step(const std::string& of, const Imported& imported,
                                          const NetworkOptions& network, const SlowedRanks& slowed,
                                          const std::vector<SlowLink>& slow_links);

// The same with every transfer as long as it was recorded. REQUIRES: imported.transfers_recorded.
std::optional<Imported> run_recorded_step(const std::string& of, const Imported& imported, std::int64_t chips,
                                          const SlowedRanks& slowed);

// The same with every collective timed as ASTRA-sim times it on a ring of its ranks, without a fabric.
std::optional<Imported> run_on_astra_ring(const std::string& of, const Imported& imported,
                                          const AstraRing& ring, std::int64_t chips,
                                          const SlowedRanks& slowed);

}  // namespace podsim
