// A step as a longest path: chips are taken through their programs as far as it is known what they wait for
// (docs/theory/longest-path.md).
//
// A chip goes on at the latest of its own time and of the ends that it waits for. So chips need no common
// clock: each is followed until it waits for what is not known yet, and what it launches tells others when
// they can go on. Stretches of a program that take the same time under the same conditions are one number.
// Where transfers slow computations down, the chip whose stretch ends first goes on first: nothing that
// begins later can change that end.
//
// 1. All operations are taken for alone on their links, so that an end is known with the start. At the end
//    their times on links that several slots load are looked at. If no two overlap, each was alone: up to a
//    first overlap everything would be as it is, so there is none.
// 2. Otherwise the step is gone through once more, and operations on such links drain in a solver, whose
//    instants are taken in order of time with the ends of stretches.
#pragma once

#include <optional>
#include <vector>

#include "scheduler/folding/system.h"
#include "scheduler/simulation/state/simulate_options.h"
#include "scheduler/simulation/state/timeline.h"

namespace podsim {

// As simulate(), for one step of one job without chance, copies or speeds that change; nothing where a step
// is more than that, or where an operation is under way when the step ends.
std::optional<std::vector<Timeline>> simulate_longest_path(const System& system,
                                                           const SimulateOptions& options);

}  // namespace podsim
