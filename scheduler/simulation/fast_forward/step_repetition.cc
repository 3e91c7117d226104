// Compares each step with the one before.
#include "scheduler/simulation/fast_forward/step_repetition.h"

#include <algorithm>
#include <utility>

namespace podsim {

std::optional<StateJump> StepRepetition::look(StateCapture state, std::int64_t most, Time edge) {
  if (before_ && state.repeats(*before_)) {
    const std::int64_t steps = std::min(most, state.periods_before(*before_, edge));
    if (steps > 0) {
      StateJump jump(*std::move(before_), std::move(state), steps);
      before_.reset();
      return jump;
    }
  }
  before_ = std::move(state);
  return std::nullopt;
}

}  // namespace podsim
