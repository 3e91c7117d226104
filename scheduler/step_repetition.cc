// Compares each step with the one before.
#include "scheduler/step_repetition.h"

#include <algorithm>
#include <utility>

namespace podsim {

std::optional<StateJump> StepRepetition::look(StateCapture state, std::int64_t most, Time edge) {
  std::optional<StateJump> jump;
  if (before_ && state.repeats(*before_)) {
    const std::int64_t steps = std::min(most, state.periods_before(*before_, edge));
    if (steps > 0) jump.emplace(*std::move(before_), state, steps);
  }
  before_.reset();
  if (!jump) before_.emplace(std::move(state));
  return jump;
}

}  // namespace podsim
