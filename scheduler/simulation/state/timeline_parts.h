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

// Visits what so many runs of a message by a group put on one link of a class: visit(link class, bytes). A
// class may be visited more than once.
template <typename Visit>
void visit_link_bytes(const System& system, std::int32_t group, std::int32_t message, std::int64_t times,
                      Visit&& visit) {
  for (const ClassPhase& phase : system.groups[group].patterns[system.pattern_of[message]])
    for (const std::vector<Use>* uses : {&phase.uses, &phase.nonbinding_uses})
      for (const Use& use : *uses)
        visit(use.resource, static_cast<double>(times) *
                                (phase.work_per_byte * system.step.messages[message].bytes.value) *
                                (static_cast<double>(use.usage) / static_cast<double>(kUsageUnit)));
}

// Adds them up: bytes[link class].
void add_link_bytes(const System& system, std::int32_t group, std::int32_t message, std::int64_t times,
                    std::vector<double>& bytes);

}  // namespace podsim
