// Part of the binary: what owning is reckoned with where nobody says. The build writes the .cc from
// scenarios/economics/terms.csv.
#pragma once

#include "proto/catalog/builtin_catalog.h"

namespace podsim {

std::span<const CatalogFile> builtin_term_files();  // one

}  // namespace podsim
