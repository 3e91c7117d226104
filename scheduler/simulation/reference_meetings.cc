// Lists the links of one job and of all others.
#include "scheduler/simulation/reference_meetings.h"

#include <cstdint>
#include <set>

#include "engine/check.h"

namespace podsim::reference {

bool meets_nobody(const System& system, int job) {
  PODSIM_CHECK(0 <= job && job < static_cast<int>(system.meshes.size()), "the system has the job");
  std::set<std::int32_t> own, of_others;
  for (std::size_t m = 0; m < system.step.messages.size(); ++m) {
    std::set<std::int32_t>& links = system.step.messages[m].scope.job == job ? own : of_others;
    for (const GroupClass& group : system.groups)
      if (group.communicator == system.communicator_of[m])
        for (const ClassPhase& phase : group.patterns[system.pattern_of[m]])
          for (const Use& use : phase.uses) links.insert(use.resource);
  }
  for (const std::int32_t link : own)
    if (of_others.contains(link)) return false;
  return true;
}

}  // namespace podsim::reference
