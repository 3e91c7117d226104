// Part of the binary: how long stops take where nobody says. The build writes the .cc from
// scenarios/reliability/stop.csv.
#pragma once

#include "proto/catalog/builtin_catalog.h"

namespace podsim {

std::span<const CatalogFile> builtin_stop_files();  // one

}  // namespace podsim
