// Rules of the agenda.
#include "engine/indexed_event_queue.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/random.h"

namespace podsim {
namespace {

TEST(Agenda, without_events_nothing_is_next) {
  EXPECT_EQ(Agenda(0).next_time(), Time::max());
  Agenda agenda(100);
  EXPECT_EQ(agenda.next_time(), Time::max());
  agenda.set(63, {5});
  agenda.clear(63);
  EXPECT_EQ(agenda.next_time(), Time::max());
}

TEST(Agenda, of_events_at_one_instant_that_of_the_lowest_slot_is_next) {
  Agenda agenda(100);
  for (const std::size_t slot : {99, 70, 8, 64}) agenda.set(slot, {7});
  EXPECT_EQ(agenda.next(), 8u);
  agenda.clear(8);
  EXPECT_EQ(agenda.next(), 64u);
}

TEST(Agenda, the_next_event_is_that_of_least_time_whatever_was_put_off_or_brought_forward) {
  for (const std::size_t slots : {1, 8, 9, 64, 65, 600}) {
    Agenda agenda(slots);
    std::vector<std::int64_t> times(slots, Time::max().ps);
    for (std::uint64_t i = 0; i < 5000; ++i) {
      const std::size_t slot = random_bits(1, RandomPurpose::kTest, slots, 2 * i) % slots;
      times[slot] = static_cast<std::int64_t>(random_bits(1, RandomPurpose::kTest, slots, 2 * i + 1) % 1000);
      agenda.set(slot, {times[slot]});
      const auto least = std::min_element(times.begin(), times.end());
      ASSERT_EQ(agenda.next_time().ps, *least);
      ASSERT_EQ(agenda.next(), static_cast<std::size_t>(least - times.begin()));
    }
  }
}

TEST(Agenda, looking_ahead_names_what_comes_next_in_order_and_not_too_much_of_it) {
  Agenda agenda(100);
  for (std::size_t slot = 0; slot < 100; ++slot)
    agenda.set(slot, {static_cast<std::int64_t>(slot * 37 % 50)});
  Agenda plain = agenda;
  std::size_t named = 0;
  while (const std::optional<std::size_t> slot = agenda.look_ahead()) {
    EXPECT_EQ(*slot, plain.next());
    plain.clear(*slot);
    ++named;
  }
  EXPECT_EQ(named, 16u);
}

TEST(Agenda, looking_ahead_goes_as_far_as_it_is_asked_to) {
  Agenda agenda(100);
  for (const std::size_t slot : {7, 3, 50}) agenda.set(slot, {static_cast<std::int64_t>(slot)});
  EXPECT_EQ(agenda.look_ahead(2), 3u);
  EXPECT_EQ(agenda.look_ahead(2), 7u);
  EXPECT_FALSE(agenda.look_ahead(2));
  agenda.clear(3);
  EXPECT_EQ(agenda.look_ahead(2), 50u);
  EXPECT_EQ(agenda.near_slot(1), 50u);
}

TEST(Agenda, looking_ahead_changes_no_order) {
  for (const std::size_t slots : {1, 9, 65, 600}) {
    const auto random = [&](std::uint64_t i) { return random_bits(2, RandomPurpose::kTest, slots, i); };
    Agenda agenda(slots), plain(slots);
    for (std::uint64_t i = 0; i < 20000; ++i) {
      if (random(4 * i) % 3 > 0) agenda.look_ahead();
      const bool next = plain.next_time() != Time::max() && random(4 * i + 1) % 2 == 0;
      const std::size_t slot = next ? plain.next() : random(4 * i + 1) / 2 % slots;
      const auto time = static_cast<std::int64_t>(random(4 * i + 2) % 50);  // many at one instant
      for (Agenda* each : {&agenda, &plain}) each->set(slot, time == 0 ? Time::max() : Time{time});
      ASSERT_EQ(agenda.next_time(), plain.next_time());
      if (plain.next_time() == Time::max()) continue;
      ASSERT_EQ(agenda.next(), plain.next());
    }
  }
}

TEST(Agenda, slots_that_are_set_apart_have_a_next_event_of_their_own) {
  Agenda agenda(100);
  agenda.set_apart({{3, 64, 65, 90}, {50}});
  EXPECT_EQ(agenda.next(0).time, Time::max().ps);
  for (std::size_t slot = 0; slot < 100; ++slot) agenda.set(slot, {static_cast<std::int64_t>(slot + 10)});
  agenda.clear(0);
  agenda.set(90, {1});
  EXPECT_EQ(agenda.next(), 1u);
  EXPECT_EQ(agenda.next(0).slot, 90u);
  EXPECT_EQ(agenda.next(0).time, 1);
  EXPECT_EQ(agenda.time_apart(65), Time{75});
  agenda.clear(90);
  EXPECT_EQ(agenda.next(0).slot, 3u);
  EXPECT_EQ(agenda.next(1).slot, 50u);
  agenda.look_ahead();
  agenda.clear(1);
  EXPECT_EQ(agenda.next(), 2u);
  for (std::size_t slot = 0; slot < 64; ++slot) agenda.clear(slot);
  EXPECT_EQ(agenda.next(), 66u);
  EXPECT_EQ(agenda.next(1).time, Time::max().ps);
}

TEST(Agenda, of_slots_that_are_set_apart_those_are_due_that_have_an_event_by_then) {
  Agenda agenda(100);
  agenda.set_apart({{3, 64, 65}, {50}});
  EXPECT_EQ(agenda.due(0, Time{1000}), 0u);
  for (const std::size_t slot : {3, 64, 65, 50}) agenda.set(slot, {static_cast<std::int64_t>(slot)});
  EXPECT_EQ(agenda.due(0, Time{2}), 0u);
  EXPECT_EQ(agenda.due(0, Time{64}), 2u);
  agenda.clear(3);
  EXPECT_EQ(agenda.due(0, Time{65}), 2u);
  EXPECT_EQ(agenda.due(1, Time{65}), 1u);
}

}  // namespace
}  // namespace podsim
