// Random systems whose collectives and computations overlap, and what a simulation says of one.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "tests/scheduler/simulation/random_step.h"

namespace podsim::testing {

// A job on a torus, or one or two on domains of GPUs, whose stacks overlap at random; half of them with
// jitter.
struct RandomOverlap {
  System system;
  SimulateOptions options;
};
RandomOverlap random_overlap(int round);

// Everything but the number of events; intervals in an order of their own.
struct Figures {
  std::vector<Time> step_end;
  std::vector<std::tuple<ChipId, std::vector<Time>, std::vector<Time>, Int128, Time>> chips;
  std::vector<double> link_bytes;
  std::vector<std::tuple<int, Time, Time>> standstills;
  std::vector<std::tuple<Time, Time, Time>> passes,
      sent;  // begins and ends with what is between, one after another
  std::vector<std::tuple<ChipId, std::string, Time, Time, std::string, std::int32_t>> intervals;
  bool operator==(const Figures&) const = default;
};
Figures figures(const Timeline& timeline);

// The first thing in which they differ, or empty.
std::string difference(const Figures& a, const Figures& b);

}  // namespace podsim::testing
