// A small job and its timelines with round numbers, for the report's tests.
#pragma once

#include "report/answer/ensemble.h"
#include "report/answer/report.h"
#include "scheduler/question/spec.h"
#include "scheduler/simulation/state/timeline.h"
#include "workload/partition/program.h"

namespace podsim {

// Four chips of 100 TFLOP/s bf16 (200 fp8) at 2 USD per hour: 100 W without work, 300 W waiting, 500 W at
// work, 50 W around it; 80 GiB.
Spec example_spec();

// 1,000 tokens per step; 1e12, 1.2e12 and 1.5e12 FLOPs per token (causal, full, executed); stage 1 needs
// most: 40 GiB.
StepProgram example_program();

// One step of 10 s: 6 compute, 1 optimizer, 2 + 0.5 communication of two classes, 0.25 bubble, 0.2 peer wait,
// 0.05 input.
Timeline example_timeline();

// An ensemble of one draw.
Ensemble one_draw(const Timeline& timeline);

// The report of one draw with and one without adversities.
Report report_of(const Spec& spec, const Timeline& timeline, const Timeline& clean);

// The report of the three.
Report example_report();

}  // namespace podsim
