// The state of the simulation at an instant, taken down to compare it with another, and taken periods
// further.
//
// Whatever has a state has a function `visit(visitor)` that names each of its numbers by how it may change
// over a period: `fixed` stays the same; `moving` keeps its distance from the present; `past` is only looked
// back at, and moves along or stays; `total` is only added to; `position` is that of a chip class in its
// order; `host` is how far a host has come. Functions name the same numbers in the same order whenever the
// fixed ones are the same.
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "engine/check.h"
#include "engine/units.h"

namespace podsim {

// A list that is written to at its end, some thousand times for each state, in room that is used again.
class CapturedNumbers {
 public:
  void push_back(std::int64_t number) {
    if (size_ == room_) [[unlikely]]
      grow();
    numbers_[size_++] = number;
  }
  void clear() { size_ = 0; }
  std::size_t size() const { return size_; }
  std::int64_t operator[](std::size_t i) const { return numbers_[i]; }
  friend bool operator==(const CapturedNumbers& a, const CapturedNumbers& b) {
    return std::equal(a.numbers_.get(), a.numbers_.get() + a.size_, b.numbers_.get(),
                      b.numbers_.get() + b.size_);
  }

 private:
  void grow();

  std::unique_ptr<std::int64_t[]> numbers_;
  std::size_t size_ = 0, room_ = 0;
};

// A visitor that takes the state down.
class StateCapture {
 public:
  explicit StateCapture(Time now) : now_(now) {}
  // As if new, in the room that this one has.
  void begin(Time now);

  template <std::integral Number>
  void fixed(Number number) {
    fixed_.push_back(static_cast<std::int64_t>(number));
  }
  void fixed(double number) { fixed_.push_back(std::bit_cast<std::int64_t>(number)); }
  void fixed(Time time) { fixed_.push_back(time.ps); }
  template <class Object>
  void fixed(const Object* object) {
    static_assert(sizeof object == sizeof(std::int64_t));
    fixed_.push_back(std::bit_cast<std::int64_t>(object));
  }

  // The last time of all stands for never, and stays.
  void moving(std::int64_t ps) { fixed_.push_back(ps == INT64_MAX ? INT64_MAX : ps - now_.ps); }
  void moving(Time time) { moving(time.ps); }
  void moves_along(std::int64_t) {}  // follows from what else is named

  void past(Time time) { past_.push_back(time.ps); }

  template <std::integral Number>
  void total(Number number) {
    totals_.push_back(static_cast<std::int64_t>(number));
  }
  void total(Time time) { totals_.push_back(time.ps); }
  void total(Int128 number) { totals_.push_back(static_cast<std::int64_t>(number)); }  // modulo 2^64

  void position(std::int32_t position) { positions_.push_back(position); }

  // Up to when a host has launched, and when it last waited for its chip or the chip for it. A host that
  // gains on its chip and does not meet it changes nothing.
  void host(Time time, Time met) {
    hosts_.push_back(time.ps);
    met_.push_back(met.ps);
  }

  // What happened since `before` would happen again from here, as far as programs go on alike.
  bool repeats(const StateCapture& before) const;

  // How many periods as long as the time since `before` end before that edge. REQUIRES: now() < edge.
  std::int64_t periods_before(const StateCapture& before, Time edge) const {
    PODSIM_CHECK(before.now_ < now_ && now_ < edge, "captures are in order, and before the edge");
    return (edge.ps - 1 - now_.ps) / (now_.ps - before.now_.ps);
  }

  Time now() const { return now_; }
  const CapturedNumbers& positions() const { return positions_; }  // [chip class]
  std::size_t size() const;                                        // numbers taken down

 private:
  friend class StateJump;

  Time now_;
  CapturedNumbers fixed_, past_, totals_, positions_, hosts_, met_;
};

// A visitor that adds to every number what it gained from one capture to the next, so many times.
class StateJump {
 public:
  // REQUIRES: after.repeats(before); what it visits is as in `after`.
  StateJump(StateCapture before, StateCapture after, std::int64_t periods)
      : before_(std::move(before)), after_(std::move(after)), periods_(periods) {
    PODSIM_CHECK(periods > 0 && before_.now_ < after_.now_, "a jump leads ahead");
  }

  std::int64_t periods() const { return periods_; }
  Time span() const { return periods_ * (after_.now_ - before_.now_); }

  template <class Number>
  void fixed(const Number&) {}
  void moving(std::int64_t& ps) {
    if (ps != INT64_MAX) ps += span().ps;
  }
  void moving(Time& time) { moving(time.ps); }
  void moves_along(std::int64_t& ps) { moving(ps); }
  void past(Time& time) { advance(time.ps, before_.past_, after_.past_, next_past_); }
  template <std::integral Number>
  void total(Number& number) {
    advance(number, before_.totals_, after_.totals_, next_total_);
  }
  void total(Time& time) { total(time.ps); }
  void total(Int128& number) { advance(number, before_.totals_, after_.totals_, next_total_); }
  void position(std::int32_t& position) {
    advance(position, before_.positions_, after_.positions_, next_position_);
  }
  void host(Time& time, Time) { advance(time.ps, before_.hosts_, after_.hosts_, next_host_); }

 private:
  template <class Number>
  void advance(Number& number, const CapturedNumbers& before, const CapturedNumbers& after,
               std::size_t& next) {
    // What was gained in one period fits, also of a number that does not.
    const auto gained = static_cast<std::uint64_t>(after[next]) - static_cast<std::uint64_t>(before[next]);
    number += static_cast<Number>(Int128{periods_} * static_cast<std::int64_t>(gained));
    ++next;
  }

  StateCapture before_, after_;
  std::int64_t periods_;
  std::size_t next_past_ = 0, next_total_ = 0, next_position_ = 0, next_host_ = 0;
};

}  // namespace podsim
