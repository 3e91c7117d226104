// Compares two states.
#include "scheduler/simulation/fast_forward/state_capture.h"

namespace podsim {

void CapturedNumbers::grow() {
  const std::size_t room = std::max<std::size_t>(1024, 2 * room_);
  std::unique_ptr<std::int64_t[]> numbers(new std::int64_t[room]);
  std::copy_n(numbers_.get(), size_, numbers.get());
  numbers_ = std::move(numbers);
  room_ = room;
}

void StateCapture::begin(Time now) {
  now_ = now;
  for (CapturedNumbers* numbers : {&fixed_, &past_, &totals_, &positions_, &hosts_, &met_}) numbers->clear();
}

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
