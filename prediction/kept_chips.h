// Adversities of the chips that are left of a cluster, by the numbers that these have there.
#pragma once

#include <vector>

#include "scheduler/question/spec.h"

namespace podsim {

// Of what is slow or has failed, that which is left: what belonged to a chip, host or NVLink domain that is
// gone is gone, the rest has new numbers. Parts that a pipeline stage or a data rank had chosen are chosen by
// number, for in the smaller mesh these are other chips; who was drawn, and how slow, stays as it was.
// Switches above the hosts keep their numbers and draws. number[chip of `before`] = its number in the smaller
// cluster, or -1. REQUIRES: one job, and chips of a host are left or gone together, in their order.
Adversities of_kept_chips(const Spec& before, const std::vector<ChipId>& number);

}  // namespace podsim
