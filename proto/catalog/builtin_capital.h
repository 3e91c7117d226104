// Part of the binary: the capital of chips that are sold. The build writes the .cc from
// scenarios/economics/capital.csv.
#pragma once

#include "proto/catalog/builtin_catalog.h"

namespace podsim {

std::span<const CatalogFile> builtin_capital_files();  // one

}  // namespace podsim
