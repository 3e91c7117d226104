// Rules of the heap of events.
#include "engine/event_heap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "engine/random.h"

namespace podsim::event_heap_test {
namespace {

TEST(EventHeap, without_events_nothing_is_next) {
  EXPECT_EQ(EventHeap(0).next_time(), Time::max());
  EventHeap events(100);
  EXPECT_EQ(events.next_time(), Time::max());
  events.set(63, {5});
  events.clear(63);
  EXPECT_EQ(events.next_time(), Time::max());
}

TEST(EventHeap, the_next_event_is_of_least_time_whatever_was_taken_off_put_off_or_brought_forward) {
  for (const std::size_t slots : {1, 2, 9, 64, 300, 2000}) {
    EventHeap events(slots);
    std::vector<std::int64_t> times(slots, Time::max().ps);
    auto draw = [&, draws = std::uint64_t{0}]() mutable {
      return random_bits(1, RandomPurpose::kTest, slots, draws++);
    };
    const std::uint64_t instants = slots > 1000 ? 30 : 1000;  // many slots wait for the same
    for (int i = 0; i < 5000; ++i) {
      const auto least =
          static_cast<std::size_t>(std::min_element(times.begin(), times.end()) - times.begin());
      const std::size_t slot = draw() % 3 == 0 ? least : draw() % slots;
      times[slot] = draw() % 3 == 0 ? Time::max().ps : static_cast<std::int64_t>(draw() % instants);
      times[slot] == Time::max().ps ? events.clear(slot) : events.set(slot, {times[slot]});
      if (draw() % 3 == 0) continue;  // what was taken off leaves a gap until something is asked for
      ASSERT_EQ(events.next_time().ps, *std::min_element(times.begin(), times.end()));
      if (events.next_time() == Time::max()) continue;
      ASSERT_EQ(times[events.next()], events.next_time().ps);
    }
  }
}

struct Shift {
  int told_to_move = 0, told_to_follow = 0;
  void moving(std::int64_t& ps) {
    ++told_to_move;
    if (ps != Time::max().ps) ps += 100;
  }
  void moves_along(std::int64_t& ps) {
    ++told_to_follow;
    if (ps != Time::max().ps) ps += 100;
  }
};

TEST(EventHeap, all_events_move_along_and_what_never_comes_stays) {
  EventHeap events(4);
  events.set(1, {5});
  events.set(3, {9});
  Shift shift;
  events.visit(shift);
  EXPECT_EQ(events.next_time(), Time{105});
  events.clear(1);
  EXPECT_EQ(events.next_time(), Time{109});
  events.clear(3);
  EXPECT_EQ(events.next_time(), Time::max());
}

TEST(EventHeap, events_that_follow_from_others_are_told_apart_and_move_along) {
  EventHeap events(5);
  events.set(1, {5});
  events.set(3, {9});
  Shift shift;
  events.visit(shift, 2);
  EXPECT_EQ(shift.told_to_follow, 2);
  EXPECT_EQ(shift.told_to_move, 3);
  EXPECT_EQ(events.next_time(), Time{105});
  events.clear(1);
  EXPECT_EQ(events.next_time(), Time{109});
}

TEST(EventHeap, slots_that_wait_for_the_same_instant_move_along_too) {
  constexpr std::size_t kSlots = 3000;
  EventHeap events(kSlots);
  for (std::size_t slot = 0; slot < kSlots; ++slot) events.set(slot, {static_cast<std::int64_t>(slot % 3)});
  Shift shift;
  events.visit(shift);
  std::vector<int> taken(kSlots, 0);
  for (std::size_t k = 0; k < kSlots; ++k) {
    const std::size_t slot = events.next();
    ASSERT_EQ(events.next_time(), Time{100 + static_cast<std::int64_t>(slot % 3)});
    ASSERT_EQ(slot % 3, 3 * k / kSlots) << "the earlier first";
    ++taken[slot];
    events.clear(slot);
  }
  EXPECT_EQ(events.next_time(), Time::max());
  EXPECT_EQ(std::ranges::count(taken, 1), std::int64_t{kSlots});
}

}  // namespace
}  // namespace podsim::event_heap_test
