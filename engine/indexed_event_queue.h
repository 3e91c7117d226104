// What happens next, for a fixed number of slots that each wait for one event at most.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/cache.h"
#include "engine/lists.h"
#include "engine/time_tree.h"
#include "engine/units.h"

namespace podsim {

// An event that is put off or brought forward is overwritten where it stands. Of events at one instant that
// of the lowest slot is next.
//
// The first few events can be looked at ahead of their turn, so that what they need is loaded meanwhile.
// Those that have been are *near*: a list in order, before all that is in the tree. That changes no order.
//
// Some slots can be set apart, in parts that have a next event each. What is next is said of the others, and
// of a part where that is named.
class IndexedEventQueue {
 public:
  explicit IndexedEventQueue(std::size_t slots) : tree_(slots), is_near_(slots, false) {}

  // Sets slots apart: part i has slots[i]. REQUIRES: called once at most, before any event; each slot is in
  // one part at most, and no part is empty.
  void set_apart(const std::vector<std::vector<std::size_t>>& slots) {
    apart_ = Lists<std::size_t>(slots);
    times_apart_.assign(apart_.all().size(), Time::max().ps);
    place_.assign(is_near_.size(), kNowhere);
    for (std::size_t i = 0; i < apart_.all().size(); ++i)
      place_[apart_.all()[i]] = static_cast<std::uint32_t>(i);
  }

  // O(log slots), and O(1) where the event is not the next one of its neighbours.
  void set(std::size_t slot, Time time) {
    if (!place_.empty() && place_[slot] != kNowhere) return void(times_apart_[place_[slot]] = time.ps);
    if (near_count_ > 0) {
      if (is_near_[slot]) leave_near(slot);
      if (near_count_ > 0 && Event{time.ps, slot} < near(near_count_ - 1)) {
        tree_.set(slot, Time::max().ps);
        join_near({time.ps, slot});
        return;
      }
    }
    tree_.set(slot, time.ps);
  }

  void clear(std::size_t slot) { set(slot, Time::max()); }

  // The time of the slot's event. REQUIRES: the slot is apart.
  Time time_apart(std::size_t slot) const { return {times_apart_[place_[slot]]}; }

  // Loads what is asked for of the part.
  void fetch_part(std::size_t part) const {
    const std::span<const std::size_t> slots = apart_[part];
    fetch(&times_apart_[apart_.begin_of(part)], slots.size_bytes());
    fetch(slots.data(), slots.size_bytes());
  }
  // Then, what is asked for of its first and its last slots.
  void fetch_places(std::size_t part) const {
    fetch(place_[apart_[part].front()]);
    fetch(place_[apart_[part].back()]);
  }

  // Time::max() when there is no event.
  Time next_time() const { return {near_count_ > 0 ? near(0).time : tree_.least()}; }

  // The slot of the next event. REQUIRES: there is one. O(log slots).
  std::size_t next() const { return near_count_ > 0 ? near(0).slot : tree_.least_slot(); }

  // Ordered as they happen: of one instant, lower slots first.
  struct Event {
    std::int64_t time;
    std::size_t slot;
    bool operator<(const Event& other) const {
      return time != other.time ? time < other.time : slot < other.slot;
    }
  };

  // The next event of the part; Time::max() and any slot when there is none. O(slots of the part), without
  // branches: a part is small, and is asked less often than it is changed.
  Event next(std::size_t part) const {
    const std::span<const std::size_t> slots = apart_[part];
    const std::int64_t* times = &times_apart_[apart_.begin_of(part)];
    std::int64_t least = Time::max().ps;
    std::size_t first = 0;
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const bool less = times[i] < least;
      least = less ? times[i] : least;
      first = less ? i : first;
    }
    return {least, slots[first]};
  }

  // How many events the part has by then. O(slots of the part).
  std::size_t due(std::size_t part, Time by) const {
    const std::int64_t* times = &times_apart_[apart_.begin_of(part)];
    std::size_t count = 0;
    for (std::size_t i = 0; i < apart_[part].size(); ++i) count += times[i] <= by.ps;
    return count;
  }

  // The slot of the first event that is not near yet, which it is from now on; none where there are enough
  // of them. O(log slots).
  std::optional<std::size_t> look_ahead(std::size_t most = kMostNear) {
    if (near_count_ >= most || tree_.least() == Time::max().ps) return std::nullopt;
    const std::size_t slot = tree_.least_slot();
    near(near_count_++) = {tree_.least(), slot};
    is_near_[slot] = true;
    tree_.set(slot, Time::max().ps);
    tree_.fetch_least();
    return slot;
  }

  // The slot of the near event with so many before it; none where there are fewer.
  std::optional<std::size_t> near_slot(std::size_t before) const {
    if (before >= near_count_) return std::nullopt;
    return near(before).slot;
  }

  // Goes over the times of all slots with a visitor of scheduler/simulation/fast_forward/state_capture.h,
  // which moves all or none. REQUIRES: none is apart.
  template <class Visitor>
  void visit(Visitor& state) {
    while (near_count_ > 0) file_last();
    tree_.visit(state);
  }

 private:
  static constexpr std::size_t kMostNear = 16;  // a power of two
  static constexpr std::uint32_t kNowhere = UINT32_MAX;

  Event& near(std::size_t i) { return near_[(first_near_ + i) % kMostNear]; }
  const Event& near(std::size_t i) const { return near_[(first_near_ + i) % kMostNear]; }

  // The slot's event is near no longer; those after it move up.
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

  // Puts an event among the near ones, in order; where there are enough the last of them goes back to the
  // tree. REQUIRES: there is a later one that is near.
  void join_near(const Event& event) {
    if (near_count_ == kMostNear) file_last();
    std::size_t i = near_count_++;
    for (; i > 0 && event < near(i - 1); --i) near(i) = near(i - 1);
    near(i) = event;
    is_near_[event.slot] = true;
  }

  // Puts the last of the near events back into the tree.
  void file_last() {
    const Event& last = near(--near_count_);
    is_near_[last.slot] = false;
    tree_.set(last.slot, last.time);
  }

  TimeTree tree_;
  std::array<Event, kMostNear> near_;            // a ring
  std::size_t first_near_ = 0, near_count_ = 0;  // where in the ring the first stands; how many
  std::vector<bool> is_near_;                    // [slot]
  Lists<std::size_t> apart_;                     // [part] slots
  std::vector<std::int64_t> times_apart_;        // of their events, part after part
  std::vector<std::uint32_t> place_;             // [slot] in these, kNowhere; empty where none is apart
};

}  // namespace podsim
