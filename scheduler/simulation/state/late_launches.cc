// Holds launches back until the late host gets to them.
#include "scheduler/simulation/state/late_launches.h"

#include "engine/check.h"

namespace podsim {

LateLaunches::LateLaunches(const System& system, const SimulateOptions& options,
                           IndexedEventQueue& event_queue, std::size_t first_slot)
    : variation_(options.variation),
      event_queue_(event_queue),
      first_slot_(first_slot),
      chips_(slots(system, options.variation)) {
  for (std::size_t c = 0; c < chips_.size(); ++c)
    for (std::size_t r = 0; r < variation_.late.size(); ++r)
      if (variation_.late[r].chip == system.chips[c].representative)
        chips_[c].rule = static_cast<std::int32_t>(r);
}

void LateLaunches::begin_step(std::int32_t chip, int step, const StepDraws& draws) {
  PODSIM_CHECK(any(), "hosts that are late have their own slots");
  if (chips_[chip].rule >= 0) chips_[chip].delay = draws.lateness(variation_.late[chips_[chip].rule], step);
}

void LateLaunches::await(std::int32_t chip, Time now) {
  std::deque<Time>& due = chips_[chip].due;
  due.push_back(now + chips_[chip].delay);
  if (due.size() == 1) event_queue_.set(first_slot_ + chip, due.front());
}

void LateLaunches::launch(std::int32_t chip) {
  std::deque<Time>& due = chips_[chip].due;
  PODSIM_CHECK(!due.empty(), "the host launches what its chip has come to");
  due.pop_front();
  if (!due.empty()) event_queue_.set(first_slot_ + chip, due.front());
}

}  // namespace podsim
