// The rules for tables of runs that are part of the binary. The build writes the .cc from
// scenarios/measurements/run_rules.csv.
#pragma once

#include "proto/catalog/builtin_catalog.h"

namespace podsim {

std::span<const CatalogFile> builtin_run_rule_files();  // one

}  // namespace podsim
