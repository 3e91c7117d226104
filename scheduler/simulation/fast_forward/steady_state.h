// Finds that the loops of a step have become periodic, so that the simulation may jump over whole periods.
//
// Rule. Let the state of the simulation at two instants T apart be the same but for what moves along with the
// present, and let chip class c have come d_c positions further in its program in between. What happens next
// depends only on the state and on the programs; so as long as the order of every chip class repeats what it
// had d_c positions before, the simulation repeats the last period, picosecond by picosecond. After n periods
// every number of the state is what it is now plus n times what it gained over the last one.
// docs/theory/steady-state.md has the proof.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "scheduler/folding/system.h"
#include "scheduler/simulation/fast_forward/repetition.h"
#include "scheduler/simulation/fast_forward/state_capture.h"

namespace podsim {

// Watches the chip class with the longest order and asks for captures of the state where that repeats.
class SteadyState {
 public:
  // off: never asks. REQUIRES: `system` outlives this object.
  SteadyState(const System& system, bool on);

  // A step begins: positions start again. Or a speed has changed.
  void forget() { kept_.clear(); }

  // A chip class comes to this position of its order.
  void enter_segment(std::int32_t chip, std::int32_t position) {
    if (chip == watched_) watch(static_cast<std::size_t>(position));
  }

  // Whether to capture the state once all that happens at this instant has happened. In vain no more
  // than two numbers are captured for each event that was handled, and a few captures, so that looking costs
  // little.
  bool due(std::int64_t events) {
    if (!due_) return false;
    due_ = false;
    return affordable(events);
  }

  // To capture the state at that instant in.
  StateCapture blank(Time now) {
    StateCapture state = spare_ ? *std::exchange(spare_, std::nullopt) : StateCapture(now);
    state.begin(now);
    return state;
  }

  // What the state captured now allows to jump over before `edge`, where a speed changes, so that behind it
  // the same segments come as would come now, `ahead` of them for each chip class. REQUIRES: due() was just
  // true.
  std::optional<StateJump> look(StateCapture state, Time edge, std::size_t ahead);

 private:
  static constexpr std::int32_t kNone = -1;

  void watch(std::size_t position);
  bool affordable(std::int64_t events) const;
  void keep(StateCapture state);
  std::int64_t periods_ahead(const StateCapture& before, const StateCapture& now, std::size_t ahead) const;

  const System& system_;
  std::int32_t watched_ = kNone;             // chip class
  std::vector<Repetition> repetitions_;      // of its order
  std::vector<std::int32_t> repetition_at_;  // [position] that reaches furthest, or kNone
  std::size_t position_ = 0;                 // of the watched chip class
  bool due_ = false;
  std::int64_t captured_ = 0, last_size_ = 0;  // numbers captured since the last jump, and the last time

  // Later captures are compared with the first, which serves for `patience_` comparisons, and with the last.
  std::vector<StateCapture> kept_;
  std::optional<StateCapture> spare_;  // that is kept no longer
  std::size_t first_position_ = 0;
  int compared_ = 0, patience_ = 1;
};

}  // namespace podsim
