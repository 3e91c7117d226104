// Runs of weeks as they went, slice by slice.
#pragma once

#include <span>

#include "report/answer/reliability.h"
#include "scheduler/reliability/weeks/simulate_run.h"

namespace podsim {

// Of the first run its slices and failures, of all the spread of their goodput. REQUIRES: at least one, each
// with a moment.
WeeksCourse weeks_course(const TrainingRun& run, std::span<const RunCourse> courses);

}  // namespace podsim
