// Collectives of gradients that a late host launches some time after its chip has come to them.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "engine/indexed_event_queue.h"
#include "scheduler/folding/system.h"
#include "scheduler/simulation/state/simulate_options.h"
#include "scheduler/simulation/state/step_draws.h"

namespace podsim {

// Launches of a chip's gradient stream pass through here where its host is late; they keep their order. The
// next one is the event of slot `first_slot` + chip.
class LateLaunches {
 public:
  // How many slots there are. None without late hosts.
  static std::size_t slots(const System& system, const StepVariation& variation) {
    return variation.late.empty() ? 0 : system.chips.size();
  }

  // REQUIRES: all of them outlive this object; a late chip is a class of its own.
  LateLaunches(const System& system, const SimulateOptions& options, IndexedEventQueue& event_queue,
               std::size_t first_slot);

  bool any() const { return !chips_.empty(); }

  // The chip begins this step of its job, counted from 0. REQUIRES: any().
  void begin_step(std::int32_t chip, int step, const StepDraws& draws);

  // The chip has come to a launch. False where its host is not late with it.
  bool hold(std::int32_t chip, Stream stream, Time now) {
    if (!any() || stream != Stream::kGradient || chips_[chip].delay.ps == 0) return false;
    await(chip, now);
    return true;
  }

  // How many of the stream the host has yet to launch.
  int waiting(std::int32_t chip, Stream stream) const {
    return any() && stream == Stream::kGradient ? static_cast<int>(chips_[chip].due.size()) : 0;
  }

  // The event of the chip's slot: the host launches.
  void launch(std::int32_t chip);

 private:
  struct Chip {
    std::int32_t rule = -1;  // index in StepVariation::late
    Time delay;              // in the present step
    std::deque<Time> due;
  };

  void await(std::int32_t chip, Time now);

  const StepVariation& variation_;
  IndexedEventQueue& event_queue_;
  const std::size_t first_slot_;
  std::vector<Chip> chips_;  // [chip class], empty without late hosts
};

}  // namespace podsim
