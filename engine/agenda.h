// What happens next, for a fixed number of slots that each wait for one event at most.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include "engine/units.h"

namespace podsim {

// A tree of least times, eight slots or nodes under each node: they fill one cache line. An event that is put
// off or brought forward is overwritten where it stands, so nothing is ever out of date and nothing is
// allocated. Slots whose events come close together should have close numbers. Of events at one instant that
// of the lowest slot is next.
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
  }

  // O(log slots), and O(1) where the event is not the next one of its neighbours.
  void set(std::size_t slot, Time time) {
    std::int64_t value = time.ps;
    for (std::vector<Line>& level : levels_) {
      Line& line = level[slot / kWidth];
      if (line[slot % kWidth] == value) return;
      line[slot % kWidth] = value;
      value = least_of(line);
      slot /= kWidth;
    }
    next_ = value;
  }

  void clear(std::size_t slot) { set(slot, Time::max()); }

  // Time::max() when there is no event.
  Time next_time() const { return {next_}; }

  // The slot of the next event. REQUIRES: there is one. O(log slots).
  std::size_t next() const {
    std::size_t slot = 0;
    for (std::size_t level = levels_.size(); level-- > 0;) {
      slot = slot * kWidth + first_of(levels_[level][slot], next_);
    }
    return slot;
  }

  // Goes over the times of all slots with a visitor of scheduler/state_capture.h, which moves all or none.
  template <class Visitor>
  void visit(Visitor& state) {
    for (Line& line : levels_.front())
      for (std::int64_t& time : line.time) state.moving(time);
    for (std::size_t level = 1; level < levels_.size(); ++level)
      for (Line& line : levels_[level])
        for (std::int64_t& time : line.time) state.moves_along(time);
    state.moves_along(next_);
  }

 private:
  static constexpr std::size_t kWidth = 8;
  struct alignas(64) Line {
    std::int64_t time[kWidth];
    std::int64_t& operator[](std::size_t i) { return time[i]; }
    std::int64_t operator[](std::size_t i) const { return time[i]; }
  };

  // Without branches: which of eight times is least can hardly be predicted.
  static std::int64_t least(std::int64_t a, std::int64_t b) { return a < b ? a : b; }
  static std::int64_t least_of(const Line& line) {
    const std::int64_t a = least(least(line[0], line[1]), least(line[2], line[3]));
    const std::int64_t b = least(least(line[4], line[5]), least(line[6], line[7]));
    return least(a, b);
  }
  static std::size_t first_of(const Line& line, std::int64_t time) {
    unsigned found = 0;
    for (std::size_t i = 0; i < kWidth; ++i) found |= static_cast<unsigned>(line[i] == time) << i;
    return static_cast<std::size_t>(std::countr_zero(found));
  }

  std::vector<std::vector<Line>> levels_;  // slots first, the root last
  std::int64_t next_ = Time::max().ps;
};

}  // namespace podsim
