// One training run over weeks, failure by failure.
#pragma once

#include <cstdint>
#include <vector>

#include "scheduler/reliability/weeks/buckets.h"
#include "scheduler/reliability/weeks/training_run.h"

namespace podsim {

// What became of one run: where its chip-time went, how far it came, what struck it.
struct RunResult {
  RunAccounts accounts;            // they sum to the chips of the cluster x end
  Milliseconds end;                // when the work was done, or the length of the run
  bool finished = false;           // the work was done
  std::int64_t work_chip_ms = 0;   // trained and kept, at full speed
  std::int64_t interruptions = 0;  // of training
  std::int64_t checkpoints = 0;
  std::vector<std::int64_t> failures;  // [source], that struck the job, also while it was down

  friend bool operator==(const RunResult&, const RunResult&) = default;
};

// How a run went: where its time had gone at some moments, and what struck it.
struct RunCourse {
  struct Moment {
    Milliseconds at;
    RunAccounts accounts;  // until then; slow parts and input still count as productive
  };
  struct Failure {
    Milliseconds at;
    std::size_t source = 0;
  };
  Milliseconds every;            // so much lies between two moments, or more: nothing happened
  std::vector<Moment> moments;   // ascending; the last is the end of the run
  std::vector<Failure> strikes;  // those of RunResult::failures, in their order
};

// Source s draws from streams of its own, so that another source, policy or size never shifts what it draws.
// What was trained since the last checkpoint counts as kept when the run ends.
// REQUIRES: the plan is valid (training_run.h). Same plan and seed, same result.
// `course`, where it is asked for, has `every` and is filled in.
RunResult simulate_run(const TrainingRun& run, std::uint64_t seed, RunCourse* course = nullptr);

}  // namespace podsim
