// The step of the mean chip: its time cut into parts that sum to the step time to the picosecond.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/units.h"
#include "scheduler/simulation/state/timeline.h"

namespace podsim {

// INVARIANT: compute + optimizer + bubble + input + offload + skew + pause + all of exposed = step_time.
struct MeanStep {
  Time step_time;  // mean over steps, nearest picosecond
  Time compute;
  Time optimizer;
  Time bubble;  // waiting for other chips: pipeline bubbles and late members of collectives
  Time input;
  Time offload;               // waiting for copies to or from the host
  Time skew;                  // waiting for the slowest host, on average
  Time pause;                 // the worker collects garbage
  std::vector<Time> exposed;  // [communication class of the timeline]
};

// The buckets of every chip class cover the steps to the picosecond, and its exposed collectives the time for
// communication; if not, a CHECK fails. REQUIRES: at least one step and one chip.
void check_conservation(const Timeline& timeline);

// Chip-time of timelines of one system, added up.
struct ChipTime {
  std::vector<Int128> parts;  // ps of each part of a mean step
  Int128 chip_steps = 0;

  void add(const Timeline& timeline);  // REQUIRES: check_conservation
};

// What of the chip-time is no computation, as shares of all of it.
struct WaitShares {
  double input = 0, offload = 0;
  double communication = 0;  // exposed collectives
};
WaitShares wait_shares(const ChipTime& sum);  // REQUIRES: a timeline has been added

// REQUIRES: a timeline has been added.
MeanStep mean_step(const ChipTime& sum);

// parts / divisor as whole numbers that sum to the nearest whole number of sum(parts) / divisor, each within
// one of its quotient: the largest remainders round up, the earlier first among equals. REQUIRES: parts >= 0,
// divisor > 0.
std::vector<std::int64_t> divide_exactly(std::span<const Int128> parts, Int128 divisor);

}  // namespace podsim
