// What each of several adversities costs a step.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "prediction/seed_runs.h"
#include "report/report.h"

namespace podsim {

struct Adversities;
struct LaidJob;

// Simulates the job again without each of its adversities, with the same draws, and takes the difference to
// `report`; dearest first. A lone one costs the whole straggler delay, and so do many together. `plans` as in
// assemble.
std::vector<FaultCost> fault_costs(const LaidJob& job, const Fabric& healthy,
                                   std::span<const SimulateOptions> draws, bool fold, const DrawPool& pool,
                                   TrafficPlans& plans, const Report& report);

// How many simulations these are.
std::size_t fault_runs(const Adversities& adversities);
// How many of them draw at random.
std::size_t random_fault_runs(const Adversities& adversities);

}  // namespace podsim
