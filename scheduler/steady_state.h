// Finds that the loops of a step have become periodic, so that the simulation may jump over whole periods.
//
// Rule. Let the state of the simulation at two instants T apart be the same but for what moves along with the
// present, and let chip class c have come d_c positions further in its program in between. What happens next
// depends only on the state and on the programs; so as long as the order of every chip class repeats what it
// had d_c positions before, the simulation repeats the last period, picosecond by picosecond. After n periods
// every number of the state is what it is now plus n times its change over the last one.
// docs/steady-state.md has the proof.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/units.h"
#include "scheduler/repetition.h"
#include "scheduler/system.h"

namespace podsim {

// The state at an instant: numbers in the order in which a function `visit(visitor)` names them, sorted by
// how they may change over a period.
class StateCapture {
 public:
  explicit StateCapture(Time now) : now_(now) {}

  void fixed(std::int64_t value) { fixed_.push_back(value); }       // stays the same
  void moving(Time time) { fixed_.push_back(time.ps - now_.ps); }   // keeps its distance from the present
  void past(Time time) { past_.push_back(time.ps); }                // only looked back at: moves along or stays
  void total(std::int64_t value) { totals_.push_back(value); }      // only added to
  void total(Time time) { totals_.push_back(time.ps); }
  void total(double value) { bytes_.push_back(value); }
  void position(std::size_t position) { positions_.push_back(position); }  // of each chip class in its order

  // The time up to which a host has launched, and when it last waited for its chip or the chip for it. A host
  // that gains on its chip without ever meeting it changes nothing.
  void host(Time time, Time met) {
    hosts_.push_back(time.ps);
    met_.push_back(met.ps);
  }

  // Numbers kept.
  std::size_t size() const {
    return fixed_.size() + past_.size() + totals_.size() + positions_.size() + 2 * hosts_.size();
  }

 private:
  friend class StateJump;
  friend class SteadyState;

  bool repeats(const StateCapture& before) const;

  Time now_;
  std::vector<std::int64_t> fixed_, past_, totals_, hosts_, met_;
  std::vector<std::size_t> positions_;
  std::vector<double> bytes_;
};

// Takes every number of the state that changes from one period to the next some periods further.
class StateJump {
 public:
  std::int64_t periods() const { return periods_; }
  Time span() const { return periods_ * (after_.now_ - before_.now_); }

  void fixed(std::int64_t) {}
  void moving(Time& time) { time += span(); }
  void past(Time& time) { advance(time.ps, before_.past_, after_.past_, next_past_); }
  void total(std::int64_t& value) { advance(value, before_.totals_, after_.totals_, next_total_); }
  void total(Time& time) { total(time.ps); }
  void total(double& value) { value += double(periods_)*(after_.bytes_[nb_]-before_.bytes_[nb_]); ++nb_; }
  std::size_t nb_=0;
  void position(std::size_t& value) { advance(value, before_.positions_, after_.positions_, next_position_); }
  void host(Time& time, Time) { advance(time.ps, before_.hosts_, after_.hosts_, next_host_); }

 private:
  friend class SteadyState;
  StateJump(StateCapture before, StateCapture after, std::int64_t periods)
      : before_(std::move(before)), after_(std::move(after)), periods_(periods) {}

  template <class Number>
  void advance(Number& value, const std::vector<Number>& before, const std::vector<Number>& after,
               std::size_t& next) {
    value += static_cast<Number>(periods_) * (after[next] - before[next]);
    ++next;
  }

  StateCapture before_, after_;
  std::int64_t periods_;
  std::size_t next_past_ = 0, next_total_ = 0, next_position_ = 0, next_host_ = 0;
};

// Watches the chip class with the longest order and asks for captures of the state where its program repeats.
class SteadyState {
 public:
  // off: never asks. REQUIRES: `system` outlives this object.
  SteadyState(const System& system, bool on);

  // A chip class comes to this position of its order.
  void turn_to(std::int32_t chip, std::size_t position) {
    if (chip == watched_) watch(position);
  }

  // Whether the state is to be captured once all that happens at this instant has happened. The numbers
  // captured stay fewer than the events handled so far, and a few captures more.
  bool due(std::int64_t events) {
    if (!due_) return false;
    due_ = false;
    return affordable(events);
  }

  // What the state captured now allows to jump. REQUIRES: due() was just true.
  std::optional<StateJump> look(StateCapture state);

  // A step begins: positions start again.
  void forget() { reference_.reset(); }

 private:
  void watch(std::size_t position);
  bool affordable(std::int64_t events) const;
  std::int64_t periods_ahead(const StateCapture& before, const StateCapture& now) const;

  const System& system_;
  std::int32_t watched_ = -1;           // chip class
  std::vector<Repetition> repetitions_;  // of its order
  std::vector<std::int32_t> repetition_at_;  // [position], -1 = none that leaves room for a jump
  bool due_ = false;
  std::size_t position_ = 0;  // of the watched chip class
  std::int64_t captured_ = 0;  // numbers so far
  std::size_t size_ = 0;       // of the last capture

  // The capture that later ones are compared with.
  std::optional<StateCapture> reference_;
  std::size_t reference_position_ = 0;
  std::int32_t reference_repetition_ = -1;
  int compared_ = 0, patience_ = 1;  // captures compared with it, and to be compared before the next takes its place
};

}  // namespace podsim
