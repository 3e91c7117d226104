// Part of the binary: the software that is assumed where nobody names it. The build writes the .cc from
// scenarios/stacks/assumed.csv.
#pragma once

#include "proto/catalog/builtin_catalog.h"

namespace podsim {

std::span<const CatalogFile> builtin_assumed_files();  // one

}  // namespace podsim
