// The best layout of the job that an imported file means.
#pragma once

#include "cli/imports/import_scenario.h"
#include "ingest/imported/imported.h"

namespace podsim {

// Searches the layouts of the scenario that the file gives, and prints the fastest and what was assumed;
// `wish.out` gets the fastest as a scenario. The exit code; what is missing is said.
int plan_imported(const ImportedFile& file, const Imported& imported, const ScenarioWish& wish);

}  // namespace podsim
