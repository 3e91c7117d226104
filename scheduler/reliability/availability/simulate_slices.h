// How many slices are there in random draws of what is up.
#pragma once

#include <cstdint>
#include <vector>

#include "scheduler/reliability/availability/slice_pool.h"

namespace podsim {

// [n]: share of the draws in which exactly n slices can be made. Every host, cable, link, block and switch
// is drawn by itself; draw d of a seed has the same random numbers for every pool.
std::vector<double> simulate_slices(const SlicePool& pool, const PartAvailability& of, std::int64_t draws,
                                    std::uint64_t seed);

}  // namespace podsim
