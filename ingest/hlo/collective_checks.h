// Whether the collectives of an HLO module can be: groups of its devices, and shapes that follow from them.
#pragma once

#include <string>

#include "ingest/hlo/module.h"

namespace podsim::hlo {

// Stops with a ParseError at the first that cannot. The rules are those of XLA's verifier: groups part 0, 1,
// 2, ... into sets, of one size but for all-reduces, and have all replicas, partitions or devices where the
// header says how many there are. REQUIRES: attributes are there.
void check_collectives(const std::string& file, const Module& module);

}  // namespace podsim::hlo
