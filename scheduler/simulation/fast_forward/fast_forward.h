// What the simulation does not go through event by event: periods of loops, and whole steps, that repeat.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "engine/time_limits.h"
#include "scheduler/simulation/fast_forward/steady_state.h"
#include "scheduler/simulation/fast_forward/step_repetition.h"

namespace podsim {

class FastForward {
 public:
  // off: never. REQUIRES: `system` outlives this object.
  FastForward(const System& system, bool on) : on_(on), steady_(system, on) {}

  void enter_segment(std::int32_t chip, std::int32_t position) { steady_.enter_segment(chip, position); }
  bool due(std::int64_t events) { return steady_.due(events); }

  // A step begins.
  void begin_step() { steady_.forget(); }

  // A speed has changed: what has been seen so far does not come again.
  void forget() {
    steady_.forget();
    steps_.forget();
  }

  // Takes the state, which `visit(visitor)` goes over, and `now` over as many periods as repeat from here
  // before `edge` and kLongestRun, and behind which as many segments of each chip come as would come now;
  // false if there is none.
  template <class Visit>
  bool over_periods(Time& now, Time edge, std::size_t ahead, Visit&& visit) {
    StateCapture state = steady_.blank(now);
    visit(state);
    std::optional<StateJump> jump = steady_.look(std::move(state), std::min(edge, kAllOver), ahead);
    if (!jump) return false;
    take(*jump, now, visit);
    return true;
  }

  // A uncontended job's step has ended. As over_periods, over `most` whole steps at most; how many, of what
  // length.
  struct Steps {
    std::int64_t count = 0;
    Time length;
  };
  template <class Visit>
  Steps over_steps(Time& now, std::int64_t most, Time edge, Visit&& visit) {
    if (!on_ || most < 1) return {};
    StateCapture state(now);
    visit(state);
    std::optional<StateJump> jump = steps_.look(std::move(state), most, std::min(edge, kAllOver));
    if (!jump) return {};
    const Time before = now;
    take(*jump, now, visit);
    return {jump->periods(), {(now - before).ps / jump->periods()}};
  }

  std::int64_t periods_skipped() const { return periods_skipped_; }

 private:
  static constexpr Time kAllOver = kLongestRun + Time{1};  // nothing happens then

  template <class Visit>
  void take(StateJump& jump, Time& now, Visit&& visit) {
    visit(jump);
    now += jump.span();
    periods_skipped_ += jump.periods();
  }

  bool on_;
  SteadyState steady_;
  StepRepetition steps_;
  std::int64_t periods_skipped_ = 0;
};

}  // namespace podsim
