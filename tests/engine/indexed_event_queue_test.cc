// Rules of the indexed event queue.
#include "engine/indexed_event_queue.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/random.h"

namespace podsim::indexed_event_queue_test {
namespace {

TEST(IndexedEventQueue, without_events_nothing_is_next) {
  EXPECT_EQ(IndexedEventQueue(0).next_time(), Time::max());
  IndexedEventQueue event_queue(100);
  EXPECT_EQ(event_queue.next_time(), Time::max());
  event_queue.set(63, {5});
  event_queue.clear(63);
  EXPECT_EQ(event_queue.next_time(), Time::max());
}

TEST(IndexedEventQueue, of_events_at_one_instant_that_of_the_lowest_slot_is_next) {
  IndexedEventQueue event_queue(100);
  for (const std::size_t slot : {99, 70, 8, 64}) event_queue.set(slot, {7});
  EXPECT_EQ(event_queue.next(), 8u);
  event_queue.clear(8);
  EXPECT_EQ(event_queue.next(), 64u);
}

TEST(IndexedEventQueue, the_next_event_is_that_of_least_time_whatever_was_put_off_or_brought_forward) {
  for (const std::size_t slots : {1, 8, 9, 64, 65, 600}) {
    IndexedEventQueue event_queue(slots);
    std::vector<std::int64_t> times(slots, Time::max().ps);
    for (std::uint64_t i = 0; i < 5000; ++i) {
      const std::size_t slot = random_bits(1, RandomPurpose::kTest, slots, 2 * i) % slots;
      times[slot] = static_cast<std::int64_t>(random_bits(1, RandomPurpose::kTest, slots, 2 * i + 1) % 1000);
      event_queue.set(slot, {times[slot]});
      const auto least = std::min_element(times.begin(), times.end());
      ASSERT_EQ(event_queue.next_time().ps, *least);
      ASSERT_EQ(event_queue.next(), static_cast<std::size_t>(least - times.begin()));
    }
  }
}

TEST(IndexedEventQueue, looking_ahead_names_what_comes_next_in_order_and_not_too_much_of_it) {
  IndexedEventQueue event_queue(100);
  for (std::size_t slot = 0; slot < 100; ++slot)
    event_queue.set(slot, {static_cast<std::int64_t>(slot * 37 % 50)});
  IndexedEventQueue plain = event_queue;
  std::size_t named = 0;
  while (const std::optional<std::size_t> slot = event_queue.look_ahead()) {
    EXPECT_EQ(*slot, plain.next());
    plain.clear(*slot);
    ++named;
  }
  EXPECT_EQ(named, 16u);
}

TEST(IndexedEventQueue, looking_ahead_goes_as_far_as_it_is_asked_to) {
  IndexedEventQueue event_queue(100);
  for (const std::size_t slot : {7, 3, 50}) event_queue.set(slot, {static_cast<std::int64_t>(slot)});
  EXPECT_EQ(event_queue.look_ahead(2), 3u);
  EXPECT_EQ(event_queue.look_ahead(2), 7u);
  EXPECT_FALSE(event_queue.look_ahead(2));
  event_queue.clear(3);
  EXPECT_EQ(event_queue.look_ahead(2), 50u);
  EXPECT_EQ(event_queue.near_slot(1), 50u);
}

TEST(IndexedEventQueue, looking_ahead_changes_no_order) {
  for (const std::size_t slots : {1, 9, 65, 600}) {
    const auto random = [&](std::uint64_t i) { return random_bits(2, RandomPurpose::kTest, slots, i); };
    IndexedEventQueue event_queue(slots), plain(slots);
    for (std::uint64_t i = 0; i < 20000; ++i) {
      if (random(4 * i) % 3 > 0) event_queue.look_ahead();
      const bool next = plain.next_time() != Time::max() && random(4 * i + 1) % 2 == 0;
      const std::size_t slot = next ? plain.next() : random(4 * i + 1) / 2 % slots;
      const auto time = static_cast<std::int64_t>(random(4 * i + 2) % 50);  // many at one instant
      for (IndexedEventQueue* each : {&event_queue, &plain})
        each->set(slot, time == 0 ? Time::max() : Time{time});
      ASSERT_EQ(event_queue.next_time(), plain.next_time());
      if (plain.next_time() == Time::max()) continue;
      ASSERT_EQ(event_queue.next(), plain.next());
    }
  }
}

TEST(IndexedEventQueue, slots_that_are_set_apart_have_a_next_event_of_their_own) {
  IndexedEventQueue event_queue(100);
  event_queue.set_apart({{3, 64, 65, 90}, {50}});
  EXPECT_EQ(event_queue.next(0).time, Time::max().ps);
  for (std::size_t slot = 0; slot < 100; ++slot)
    event_queue.set(slot, {static_cast<std::int64_t>(slot + 10)});
  event_queue.clear(0);
  event_queue.set(90, {1});
  EXPECT_EQ(event_queue.next(), 1u);
  EXPECT_EQ(event_queue.next(0).slot, 90u);
  EXPECT_EQ(event_queue.next(0).time, 1);
  EXPECT_EQ(event_queue.time_apart(65), Time{75});
  event_queue.clear(90);
  EXPECT_EQ(event_queue.next(0).slot, 3u);
  EXPECT_EQ(event_queue.next(1).slot, 50u);
  event_queue.look_ahead();
  event_queue.clear(1);
  EXPECT_EQ(event_queue.next(), 2u);
  for (std::size_t slot = 0; slot < 64; ++slot) event_queue.clear(slot);
  EXPECT_EQ(event_queue.next(), 66u);
  EXPECT_EQ(event_queue.next(1).time, Time::max().ps);
}

TEST(IndexedEventQueue, of_slots_that_are_set_apart_those_are_due_that_have_an_event_by_then) {
  IndexedEventQueue event_queue(100);
  event_queue.set_apart({{3, 64, 65}, {50}});
  EXPECT_EQ(event_queue.due(0, Time{1000}), 0u);
  for (const std::size_t slot : {3, 64, 65, 50}) event_queue.set(slot, {static_cast<std::int64_t>(slot)});
  EXPECT_EQ(event_queue.due(0, Time{2}), 0u);
  EXPECT_EQ(event_queue.due(0, Time{64}), 2u);
  event_queue.clear(3);
  EXPECT_EQ(event_queue.due(0, Time{65}), 2u);
  EXPECT_EQ(event_queue.due(1, Time{65}), 1u);
}

}  // namespace
}  // namespace podsim::indexed_event_queue_test
