// Rules of the event queue.
#include "engine/event_queue.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/random.h"

namespace podsim::event_queue_test {
namespace {

TEST(EventQueue, events_of_one_instant_leave_in_the_order_they_came) {
  EventQueue<int> queue;
  for (int i = 0; i < 100; ++i) queue.push({7}, i);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(queue.pop(), i);
  EXPECT_TRUE(queue.empty());
}

TEST(EventQueue, events_leave_in_time_order_whatever_the_order_of_scheduling) {
  EventQueue<std::int64_t> queue;
  std::vector<std::int64_t> times;
  for (int i = 0; i < 5000; ++i) {
    times.push_back(static_cast<std::int64_t>(random_bits(1, RandomPurpose::kTest, 0, i) % 1000));
    queue.push({times.back()}, times.back());
  }
  std::sort(times.begin(), times.end());
  for (std::int64_t expected : times) {
    EXPECT_EQ(queue.next_time().ps, expected);
    EXPECT_EQ(queue.pop(), expected);
  }
}

TEST(EventQueueDeathTest, scheduling_in_the_past_is_a_defect) {
  EventQueue<int> queue;
  queue.push({5}, 0);
  queue.pop();
  EXPECT_DEATH(queue.push({4}, 0), "past");
}

}  // namespace
}  // namespace podsim::event_queue_test
