// A first scenario for a model on a cluster: the fastest of the usual layouts that fit in memory.
#pragma once

#include <functional>

#include "planner/starter_request.h"
#include "proto/catalog/catalog.h"

namespace podsim {

inline constexpr int kMostStarterChips = 65536;  // asked for, and tried where the asked ones are too few

// Of the layouts of planner/starter_layouts.h one that leaves the headroom of a search free, or, where none
// does, one that fits; of a model none of these is faster by more than 3 %, of a program none at all. Throws
// StepTooLong (engine/time_limits.h) where layouts fit and a step of each goes on beyond simulated time.
// ENSURES: the text loads without problems, and its job fits.
// `share_done` hears now and then how much of all there is to do is done, [0, 1].
Starter starter_scenario(const StarterRequest& request, const Catalog& catalog,
                         const std::function<void(double)>& share_done = {});

}  // namespace podsim
