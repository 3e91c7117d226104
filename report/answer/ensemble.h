// The draws of one job's random adversities, added up one after another; without any there is one draw.
#pragma once

#include <cstdint>
#include <vector>

#include "report/answer/mean_step.h"
#include "report/answer/report.h"
#include "scheduler/simulation/state/timeline.h"

namespace podsim {

// One simulation of the job's steps.
struct Draw {
  int steps = 0;
  Time end;                            // of the last step, without evaluations
  Time evaluation;                     // per step
  std::vector<double> attention = {};  // of documents, as MicrobatchLoad has it: mean over steps

  // With evaluations.
  Int128 whole_ps() const { return Int128{end.ps} + Int128{steps} * evaluation.ps; }
};

// Sums over all draws of one chip class.
struct ChipSums {
  Int128 caused_ps = 0, waited_ps = 0;  // as in ChipTotals
};

// Memory grows by a few words with each draw and by one with each step.
struct Ensemble {
  Timeline first;                 // of the first draw: all draws have its classes
  std::vector<Draw> draws;        // in the order of their seeds
  std::vector<Time> step_times;   // of all draws, one after the other, each with its share of evaluations
  ChipTime chip_time;             // of all draws
  std::vector<ChipSums> chips;    // [chip class]
  std::vector<Bytes> link_bytes;  // [link class], carried by one link in all draws
  std::vector<Standstill> standstills;  // of each flap the longest of all draws
  std::int64_t events = 0;              // of all draws

  Int128 trained_ps() const;  // length of all draws, without evaluations
};

// Adds a draw. REQUIRES: check_conservation; the classes of the draws before.
void add_draw(Ensemble& ensemble, Timeline timeline, Time evaluation, std::vector<double> attention = {});

// Mean over all steps of all draws; empty where sequences are one document each.
std::vector<double> mean_attention(const Ensemble& ensemble);

// Mean over all steps of all draws, evaluations included, to the nearest picosecond.
Time mean_step_time(const Ensemble& ensemble);

// Spread of the step time over draws, and what they leave open. REQUIRES: at least two draws.
EnsembleReport describe(const Ensemble& ensemble);

// The value that at least this share of the times do not exceed: nearest rank. REQUIRES: ascending order.
Time percentile(const std::vector<Time>& sorted, double share);

}  // namespace podsim
