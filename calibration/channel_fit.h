// The channel of a fabric that explains measured times of one collective by message size.
#pragma once

#include <vector>

#include "collectives/collective.h"
#include "topology/fabric.h"

namespace podsim {

struct CollectiveTiming {
  Bytes bytes;
  double time_s = 0;
};

struct ChannelFit {
  ChannelSpec channel;  // of the kind, for each algorithm; shares are of the links' payload bandwidth
  std::vector<double> before_s;  // [timing] as the fabric is
  std::vector<double> after_s;   // [timing] with the channel
};

// Setup, chunks and sustained share for which the predicted times are nearest to the measured ones, by the
// logarithm of their quotient, outliers counting less. The share is that of the links by which the group is
// joined: of NICs where it spans several domains. REQUIRES: timings, all above 0, and a group of two or more.
ChannelFit fit_channel(const Fabric& fabric, CollectiveKind kind, const std::vector<ChipId>& group,
                       const std::vector<CollectiveTiming>& timings);

}  // namespace podsim
