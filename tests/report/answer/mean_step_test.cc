// The mean chip's step: averages that lose no picosecond.
#include "report/answer/mean_step.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <numeric>

namespace podsim::mean_step_test {
namespace {

ChipTotals totals(std::int64_t chips, std::vector<Time> bucket, std::vector<Time> exposed) {
  ChipTotals made;
  made.chips = chips;
  made.bucket = std::move(bucket);
  made.exposed = std::move(exposed);
  return made;
}

Timeline two_classes(std::int64_t steps) {
  Timeline timeline;
  for (std::int64_t step = 1; step <= steps; ++step) timeline.step_end.push_back({step * 101});
  const std::int64_t end = timeline.step_end.back().ps;
  timeline.chips = {totals(2, {{end - 41}, {10}, {15}, {0}, {5}, {0}, {2}, {2}, {7}}, {{8}, {7}}),
                    totals(5, {{end - 42}, {11}, {10}, {1}, {4}, {5}, {2}, {2}, {7}}, {{10}, {0}})};
  timeline.communication = {{"data", "all-reduce", "ring", {}}, {"tensor", "all-gather", "ring", {}}};
  return timeline;
}

MeanStep mean_step_of(std::initializer_list<Timeline> timelines) {
  ChipTime sum;
  for (const Timeline& timeline : timelines) sum.add(timeline);
  return mean_step(sum);
}

Time sum(const MeanStep& step) {
  Time all = step.compute + step.optimizer + step.bubble + step.input + step.offload + step.skew + step.pause;
  for (const Time part : step.exposed) all += part;
  return all;
}

TEST(MeanStep, parts_sum_to_the_step_time_exactly) {
  for (std::int64_t steps = 1; steps <= 7; ++steps) {
    const MeanStep step = mean_step_of({two_classes(steps)});
    EXPECT_EQ(step.step_time.ps, 101);
    EXPECT_EQ(sum(step), step.step_time);
  }
}

TEST(MeanStep, classes_weigh_by_their_chips) {
  const MeanStep step = mean_step_of({two_classes(1)});
  EXPECT_EQ(step.optimizer.ps, 11);  // (2 x 10 + 5 x 11) / 7 = 10.71
  EXPECT_EQ(step.exposed[0].ps, 9);  // (2 x 8 + 5 x 10) / 7 = 9.43
  EXPECT_EQ(step.exposed[1].ps, 2);  // (2 x 7 + 5 x 0) / 7 = 2
}

// Of 1 + 2 steps of 101 ps, whose optimizers take 75 chip-ps of 7 chips each time.
TEST(MeanStep, of_several_draws_weighs_each_by_its_steps) {
  const MeanStep step = mean_step_of({two_classes(1), two_classes(2)});
  EXPECT_EQ(step.step_time.ps, 101);
  EXPECT_EQ(sum(step), step.step_time);
  EXPECT_EQ(step.optimizer.ps, 7);  // 2 x 75 / (7 x 3) = 7.14
}

TEST(MeanStep, waiting_for_other_chips_counts_as_bubble) {
  const MeanStep step = mean_step_of({two_classes(1)});
  EXPECT_EQ(step.bubble.ps, 5);  // (2 x (5 + 0) + 5 x (4 + 1)) / 7
}

TEST(MeanStep, waiting_for_the_host_is_a_part_of_its_own) {
  EXPECT_EQ(mean_step_of({two_classes(1)}).offload.ps, 2);
}

TEST(MeanStep, waiting_for_the_slowest_host_is_a_part_of_its_own) {
  EXPECT_EQ(mean_step_of({two_classes(1)}).skew.ps, 2);
}

TEST(MeanStep, days_of_a_hundred_thousand_chips_do_not_overflow) {
  Timeline timeline;
  const std::int64_t day = 86'400'000'000'000'000;
  timeline.step_end = {{day}};
  timeline.chips = {totals(100'000, {{day - 1}, {1}, {0}, {0}, {0}, {0}, {0}, {0}, {0}}, {})};
  const MeanStep step = mean_step_of({timeline});
  EXPECT_EQ(step.compute.ps, day - 1);
  EXPECT_EQ(step.step_time.ps, day);
}

TEST(DivideExactly, random_parts_sum_to_the_nearest_whole_quotient) {
  std::uint64_t state = 1;
  const auto next = [&state] { return state = state * 6364136223846793005u + 1442695040888963407u; };
  for (int round = 0; round < 2000; ++round) {
    std::vector<Int128> parts;
    Int128 sum = 0;
    const Int128 divisor = 1 + next() % 1000;
    for (std::uint64_t count = 1 + (next() >> 40) % 9; count > 0; --count)
      parts.push_back((next() >> 33) % 100'000);
    for (const Int128 part : parts) sum += part;
    const std::vector<std::int64_t> quotients = divide_exactly(parts, divisor);
    EXPECT_EQ(std::accumulate(quotients.begin(), quotients.end(), std::int64_t{0}),
              static_cast<std::int64_t>((sum + divisor / 2) / divisor));
    for (std::size_t i = 0; i < parts.size(); ++i) {
      EXPECT_GE(Int128{quotients[i]} * divisor, parts[i] - parts[i] % divisor);
      EXPECT_LE(Int128{quotients[i] - 1} * divisor, parts[i]);
    }
  }
}

TEST(DivideExactly, the_largest_remainder_rounds_up) {
  EXPECT_EQ(divide_exactly(std::vector<Int128>{19, 15, 16}, 10), (std::vector<std::int64_t>{2, 1, 2}));
}

TEST(DivideExactly, equal_remainders_favour_the_earlier) {
  EXPECT_EQ(divide_exactly(std::vector<Int128>{15, 15}, 10), (std::vector<std::int64_t>{2, 1}));
}

}  // namespace
}  // namespace podsim::mean_step_test
