// Part of the binary: the carbon of grids. The build writes the .cc from scenarios/economics/grids.csv.
#pragma once

#include "proto/catalog/builtin_catalog.h"

namespace podsim {

std::span<const CatalogFile> builtin_grid_files();  // one

}  // namespace podsim
