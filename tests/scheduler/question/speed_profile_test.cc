// Factors over time and their edges.
#include "scheduler/question/speed_profile.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace podsim::speed_profile_test {
namespace {

using Windows = std::vector<std::pair<Time, Time>>;

TEST(SpeedProfile, a_window_has_its_begin_but_not_its_end) {
  const SpeedProfile profile = {{windows(Windows{{{10}, {20}}, {{20}, {25}}}, 0.5, {}), {}}};
  EXPECT_EQ(factor_at(profile, {9}, 1), 1);
  EXPECT_EQ(factor_at(profile, {10}, 1), 0.5);
  EXPECT_EQ(factor_at(profile, {24}, 1), 0.5);
  EXPECT_EQ(factor_at(profile, {25}, 1), 1);
  EXPECT_EQ(next_edge(profile, {0}, 1), Time{10});
  EXPECT_EQ(next_edge(profile, {20}, 1), Time{25});
  EXPECT_EQ(next_edge(profile, {25}, 1), Time::max());
}

TEST(SpeedProfile, windows_that_repeat_come_again_for_ever) {
  const SpeedProfile profile = {{windows(Windows{{{0}, {3}}, {{7}, {10}}}, 0.5, {10}), {}}};
  for (std::int64_t t = 0; t < 100; ++t)
    EXPECT_EQ(factor_at(profile, {t}, 1), t % 10 < 3 || t % 10 >= 7 ? 0.5 : 1) << t;
  EXPECT_EQ(next_edge(profile, {53}, 1), Time{57});
}

TEST(SpeedProfile, factors_of_several_waves_multiply) {
  const SpeedProfile profile = {{windows(Windows{{{0}, {10}}}, 0.5, {}), {}},
                                {windows(Windows{{{5}, {15}}}, 0.25, {}), {}}};
  EXPECT_EQ(factor_at(profile, {7}, 1), 0.125);
  EXPECT_EQ(next_edge(profile, {7}, 1), Time{10});
}

TEST(SpeedProfile, between_edges_nothing_changes) {
  const Chance chance{{7}, 0.4, 99};
  const SpeedProfile profile = {{windows(Windows{{{3}, {11}}}, 0.5, {31}), chance},
                                {swing(1, 0.3, {23}, 5), {}}};
  Time edge;
  int edges = 0;
  for (std::int64_t t = 0; t < 5000; ++t) {
    if (t == edge.ps) {
      edge = next_edge(profile, {t}, 7);
      ASSERT_GT(edge.ps, t);
      ++edges;
    } else {
      ASSERT_EQ(factor_at(profile, {t}, 7), factor_at(profile, {t - 1}, 7)) << t;
    }
  }
  EXPECT_GT(edges, 1000);
  EXPECT_LT(edges, 4000);
}

TEST(SpeedProfile, chance_is_there_for_its_share_of_the_slots) {
  const SpeedProfile profile = {{{{{Time{}, 0.5}}, {}}, Chance{{10}, 0.3, 1}}};
  int there = 0;
  for (std::int64_t slot = 0; slot < 10000; ++slot) there += factor_at(profile, {10 * slot + 3}, 1) < 1;
  EXPECT_NEAR(there, 3000, 3 * 45.8);  // standard deviation sqrt(10000 x 0.3 x 0.7)
}

TEST(SpeedProfile, a_swing_goes_down_and_up_by_its_amplitude) {
  const SpeedProfile profile = {{swing(0.8, 0.1, {1000}, 100), {}}};
  double least = 1, most = 0, sum = 0;
  for (std::int64_t t = 0; t < 1000; ++t) {
    const double factor = factor_at(profile, {t}, 1);
    EXPECT_DOUBLE_EQ(factor, factor_at(profile, {999 - t}, 1));
    least = std::min(least, factor);
    most = std::max(most, factor);
    sum += factor;
  }
  EXPECT_NEAR(most, 0.8, 1e-4);
  EXPECT_NEAR(least, 0.72, 1e-4);
  EXPECT_NEAR(sum / 1000, 0.76, 1e-12);
}

TEST(SpeedProfile, an_edge_after_the_last_picosecond_is_never) {
  const Time late{INT64_MAX / 2 + 10};
  const SpeedProfile cycle = {{windows(Windows{{{0}, {5}}}, 0.5, {INT64_MAX / 2 + 1}), {}}};
  EXPECT_EQ(next_edge(cycle, late, 1), Time::max());
  const SpeedProfile slots = {{{{{Time{}, 0.5}}, {}}, Chance{{INT64_MAX / 2 + 1}, 1, 1}}};
  EXPECT_EQ(next_edge(slots, late, 1), Time::max());
}

}  // namespace
}  // namespace podsim::speed_profile_test
