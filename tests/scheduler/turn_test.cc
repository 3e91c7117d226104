// What is known ahead of the chips of an island: endings of their operations, and computations beside them.
#include "scheduler/turn.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "engine/random.h"
#include "scheduler/course.h"
#include "tests/rounds.h"

namespace podsim {
namespace {

TEST(Places, are_taken_the_first_ones_first) {
  Places places;
  for (const std::int32_t place : {63, 0, 7}) places.add(place);
  places.remove(7);
  EXPECT_TRUE(places.contains(63));
  EXPECT_FALSE(places.contains(7));
  EXPECT_EQ(places.count(), 2u);
  EXPECT_EQ(places.take_first(), 0);
  EXPECT_EQ(places.take_first(), 63);
  EXPECT_FALSE(places.any());
}

TEST(TurnLane, leaves_operations_whose_ends_are_known_and_names_the_first_of_the_others) {
  const std::vector<LaneOperation> operations = {{10, 0}, {11, 0}, {12, 0}};
  RunningLane running;
  running.position = 1;
  running.unfinished = 3;  // 11, 12, and 10 of the next round
  Turn::Lane lane;
  lane.begin(running, operations);
  lane.add({{}, Time{5}});
  lane.add({{}, Time{9}});
  EXPECT_EQ(lane.unknown(), 1);
  EXPECT_EQ(lane.first_unknown().message, 10);
  lane.leave_until(Time{8});
  EXPECT_EQ(running.position, 2);
  EXPECT_EQ(running.unfinished, 2);
  EXPECT_EQ(running.reached, Time{5});
  EXPECT_EQ(lane.first().at, Time{9});
  lane.leave_until(Time{9});
  EXPECT_EQ(running.position, 0);
  EXPECT_FALSE(lane.known());
  EXPECT_EQ(lane.first_unknown().message, 10);
}

TEST(TurnLane, comes_to_what_it_launches_now_or_when_the_last_one_before_it_ends) {
  const std::vector<LaneOperation> operations = {{10, 0}, {11, 0}, {12, 0}};
  RunningLane running;
  Turn::Lane lane;
  lane.begin(running, operations);
  EXPECT_EQ(lane.come(Time{3}), Time{3});
  lane.launch(Time{3}, {{}, Time{8}});
  EXPECT_EQ(running.unfinished, 1);
  EXPECT_EQ(running.reached, Time{3});
  EXPECT_EQ(lane.come(Time{4}), Time{8});
  lane.launch(Time{4}, {{}, Time{9}});
  EXPECT_EQ(running.unfinished, 2);
  EXPECT_EQ(running.reached, Time{3});
  EXPECT_EQ(lane.first_unknown().message, 12);
  EXPECT_EQ(lane.come(Time{9}), Time{9}) << "both are over";
  EXPECT_EQ(running.unfinished, 0);
  EXPECT_EQ(running.position, 2);
}

// Begins and ends of transfers one after another, with what a computation beside them does of this slowdown.
std::vector<TransferEdge> random_edges(const RandomStream& random, double slowdown) {
  std::vector<TransferEdge> edges;
  Time at{1 + static_cast<std::int64_t>(1e6 * random.uniform(0))}, done;
  for (std::uint64_t i = 1; i <= 1 + random.bits(1) % 5; ++i) {
    if (!edges.empty()) {
      const Time pause{static_cast<std::int64_t>(1e5 * random.uniform(10 * i))};
      at += pause;
      done += pause;
    }
    edges.push_back({at, done});
    const Time time{1 + static_cast<std::int64_t>(1e6 * random.uniform(10 * i + 1))};
    at += time;
    done += nearest(static_cast<double>(time.ps) / slowdown);
    edges.push_back({at, done});
  }
  return edges;
}

TEST(CourseLaw, going_past_a_collective_equals_following_it_on_1000_random_ones) {
  int past = 0;
  for (int round = 0; round < testing::rounds(1000); ++round) {
    const RandomStream random(3, RandomPurpose::kTest, static_cast<std::uint64_t>(round));
    const double slowdown = 1 + random.uniform(100);
    const std::vector<TransferEdge> edges = random_edges(random, slowdown);
    CollectiveAhead ahead{};
    ahead.begin({Time{1000}, edges, 0, 0});
    const Time left{1 + static_cast<std::int64_t>(1.2e7 * random.uniform(101))};
    Course followed{left, Time{1000}, Time{1000} + left}, gone = followed;
    Time lost;
    if (!gone.go_past(ahead, lost)) continue;
    ++past;
    ASSERT_EQ(followed.follow(ahead, slowdown, Time::max()), lost) << "round " << round;
    ASSERT_TRUE(ahead.over());
    ASSERT_EQ(followed.end, gone.end) << "round " << round;
    ASSERT_EQ(followed.left, gone.left);
    ASSERT_EQ(followed.updated, gone.updated);
  }
  EXPECT_GT(past, testing::rounds(1000) / 4);
}

TEST(FirstAhead, is_alone_until_another_one_changes_the_pace) {
  const std::vector<TransferEdge> edges = {{Time{10}, Time{0}}, {Time{20}, Time{5}}};
  std::vector<CollectiveAhead> ahead(2);
  ahead[0].begin({Time{100}, edges, 0, 0});
  ahead[1].begin({Time{115}, edges, 0, 1});
  FirstAhead first = first_of(ahead);
  EXPECT_EQ(first.alone, &ahead[0]);
  EXPECT_EQ(first.next, Time{110});
  EXPECT_EQ(first.until, Time{125});
  ahead[0].pass(Time{110});
  ahead[1].start_at(Time{105});
  ahead[1].go_to(0);
  first = first_of(ahead);
  EXPECT_EQ(first.next, Time{115});
  EXPECT_EQ(first.alone, nullptr) << "the other one drains";
}

}  // namespace
}  // namespace podsim
