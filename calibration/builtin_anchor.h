// The priors of anchors that are part of the binary. The build writes the .cc from
// scenarios/calibration/anchor.csv.
#pragma once

#include "proto/catalog/builtin_catalog.h"

namespace podsim {

std::span<const CatalogFile> builtin_anchor_files();  // one

}  // namespace podsim
