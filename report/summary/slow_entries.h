// What the entries of an adversity chose, and what came of it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "report/answer/report.h"
#include "scheduler/folding/drawn_degradations.h"
#include "scheduler/simulation/state/timeline.h"

namespace podsim {

// "5% of hosts at speed 0.9 from 100 s to 1500 s", "nic 137 down from 20 s to 25 s".
std::string describe(const Degradation& entry);

// One for each entry by selector. REQUIRES: `hits` are of these entries, and `standstills` the longest ones
// of simulations with them.
std::vector<SlowEntry> slow_entries(std::span<const Degradation> entries, std::span<const Hit> hits,
                                    std::span<const Standstill> standstills);

// Tables: how much each entry hit, and how long transfers stood still on links that flapped.
std::string slow_entries_table(const Report& report);

}  // namespace podsim
