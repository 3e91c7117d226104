// Simulated steps as the trace that a recording of them would give.
#pragma once

#include <string>

#include "scheduler/folding/system.h"
#include "scheduler/replay/recorded_trace.h"
#include "scheduler/simulation/state/timeline.h"

namespace podsim {

// Why steps of the job cannot be told in the operations of traces, or empty: every pass must be a forward or
// a whole backward pass, and chunk c of stage s the (c * stages + s)-th piece of the model.
std::string explain_untraceable(const LaidJob& job);

// The steps of a job that is alone on `system`, in double precision and seconds from the begin of each step.
// A data rank is a coordinate along the axes that cut the batch; the chips that share its part of a stage are
// one worker, which takes for each pass as long as its slowest chip. Waiting for other chips is left out of
// durations: computation is what chips did of their own in a pass, exposed collectives included. The begin
// of the step is params-all-gather, exposed communication at its end is grads-reduce-scatter. Where a batch
// comes behind the begin of its step each worker has a row of it.
// Data ranks whose chips all behave alike are one, unless `every_rank`.
// REQUIRES: explain_untraceable is empty; the timeline is of `system` and has passes.
RecordedTrace simulated_trace(const System& system, const LaidJob& job, const Timeline& timeline,
                              bool every_rank);

}  // namespace podsim
