// Who waited for whom: the time between a worker's readiness to move data and that of its last peer.
#pragma once

#include <vector>

#include "scheduler/replay/replayer.h"
#include "scheduler/replay/what_if.h"

namespace podsim {

// Of the replay with traced durations that `replayer` made last. The pairs of workers with most waiting, at
// most 20, longest first. Who comes last may itself have been held up by another: S_w tells who is at fault.
// `workers` = [data rank * stages + stage].
std::vector<WaitedFor> waits(const ReplayGraph& graph, const OperationTimes& times, const Replayer& replayer,
                             const std::vector<Worker>& workers);

}  // namespace podsim
