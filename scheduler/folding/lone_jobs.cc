// Finds jobs that meet on a link.
#include "scheduler/folding/lone_jobs.h"

namespace podsim {

std::vector<bool> lone_jobs(const System& system) {
  constexpr int kNobody = -1;
  std::vector<bool> lone(system.meshes.size(), true);
  if (lone.size() == 1) return lone;
  std::vector<int> first_on(static_cast<std::size_t>(system.limiting_links), kNobody);  // [link class]
  const auto job_of = [&](const GroupClass& group) {
    return system.step.stages[system.chips[group.members.front()].program].job;
  };
  for (const GroupClass& group : system.groups) {
    for (const std::vector<ClassPhase>& phases : group.patterns) {
      for (const ClassPhase& phase : phases) {
        for (const Use& use : phase.uses) {
          int& first = first_on[use.resource];
          if (first == kNobody) first = job_of(group);
          if (first != job_of(group)) lone[first] = lone[job_of(group)] = false;
        }
      }
    }
  }
  return lone;
}

}  // namespace podsim
