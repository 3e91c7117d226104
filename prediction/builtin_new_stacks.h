// Errors of runs that were predicted as if their software were unknown, part of the binary. The build writes
// the .cc from scenarios/calibration/new_stacks.csv.
#pragma once

#include "proto/catalog/builtin_catalog.h"

namespace podsim {

std::span<const CatalogFile> builtin_new_stack_files();  // one

}  // namespace podsim
