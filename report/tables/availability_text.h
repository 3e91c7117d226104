// How much of a pod can be used, for a terminal.
#pragma once

#include <span>
#include <string>

#include "scheduler/reliability/availability/availability.h"

namespace podsim {

// A table of slices, one of the job where there is one, and a sentence on what a free choice of cubes is
// worth.
std::string availability_text(const AvailabilityQuestion& question, std::span<const SliceAvailability> rows);

}  // namespace podsim
