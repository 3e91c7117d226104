// Looks for what was sent before.
#include "scheduler/folding/healthy_systems.h"

#include <algorithm>
#include <utility>

#include "engine/check.h"
#include "engine/stage_timer.h"
#include "scheduler/lowering/lower.h"

namespace podsim {
namespace {

constexpr std::size_t kSystems = 8;

}  // namespace

const System& HealthySystems::assemble(const LaidJob& job) {
  PODSIM_CHECK(job.program.stages >= 1, "a job has a stage");
  LoweredStep step = timed("lower", [&] { return lower(job.program, job.spec, true); });
  const int axis = job.program.pipeline_axis;
  const double share = job.spec.job.stack.network_share;
  const auto known = std::ranges::find_if(known_, [&](const Known& each) {
    return each.pipeline_axis == axis && each.network_share == share &&
           each.system.step.messages == step.messages;
  });
  // Documents that have lengths tell data ranks apart.
  if (known != known_.end() && !job.spec.job.lengths.any()) {
    known_.splice(known_.begin(), known_, known);
    known->system.step = std::move(step);
    known->system.packing = {packing_of(job)};
  } else {
    if (known_.size() == kSystems) known_.pop_back();
    known_.push_front({axis, share, podsim::assemble(fabric_, {&job, 1}, {}, true)});
  }
  return known_.front().system;
}

}  // namespace podsim
