// Any stage of the line as text, for --dump.
#pragma once

#include <string>
#include <vector>

#include "scheduler/place.h"
#include "scheduler/spec.h"
#include "scheduler/system.h"
#include "scheduler/timeline.h"
#include "workload/program.h"

namespace podsim {

// "fabric", "program", "placement", "plan", "system", "timeline".
const std::vector<std::string>& dump_stages();

// Empty for the empty stage. REQUIRES: stage is empty or one of dump_stages().
std::string dump(const std::string& stage, const Spec& spec, const Fabric& fabric, const StepProgram& program,
                 const Placement& placement, const System& system, const Timeline& timeline);

}  // namespace podsim
