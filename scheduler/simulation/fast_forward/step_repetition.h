// Finds that whole steps repeat, so that a run of many may jump to where something changes.
//
// Rule. Let a job be alone on the fabric, and the state when a step has ended be the one when the step before
// had ended, but for what moves along with the present. Then what follows is that step again, as long as no
// speed changes with time: the argument is that of scheduler/simulation/fast_forward/steady_state.h, with all
// chips at the end of their orders. docs/theory/steady-state.md has more.
#pragma once

#include <optional>

#include "scheduler/simulation/fast_forward/state_capture.h"

namespace podsim {

class StepRepetition {
 public:
  // A step has ended, and this is the state. How to jump over as many equal steps as end before `edge`, and
  // over `most` at most; nothing when there is none.
  std::optional<StateJump> look(StateCapture state, std::int64_t most, Time edge);

  // What follows is another thing: a speed has changed.
  void forget() { before_.reset(); }

 private:
  std::optional<StateCapture> before_;
};

}  // namespace podsim
