// Compares two states.
#include "scheduler/simulation/fast_forward/state_capture.h"

namespace podsim {

bool StateCapture::repeats(const StateCapture& before) const {
  const std::int64_t period = now_.ps - before.now_.ps;
  if (period <= 0 || fixed_ != before.fixed_ || past_.size() != before.past_.size()) return false;
  for (std::size_t i = 0; i < past_.size(); ++i) {
    const std::int64_t change = past_[i] - before.past_[i];
    if (change != 0 && change != period) return false;
  }
  for (std::size_t i = 0; i < hosts_.size(); ++i) {
    const std::int64_t change = hosts_[i] - before.hosts_[i];
    const bool apart = met_[i] < before.now_.ps;
    if (change != period && (change > period || !apart)) return false;
  }
  return true;
}

std::size_t StateCapture::size() const {
  return fixed_.size() + past_.size() + totals_.size() + positions_.size() + hosts_.size() + met_.size();
}

}  // namespace podsim
