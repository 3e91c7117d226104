// Rules of time and quantities.
#include "engine/units.h"

#include <gtest/gtest.h>

#include <cmath>

namespace podsim::units_test {
namespace {

TEST(Time, seconds_round_to_the_nearest_picosecond) {
  EXPECT_EQ(Time::seconds(1.5e-12).ps, 2);
  EXPECT_EQ(Time::seconds(1.4e-12).ps, 1);
  EXPECT_EQ(Time::seconds(3600).ps, 3'600'000'000'000'000);
}

TEST(Time, seconds_are_the_nearest_double_to_the_whole_picoseconds) {
  EXPECT_EQ(Time{5'009'361'578'603}.in_seconds(), 5.009361578603);
  EXPECT_EQ(Time{1}.in_seconds(), 1e-12);
}

TEST(TimeDeathTest, of_more_seconds_than_fit_is_none) {
  EXPECT_DEATH(Time::seconds(9.3e6), "a time fits in 64 bits of picoseconds");
  EXPECT_DEATH(Time::seconds(-1e300), "a time fits in 64 bits of picoseconds");
  EXPECT_DEATH(Time::seconds(NAN), "a time fits in 64 bits of picoseconds");
}

TEST(Time, a_hundred_days_fit) { EXPECT_GT(Time::seconds(100 * 86400.0), Time{0}); }

TEST(Quantity, transfer_time_is_bytes_over_bandwidth_in_decimal_units) {
  EXPECT_DOUBLE_EQ(seconds_at(Bytes{1e9}, Bandwidth{50e9}), 0.02);
}

}  // namespace
}  // namespace podsim::units_test
