// What the mean chip does in a step, as its watts count it.
#pragma once

#include "report/answer/ensemble.h"
#include "report/answer/report.h"

namespace podsim {

struct Chip;
struct Spec;
struct StepProgram;

// Shares of a step. What is left of 1 is without work: waiting for input or for copies to the host.
struct Activity {
  double matmul = 0;         // matrix units at the rate that large matmuls sustain
  double memory = 0;         // HBM at the rate of the best copy
  double waiting = 0;        // between operations: for collectives, other chips and launches
  double communication = 0;  // of `waiting`, for collectives and transfers
};

// Of an operation, matrix units and memory together count for no longer than it takes; measured layers, of
// which nobody says what they do, count as matmuls.
Activity activity_of(const Spec& spec, const StepProgram& program, const Ensemble& ensemble);

// Watts of a chip that is as active, and of what it needs of its host; `pue` of the hall and `chips` make the
// power at the meter.
PowerReport power_of(const Activity& activity, const Chip& chip, int chips_per_host);

}  // namespace podsim
