// Timeline -> Report: the one definition of every published number.
#pragma once

#include "report/report.h"
#include "scheduler/spec.h"
#include "scheduler/timeline.h"
#include "workload/program.h"

namespace podsim {

// Mean over the steps of a timeline, to the nearest picosecond.
Time mean_step_time(const Timeline& timeline);

// Time of evaluations per training step.
struct EvaluationTime {
  Time mean;   // with all adversities
  Time clean;  // without
};

// `clean` = the same step without adversities (the same object when there are none).
Report summarize(const Spec& spec, const StepProgram& program, const Timeline& timeline,
                 const Timeline& clean, EvaluationTime evaluation = {});

}  // namespace podsim
