// What happens next, for a fixed number of slots that each wait for one event at most.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <vector>

#include "engine/cache.h"
#include "engine/units.h"

namespace podsim {

// A tree of least times, eight slots or nodes under each node: they fill one cache line. An event that is put
// off or brought forward is overwritten where it stands, so nothing is ever out of date and nothing is
// allocated. Slots whose events come close together should have close numbers. Of events at one instant that
// of the lowest slot is next.
//
// The first few events can be looked at ahead of their turn, so that what they need is loaded meanwhile.
// Those that have been are *near*: a list in order, before all that is in the tree. That changes no order.
class Agenda {
 public:
  explicit Agenda(std::size_t slots) {
    std::size_t size = std::max<std::size_t>(slots, 1);
    do {
      const std::size_t lines = (size + kWidth - 1) / kWidth;
      levels_.emplace_back(lines);
      for (Line& line : levels_.back()) std::fill(std::begin(line.time), std::end(line.time), Time::max().ps);
      size = lines;
    } while (size > 1);
    is_near_.resize(slots, false);
  }

  // O(log slots), and O(1) where the event is not the next one of its neighbours.
  void set(std::size_t slot, Time time) {
    if (near_count_ > 0) {
      if (is_near_[slot]) leave_near(slot);
      if (near_count_ > 0 && Event{time.ps, slot} < near(near_count_ - 1)) {
        file(slot, Time::max().ps);
        join_near({time.ps, slot});
        return;
      }
    }
    file(slot, time.ps);
  }

  void clear(std::size_t slot) { set(slot, Time::max()); }

  // Time::max() when there is no event.
  Time next_time() const { return {near_count_ > 0 ? near(0).time : next_}; }

  // The slot of the next event. REQUIRES: there is one. O(log slots).
  std::size_t next() const { return near_count_ > 0 ? near(0).slot : next_filed(); }

  // The slot of the first event that is not near yet, which it is from now on; none where there are enough
  // of them. O(log slots).
  std::optional<std::size_t> look_ahead() {
    if (near_count_ == kMostNear || next_ == Time::max().ps) return std::nullopt;
    const std::size_t slot = next_filed();
    near(near_count_++) = {next_, slot};
    is_near_[slot] = true;
    file(slot, Time::max().ps);
    if (next_ != Time::max().ps) fetch(levels_.front()[next_line_ = next_line()]);
    return slot;
  }

  // The slot of the near event with so many before it; none where there are fewer.
  std::optional<std::size_t> near_slot(std::size_t before) const {
    if (before >= near_count_) return std::nullopt;
    return near(before).slot;
  }

  // Goes over the times of all slots with a visitor of scheduler/state_capture.h, which moves all or none.
  template <class Visitor>
  void visit(Visitor& state) {
    while (near_count_ > 0) file_last();
    for (Line& line : levels_.front())
      for (std::int64_t& time : line.time) state.moving(time);
    for (std::size_t level = 1; level < levels_.size(); ++level)
      for (Line& line : levels_[level])
        for (std::int64_t& time : line.time) state.moves_along(time);
    state.moves_along(next_);
  }

 private:
  static constexpr std::size_t kWidth = 8;
  static constexpr std::size_t kMostNear = 16;  // a power of two
  static constexpr std::size_t kUnknown = SIZE_MAX;
  struct Event {
    std::int64_t time;
    std::size_t slot;
    bool operator<(const Event& other) const {
      return time != other.time ? time < other.time : slot < other.slot;
    }
  };
  struct alignas(kCacheLine) Line {
    std::int64_t time[kWidth];
    std::int64_t& operator[](std::size_t i) { return time[i]; }
    std::int64_t operator[](std::size_t i) const { return time[i]; }
  };

  // Without branches: which of eight times is least can hardly be predicted.
  static std::int64_t least(std::int64_t a, std::int64_t b) { return a < b ? a : b; }
  static std::int64_t least_of(const Line& line) {
    std::int64_t a = least(least(line[0], line[1]), least(line[2], line[3]));
    const std::int64_t b = least(least(line[4], line[5]), least(line[6], line[7]));
    asm("" : "+r"(a));  // or GCC makes one long chain of all eight
    return least(a, b);
  }
  static std::size_t first_of(const Line& line, std::int64_t time) {
    unsigned found = 0;
#pragma GCC unroll 8
    for (std::size_t i = 0; i < kWidth; ++i) found |= static_cast<unsigned>(line[i] == time) << i;
    return static_cast<std::size_t>(std::countr_zero(found));
  }

  // In the tree.
  void file(std::size_t slot, std::int64_t time) {
    if (time <= next_ || levels_.front()[slot / kWidth][slot % kWidth] == next_) next_line_ = kUnknown;
    for (std::vector<Line>& level : levels_) {
      Line& line = level[slot / kWidth];
      if (line[slot % kWidth] == time) return;
      line[slot % kWidth] = time;
      time = least_of(line);
      slot /= kWidth;
    }
    next_ = time;
  }
  // REQUIRES: there is an event in the tree.
  std::size_t next_filed() const {
    const std::size_t line = next_line_ == kUnknown ? next_line() : next_line_;
    return line * kWidth + first_of(levels_.front()[line], next_);
  }
  // Of slots, that with the next event of the tree.
  std::size_t next_line() const {
    std::size_t line = 0;
    for (std::size_t level = levels_.size(); level-- > 1;)
      line = line * kWidth + first_of(levels_[level][line], next_);
    return line;
  }

  Event& near(std::size_t i) { return near_[(first_near_ + i) % kMostNear]; }
  const Event& near(std::size_t i) const { return near_[(first_near_ + i) % kMostNear]; }

  void leave_near(std::size_t slot) {
    is_near_[slot] = false;
    --near_count_;
    if (near_[first_near_].slot == slot) {
      first_near_ = (first_near_ + 1) % kMostNear;
      return;
    }
    std::size_t i = 1;
    while (near(i).slot != slot) ++i;
    for (; i < near_count_; ++i) near(i) = near(i + 1);
  }

  // REQUIRES: there is a later one that is near.
  void join_near(const Event& event) {
    if (near_count_ == kMostNear) file_last();
    std::size_t i = near_count_++;
    for (; i > 0 && event < near(i - 1); --i) near(i) = near(i - 1);
    near(i) = event;
    is_near_[event.slot] = true;
  }

  void file_last() {
    const Event& last = near(--near_count_);
    is_near_[last.slot] = false;
    file(last.slot, last.time);
  }

  std::vector<std::vector<Line>> levels_;  // slots first, the root last
  std::int64_t next_ = Time::max().ps;     // of the tree
  std::size_t next_line_ = kUnknown;       // if it has been looked for
  std::array<Event, kMostNear> near_;      // a ring
  std::size_t first_near_ = 0, near_count_ = 0;
  std::vector<bool> is_near_;  // [slot]
};

}  // namespace podsim
