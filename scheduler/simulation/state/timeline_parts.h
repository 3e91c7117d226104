// What a timeline says of a system, whichever loop has filled it.
#pragma once

#include <cstdint>
#include <vector>

#include "scheduler/folding/system.h"
#include "scheduler/simulation/state/timeline.h"

namespace podsim {

// The chip classes of a job and the patterns of its messages, ascending: a timeline tells of them in this
// order.
struct JobParts {
  std::vector<std::int32_t> chips, patterns;
};
std::vector<JobParts> parts_of_jobs(const System& system);  // [job]

// The timeline of one of them, with every time, count and amount at zero.
Timeline blank_timeline(const System& system, const JobParts& job);

// Adds what so many runs of a message by a group put on one link of each class: bytes[link class].
void add_link_bytes(const System& system, std::int32_t group, std::int32_t message, std::int64_t times,
                    std::vector<double>& bytes);

}  // namespace podsim
