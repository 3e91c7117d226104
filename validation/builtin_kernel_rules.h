// The rules for tables of kernels that are part of the binary. The build writes the .cc from
// scenarios/measurements/kernel_rules.csv.
#pragma once

#include "proto/catalog/builtin_catalog.h"

namespace podsim {

std::span<const CatalogFile> builtin_kernel_rule_files();  // one

}  // namespace podsim
