// Links that never limit what crosses them.
#pragma once

#include <vector>

#include "scheduler/traffic/traffic.h"

namespace podsim {

// [link] true for a link between switches that is full only when other links of the same traffic are full
// too:
// - everything that it carries has come over the links into its lower switch from below, or leaves over those
//   that lead down from there: in every phase of every group, its usage is at most the sum of theirs (but for
//   the rounding of each usage, 2^-40 units), and
// - it has at least the capacity of all of these links together (but for one part in 10^12).
// Such are the uplinks of a fat-tree without oversubscription, as long as nothing is missing and traffic is
// spread evenly. Max-min rates are the same without them. Only the one way up or down that a switch has
// counts. O(links + uses).
std::vector<bool> find_nonbinding_links(const Fabric& fabric, const Traffic& traffic);

}  // namespace podsim
