// Takes the draws of one step after the other.
#include "scheduler/simulation/state/step_delays.h"

namespace podsim {

StepDelays::StepDelays(const System& system, const SimulateOptions& options, IndexedEventQueue& event_queue,
                       std::size_t first_late_slot)
    : system_(system),
      draws_(system, options),
      late_(system, options, event_queue, first_late_slot),
      loads_(system.meshes.size()),
      step_factor_(system.chips.size(), 1) {
  if (!draws_.pauses()) return;
  Instruction pause;
  pause.kind = Instruction::Kind::kPause;
  pause.bucket = Bucket::kPause;
  pauses_.assign(system.chips.size(), {kNever, {pause}});
}

void StepDelays::begin_chip(std::int32_t chip, int step) {
  if (late_.any()) late_.begin_step(chip, step, draws_);
  if (!pauses_.empty()) {
    const std::optional<StepDraws::Pause> pause = draws_.pause(chip, step);
    pauses_[chip].before = pause ? pause->before : kNever;
    if (pause) pauses_[chip].segment.front().duration = pause->length;
  }
  step_factor_[chip] = draws_.step_factor(chip, step);
}

}  // namespace podsim
