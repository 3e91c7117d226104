// What is known ahead of the chips of a logical process: endings of their operations, and computations beside
// them.
#include "scheduler/simulation/logical_processes/lp_advance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/random.h"
#include "scheduler/simulation/logical_processes/common_collectives.h"
#include "scheduler/simulation/state/computation_progress.h"
#include "tests/rounds.h"

namespace podsim::lp_advance_test {
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

TEST(KnownEndings, leaves_operations_whose_ends_are_known_and_names_the_first_of_the_others) {
  const std::vector<StreamOperation> operations = {{10, 0}, {11, 0}, {12, 0}};
  StreamQueue running;
  running.position = 1;
  running.unfinished = 3;  // 11, 12, and 10 of the next round
  LpAdvance::KnownEndings queue;
  LpAdvance::Endings endings;
  queue.begin(running, operations, endings);
  queue.add({{}, Time{5}});
  queue.add({{}, Time{9}});
  EXPECT_EQ(queue.unknown(), 1);
  EXPECT_EQ(queue.first_unknown().message, 10);
  queue.leave_until(Time{8});
  EXPECT_EQ(running.position, 2);
  EXPECT_EQ(running.unfinished, 2);
  EXPECT_EQ(running.reached, Time{5});
  EXPECT_EQ(queue.first().at, Time{9});
  queue.leave_until(Time{9});
  EXPECT_EQ(running.position, 0);
  EXPECT_FALSE(queue.known());
  EXPECT_EQ(queue.first_unknown().message, 10);
}

TEST(KnownEndings, comes_to_what_it_launches_now_or_when_the_last_one_before_it_ends) {
  const std::vector<StreamOperation> operations = {{10, 0}, {11, 0}, {12, 0}};
  StreamQueue running;
  LpAdvance::KnownEndings queue;
  LpAdvance::Endings endings;
  queue.begin(running, operations, endings);
  EXPECT_EQ(queue.come(Time{3}), Time{3});
  queue.note({{}, Time{8}});
  queue.launch_known(Time{3});
  EXPECT_EQ(running.unfinished, 1);
  EXPECT_EQ(running.reached, Time{3});
  EXPECT_EQ(queue.come(Time{4}), Time{8});
  queue.note({{}, Time{9}});
  queue.launch_known(Time{4});
  EXPECT_EQ(running.unfinished, 2);
  EXPECT_EQ(running.reached, Time{3});
  EXPECT_EQ(queue.first_unknown().message, 12);
  EXPECT_EQ(queue.come(Time{9}), Time{9}) << "both are over";
  EXPECT_EQ(running.unfinished, 0);
  EXPECT_EQ(running.position, 2);
}

TEST(KnownEndings, shares_endings_with_another_that_has_left_more) {
  const std::vector<StreamOperation> operations = {{10, 0}, {11, 0}};
  LpAdvance::Endings endings;
  StreamQueue behind, ahead;
  behind.unfinished = 1;
  ahead.position = 1;
  ahead.ended = 1;
  LpAdvance::KnownEndings lane_behind, lane_ahead;
  lane_behind.begin(behind, operations, endings);
  lane_ahead.begin(ahead, operations, endings);
  lane_behind.add({{}, Time{5}});
  EXPECT_EQ(lane_behind.come(Time{4}), Time{5});
  EXPECT_EQ(lane_ahead.come(Time{6}), Time{6});
  lane_ahead.note({{}, Time{9}});
  lane_ahead.launch_known(Time{6});
  lane_behind.launch_known(Time{4});
  EXPECT_EQ(lane_ahead.first().at, Time{9});
  EXPECT_EQ(lane_behind.first().at, Time{5});
  EXPECT_FALSE(lane_behind.over(Time{8}, 0));
  EXPECT_EQ(lane_behind.first().at, Time{9});
}

TEST(KnownEndings, has_had_few_unfinished_operations_before_an_instant_if_the_last_has_ended_before_it) {
  const std::vector<StreamOperation> operations = {{10, 0}, {11, 0}};
  LpAdvance::Endings endings;
  StreamQueue running;
  LpAdvance::KnownEndings queue;
  queue.begin(running, operations, endings);
  queue.note({{}, Time{8}});
  queue.launch_known(Time{3});
  EXPECT_FALSE(queue.over_before(Time{3}, 1)) << "launched at this instant";
  EXPECT_TRUE(queue.over_before(Time{4}, 1));
  EXPECT_FALSE(queue.over(Time{7}, 0));
  EXPECT_TRUE(queue.over(Time{8}, 0));
  EXPECT_FALSE(queue.over_before(Time{8}, 0));
  EXPECT_TRUE(queue.over_before(Time{9}, 0));
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

TEST(ComputationProgressLaw, going_past_a_collective_equals_following_it_on_1000_random_ones) {
  int past = 0;
  for (int round = 0; round < testing::rounds(1000); ++round) {
    const RandomStream random(3, RandomPurpose::kTest, static_cast<std::uint64_t>(round));
    const double slowdown = 1 + random.uniform(100);
    const std::vector<TransferEdge> edges = random_edges(random, slowdown);
    CollectiveAhead ahead{};
    ahead.begin({Time{1000}, edges, 0, 0});
    const Time left{1 + static_cast<std::int64_t>(1.2e7 * random.uniform(101))};
    ComputationProgress followed{left, Time{1000}, Time{1000} + left}, gone = followed;
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

// While others drain the pace stays: at each edge what has been done is settled, and nothing else happens.
TEST(ComputationProgressLaw, following_a_collective_beside_others_equals_settling_at_each_of_its_edges) {
  int both = 0;
  for (int round = 0; round < testing::rounds(1000); ++round) {
    const RandomStream random(4, RandomPurpose::kTest, static_cast<std::uint64_t>(round));
    const double slowdown = 1 + random.uniform(100);
    const std::vector<TransferEdge> edges = random_edges(random, slowdown);
    CollectiveAhead ahead{};
    ahead.begin({Time{1000}, edges, 0, 0});
    const Time left{1 + static_cast<std::int64_t>(1.2e7 * random.uniform(101))};
    ComputationProgress settled{left, Time{1000}, Time{1000} + ComputationProgress::scaled(left, slowdown),
                                slowdown},
        followed = settled;
    const Time until = Time{1000} + Time{static_cast<std::int64_t>(1.5e7 * random.uniform(102))};
    ComputationProgress::Lost expected;
    for (std::size_t e = 0; e < edges.size(); ++e) {
      const Time edge = Time{1000} + edges[e].after;
      if (edge >= std::min(settled.end, until)) break;
      (e % 2 == 1 ? expected.together : expected.others) += settled.settle(edge);
      settled.go_on_at(slowdown);
    }
    const ComputationProgress::Lost lost = followed.follow_beside_others(ahead, until);
    ASSERT_EQ(lost.together, expected.together) << "round " << round;
    ASSERT_EQ(lost.others, expected.others) << "round " << round;
    ASSERT_EQ(followed.left, settled.left);
    ASSERT_EQ(followed.updated, settled.updated);
    ASSERT_EQ(followed.end, settled.end);
    ASSERT_TRUE(ahead.next >= std::min(followed.end, until));
    both += lost.together.ps > 0 && lost.others.ps > 0;
  }
  EXPECT_GT(both, testing::rounds(1000) / 4);
}

TEST(FirstAhead, is_the_only_one_until_another_one_changes_the_pace) {
  const std::vector<TransferEdge> edges = {{Time{10}, Time{0}}, {Time{20}, Time{5}}};
  std::vector<CollectiveAhead> ahead(2);
  ahead[0].begin({Time{100}, edges, 0, 0});
  ahead[1].begin({Time{115}, edges, 0, 1});
  FirstAhead first = first_of(ahead);
  EXPECT_EQ(first.first, &ahead[0]);
  EXPECT_EQ(first.next, Time{110});
  EXPECT_EQ(first.until, Time{125});
  EXPECT_TRUE(first.only());
  EXPECT_FALSE(first.others_drain);
  ahead[0].pass(Time{110});
  ahead[1].start_at(Time{105});
  ahead[1].go_to(0);
  first = first_of(ahead);
  EXPECT_EQ(first.first, &ahead[1]);
  EXPECT_EQ(first.next, Time{115});
  EXPECT_TRUE(first.others_drain);
  ahead[1].start_at(Time{110});
  ahead[1].go_to(0);
  EXPECT_FALSE(first_of(ahead).only()) << "both at one instant";
}

TEST(CommonCollectives, take_a_chip_past_those_that_are_over) {
  const std::vector<TransferEdge> edges = {{Time{10}, Time{0}}, {Time{20}, Time{5}}};
  CommonCollectives common;
  ASSERT_TRUE(common.add({Time{100}, edges, 0, 0}));
  ASSERT_TRUE(common.add({Time{130}, edges, 0, 1}));
  EXPECT_EQ(common.edges(), 4u);
  CommonCollectives::Progress chip{0, 1};
  common.go_to(chip, Time{119});
  EXPECT_EQ(chip.first, 0u);
  EXPECT_EQ(chip.passed, 1u);
  common.go_to(chip, Time{120});
  EXPECT_EQ(chip.first, 1u);
  EXPECT_EQ(chip.passed, 0u);
  common.go_to(chip, Time{150});
  EXPECT_EQ(chip.first, 2u);
}

TEST(CommonCollectives, take_none_that_begins_before_the_last_one_is_over) {
  const std::vector<TransferEdge> edges = {{Time{10}, Time{0}}, {Time{20}, Time{5}}};
  CommonCollectives common;
  ASSERT_TRUE(common.add({Time{100}, edges, 0, 0}));
  EXPECT_FALSE(common.add({Time{110}, edges, 0, 1})) << "one ends as the other begins";
  EXPECT_EQ(common.count(), 1u);
  EXPECT_TRUE(common.add({Time{111}, edges, 0, 1}));
}

TEST(CommonCollectives, keep_the_last_ones_for_a_chip_that_has_not_looked_for_long) {
  const std::vector<TransferEdge> edges = {{Time{10}, Time{0}}, {Time{20}, Time{5}}};
  CommonCollectives common;
  const std::uint32_t many = CommonCollectives::kMost + 3;
  for (std::uint32_t i = 0; i < many; ++i) ASSERT_TRUE(common.add({Time{100 * (i + 1)}, edges, 0, 0}));
  CommonCollectives::Progress chip;
  common.go_to(chip, Time{0});
  EXPECT_EQ(chip.first, 3u);
  EXPECT_EQ(common[chip.first].start, Time{400});
}

}  // namespace
}  // namespace podsim::lp_advance_test
