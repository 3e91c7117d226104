// A training run that one can reckon by hand.
#pragma once

#include "scheduler/reliability/weeks/simulate_run.h"

namespace podsim::testing {

inline Milliseconds seconds(double s) { return Milliseconds::seconds(s); }

// 4 nodes of 8 chips, a checkpoint of 10 s after each 100 s, 1,000 s.
inline TrainingRun small_run() {
  TrainingRun run;
  run.units = 4;
  run.checkpoints.interval = seconds(100);
  run.checkpoints.pause = seconds(10);
  run.length = seconds(1000);
  return run;
}

// Every `period_s`, all nodes of the job as one domain unless told otherwise.
inline FailureSource regular(double period_s, int nodes) {
  FailureSource source;
  source.per_s = 1 / period_s;
  source.regular = true;
  source.domain_nodes = nodes;
  return source;
}

inline double chip_s(const RunResult& result, RunBucket bucket) {
  return static_cast<double>(result.accounts[bucket]) / 1e3;
}

}  // namespace podsim::testing
