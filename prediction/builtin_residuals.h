// The residuals of the fit that are part of the binary. The build writes the .cc from
// scenarios/calibration/residuals.csv.
#pragma once

#include "proto/catalog/builtin_catalog.h"

namespace podsim {

std::span<const CatalogFile> builtin_residual_files();  // one

}  // namespace podsim
