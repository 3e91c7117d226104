// Looks for what was sent before.
#include "scheduler/folding/healthy_systems.h"

#include <algorithm>
#include <utility>

#include "engine/check.h"
#include "scheduler/question/random_delays.h"

namespace podsim {
namespace {

constexpr std::size_t kSystems = 8;

}  // namespace

System HealthySystems::assemble(const LaidJob& job) {
  PODSIM_CHECK(job.program.stages >= 1, "a job has a stage");
  const int axis = job.program.pipeline_axis;
  const double share = job.spec.job.stack.network_share;
  LoweredStep step = lower_for(job, {});
  const auto known = std::ranges::find_if(known_, [&](const Known& each) {
    return each.pipeline_axis == axis && each.network_share == share && each.messages == step.messages;
  });
  if (known == known_.end() ||
      job.spec.job.lengths.any()) {  // documents that have lengths tell data ranks apart
    System system = podsim::assemble(fabric_, {&job, 1}, std::move(step), {}, true);
    if (job.spec.job.lengths.any()) return system;
    if (known_.size() == kSystems) known_.pop_back();
    LoweredStep kept = std::exchange(system.step, {});
    known_.push_front({axis, share, kept.messages, system});
    system.step = std::move(kept);
    return system;
  }
  known_.splice(known_.begin(), known_, known);
  System system = known_.front().system;
  system.step = std::move(step);
  system.packing = {packing_of(job)};
  return system;
}

}  // namespace podsim
