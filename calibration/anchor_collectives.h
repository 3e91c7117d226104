// Collectives between servers that a user measured with nccl-tests, as evidence of the share of the network
// that their library reaches.
#pragma once

#include <string>

#include "calibration/anchor_kernels.h"

namespace podsim {

// What an output of nccl-tests says beside its rows.
struct ListedRanks {
  int ranks = 0, hosts = 0;  // 0 where they are not listed
  bool kind_known = false;   // which collective it is
};

// The rows of 64 MiB and more, where bytes count and not latency, predicted on the scenario's network as it
// stands there; they are one measurement, alone, of network_share. Ranks have to be listed, and to lie in
// several NVLink domains. REQUIRES: one job.
ReadAnchorKernels read_anchor_collectives(const std::string& file, const std::string& text,
                                          const ListedRanks& listed, const Spec& spec);

}  // namespace podsim
