// Timelines -> Report: the one definition of every published number.
#pragma once

#include "report/answer/ensemble.h"
#include "report/answer/report.h"

namespace podsim {

struct Spec;
struct StepProgram;

// Mean over the steps of a timeline, to the nearest picosecond.
Time mean_step_time(const Timeline& timeline);

// `clean` = the same step without adversities (the same object when there are none): one draw, or where
// documents have lengths one for each draw of `ensemble`, with the same documents.
Report summarize(const Spec& spec, const StepProgram& program, const Ensemble& ensemble,
                 const Ensemble& clean);

}  // namespace podsim
