// The least of many times, each of which may change at any moment.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include "engine/cache.h"
#include "engine/units.h"

namespace podsim {

// Least times of eight slots or nodes under each node: they fill one cache line. A time is overwritten where
// it stands, so nothing is ever out of date and nothing is allocated. Slots whose times come close together
// should have close numbers.
// INVARIANT: the time of a node is the least of the eight below it, so the root's least is that of all slots.
// A change goes up only as far as it changes a least time.
class TimeTree {
 public:
  explicit TimeTree(std::size_t slots) {
    std::size_t size = std::max<std::size_t>(slots, 1);
    do {
      first_[levels_++] = static_cast<std::uint32_t>(lines_.size());
      size = (size + kWidth - 1) / kWidth;
      lines_.resize(lines_.size() + size);
    } while (size > 1);
    for (Line& line : lines_) std::fill(std::begin(line.time), std::end(line.time), Time::max().ps);
  }

  // O(log slots), and O(1) where the time is not the least one of its neighbours. Time::max() = none.
  void set(std::size_t slot, std::int64_t time) {
    if (time <= least_ || at(slot) == least_) least_line_ = kUnknown;
    for (std::size_t level = 0; level < levels_; ++level) {
      Line& line = lines_[first_[level] + slot / kWidth];
      if (line[slot % kWidth] == time) return;
      line[slot % kWidth] = time;
      time = least_of(line);
      slot /= kWidth;
    }
    least_ = time;
  }

  std::int64_t at(std::size_t slot) const { return lines_[slot / kWidth][slot % kWidth]; }
  std::int64_t least() const { return least_; }

  // The lowest slot with the least time. REQUIRES: there is one. O(log slots).
  std::size_t least_slot() const {
    const std::size_t line = least_line_ == kUnknown ? least_line() : least_line_;
    return line * kWidth + first_of(lines_[line], least_);
  }

  // Finds the line of the next slot to be asked for, and begins to load it.
  void fetch_least() {
    if (least_ != Time::max().ps) fetch(lines_[least_line_ = least_line()]);
  }

  // Goes over the times of all slots with a visitor of scheduler/simulation/fast_forward/state_capture.h,
  // which moves all or none.
  template <class Visitor>
  void visit(Visitor& state) {
    const std::size_t slot_lines = levels_ > 1 ? first_[1] : lines_.size();
    for (std::size_t l = 0; l < lines_.size(); ++l)
      for (std::int64_t& time : lines_[l].time) l < slot_lines ? state.moving(time) : state.moves_along(time);
    state.moves_along(least_);
  }

 private:
  static constexpr std::size_t kWidth = 8;
  static constexpr std::size_t kUnknown = SIZE_MAX;
  struct alignas(kCacheLine) Line {
    std::int64_t time[kWidth];
    std::int64_t& operator[](std::size_t i) { return time[i]; }
    std::int64_t operator[](std::size_t i) const { return time[i]; }
  };

  // Without branches: which of eight times is least can hardly be predicted.
  static std::int64_t lesser(std::int64_t a, std::int64_t b) { return a < b ? a : b; }
  static std::int64_t least_of(const Line& line) {
    std::int64_t a = lesser(lesser(line[0], line[1]), lesser(line[2], line[3]));
    const std::int64_t b = lesser(lesser(line[4], line[5]), lesser(line[6], line[7]));
    asm("" : "+r"(a));  // or GCC makes one long chain of all eight
    return lesser(a, b);
  }
  static std::size_t first_of(const Line& line, std::int64_t time) {
    unsigned found = 0;
#pragma GCC unroll 8
    for (std::size_t i = 0; i < kWidth; ++i) found |= static_cast<unsigned>(line[i] == time) << i;
    return static_cast<std::size_t>(std::countr_zero(found));
  }

  std::size_t least_line() const {
    std::size_t line = 0;
    for (std::size_t level = levels_; level-- > 1;)
      line = line * kWidth + first_of(lines_[first_[level] + line], least_);
    return line;
  }

  static constexpr std::size_t kMostLevels = 22;    // of 2^64 slots
  std::vector<Line> lines_;                         // level after level, slots first, the root last
  std::array<std::uint32_t, kMostLevels> first_{};  // [level] line
  std::size_t levels_ = 0;
  std::int64_t least_ = Time::max().ps;
  std::size_t least_line_ = kUnknown;  // of slots, if it has been looked for
};

}  // namespace podsim
