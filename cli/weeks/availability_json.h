// The answer to a question about availability as JSON.
#pragma once

#include <span>
#include <string>

#include "scheduler/reliability/availability/availability.h"

namespace podsim {

// docs/theory/availability.md has the keys.
std::string availability_json(const AvailabilityQuestion& question, std::span<const SliceAvailability> rows);

}  // namespace podsim
