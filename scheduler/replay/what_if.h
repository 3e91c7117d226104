// What slow operations cost: slowdowns of a traced job against replays in which some of them are ideal.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "scheduler/replay/recorded_trace.h"

namespace podsim {

// What is lost where S - 1 is nearer to 0 than this is rounding, of which there are no shares.
inline constexpr double kLeastLoss = 1e-6;

// How much longer steps take than with ideal operations: 1 = no longer.
struct Slowdown {
  double mean = 1;               // mean step time / mean ideal step time
  std::vector<double> per_step;  // [step]
};

// The slowdown of a job in which only operations of one type are as recorded.
struct TypeSlowdown {
  std::string type;  // "forward-compute"; sends and receives of a direction together: "forward-pp-comm"
  Slowdown slowdown;
  bool communication = false;
};

// A data rank in one pipeline stage.
struct Worker {
  int row = 0;        // of the data ranks in by_data_rank
  int data_rank = 0;  // its number in the run
  int stage = 0;
  int global_rank = 0;
  std::int64_t alike = 1;  // workers that it stands for, itself included
};

// What making some operations ideal would gain, and what they alone cost.
struct Repair {
  double repaired_s = 0;  // mean step time when only they are ideal
  double alone_s = 0;     // mean step time when all others are ideal
  // Shares of the time lost to stragglers; nothing where that is less than kLeastLoss. May exceed 1 or be
  // negative: an ideal computation is a mean, so that faster ones are made slower.
  std::optional<double> gained, caused;
};

// A worker, and the slowdown of a job in which only its operations are as recorded.
struct Culprit {
  Worker worker;
  double slowdown = 1;  // S_w
};

// Time that a worker, ready to move data, waited for the last of its peers.
struct WaitedFor {
  Worker waiter, last;
  double per_step_s = 0;  // mean over steps, all transfers together
};

// All figures of the analysis of one trace.
struct WhatIf {
  std::vector<std::int32_t> steps;           // of the training run
  std::vector<double> recorded_s, traced_s;  // [step] as recorded, as replayed
  double recorded_mean_s = 0;
  double T_s = 0, T_ideal_s = 0;                 // mean replayed step, the step with ideal durations
  Slowdown S;                                    // T / T_ideal
  Slowdown launch;                               // recorded / replayed step: what the replay leaves out
  double waste = 0;                              // 1 - 1 / S: share of the chip time that is lost
  std::vector<TypeSlowdown> by_type;             // only ops of one type traced
  std::vector<Slowdown> by_data_rank, by_stage;  // only ops of one data rank, or stage, traced
  std::vector<std::int64_t> ranks_alike;         // [data rank] how many it stands for
  std::vector<Worker> workers;                   // [data rank * stages + stage]
  std::vector<double> by_worker;                 // the same order: the lesser of its rank's and its stage's
  Repair few_workers, last_stage;                // `gained` of them: M_W, M_S
  std::vector<Worker> few;                       // the slowest 3 % of workers
  std::optional<double> length_correlation;      // of forward and backward times of microbatches
  std::vector<WaitedFor> waits;                  // longest first
  std::vector<Culprit> culprits;                 // slowest first
  std::string likely_cause;
  std::vector<std::string> notes;  // what the trace does not tell: recorded_types.h

  int data_ranks() const { return static_cast<int>(by_data_rank.size()); }
  // In the run, of a row of by_data_rank.
  int rank_number(int row) const { return workers[row * stages()].data_rank; }
  int stages() const { return static_cast<int>(by_stage.size()); }
};

// Of these steps, of all when `only` is empty. Definitions: docs/theory/stragglers.md; they are those of the
// what-if analysis of Lin et al., "Understanding Stragglers in Large Model Training Using What-if Analysis",
// OSDI 2025. Throws ReplayError (replay_graph.h).
WhatIf what_if(const RecordedTrace& trace, std::span<const std::int32_t> only);

}  // namespace podsim
