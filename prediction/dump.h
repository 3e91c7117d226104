// Any stage of the line as text, for --dump.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "scheduler/folding/system.h"
#include "scheduler/simulation/state/timeline.h"

namespace podsim {

struct LaidJob;

// "fabric", "program", "placement", "plan", "system", "schedule", "timeline".
const std::vector<std::string>& dump_stages();

// Whether the stage is told from the intervals of a timeline.
bool dumps_intervals(const std::string& stage);

// Stages of a job (program, placement, schedule, timeline) come one job after the other. Empty for the empty
// stage. REQUIRES: stage is empty or one of dump_stages(); one timeline for each job.
std::string dump(const std::string& stage, const Fabric& fabric, std::span<const LaidJob> jobs,
                 const System& system, std::span<const Timeline> timelines);

}  // namespace podsim
