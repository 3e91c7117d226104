// What each of several adversities costs a step.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "prediction/seed_runs.h"
#include "report/answer/report.h"

namespace podsim {

struct Adversities;
struct FabricSpec;
struct LaidJob;
struct Spec;

// Simulates the job again without each of its adversities, with the same draws, and takes the difference to
// `report`; dearest first. Slow chips of one host are one adversity, and so are its slow links of one kind.
// Of more than eight the seven gravest are left out one by one and the others at once; more than 64 are one.
// A lone one costs the whole straggler delay. Throws StepTooLong.
std::vector<FaultCost> fault_costs(const LaidJob& job, const Fabric& healthy,
                                   std::span<const SimulateOptions> draws, const DrawOptions& options,
                                   const Report& report);

// How many simulations these are.
std::size_t fault_runs(const Adversities& adversities, const FabricSpec& fabric);
// How many of those of the spec's job are of all its draws, and not of one.
std::size_t drawn_fault_runs(const Spec& spec);

}  // namespace podsim
