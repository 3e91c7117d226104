// A training run of weeks in one call: the step, the interval between checkpoints, many simulated runs ->
// report.
#pragma once

#include <functional>

#include "report/answer/reliability.h"
#include "scheduler/reliability/weeks/reliability_question.h"

namespace podsim {

struct WeeksOptions {
  bool fold = true, steady = true;  // of the step's simulation
  int threads = 1;                  // the result does not depend on them
  bool course = false;              // ReliabilityReport::course
  std::function<void()> run_done;   // after each of the question's runs, from any thread; may be empty
};

// Run k has the question's seed + k (modulo 2^64). An interval that is found by simulation is found with the
// same seeds, 200 of them at most. REQUIRES: the question is valid. Same question, same bytes.
ReliabilityReport predict_weeks(const ReliabilityQuestion& question, const WeeksOptions& options);

}  // namespace podsim
