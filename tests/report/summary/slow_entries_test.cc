// Entries in words, and the line between a stall and a restart.
#include "report/summary/slow_entries.h"

#include <gtest/gtest.h>

namespace podsim::slow_entries_test {
namespace {

Degradation flap(double timeout_s) {
  Degradation entry;
  entry.cause = Degradation::Cause::kFlap;
  entry.which.kind = PartKind::kNic;
  entry.which.numbers = {{9, 9}};
  entry.factor.mean = 0;
  entry.season.windows = {{Time::seconds(100), Time::seconds(105)}};
  entry.library_timeout = Time::seconds(timeout_s);
  return entry;
}

TEST(SlowEntries, are_told_in_words) {
  Degradation hosts;
  hosts.which.kind = PartKind::kHost;
  hosts.which.random_fraction = 0.005;
  hosts.factor.mean = 0.9;
  EXPECT_EQ(describe(hosts), "0.5% of hosts at speed 0.9");
  hosts.which.random_fraction = 1;
  hosts.which.numbers = {{3, 3}, {8, 15}};
  hosts.which.stages = {2};
  hosts.season.windows = {{{}, Time::seconds(60)}};
  hosts.season.repeat = Time::seconds(300);
  EXPECT_EQ(describe(hosts), "hosts 3, 8-15 of stage 2 at speed 0.9 from 0 s to 60 s of every 300 s");
  EXPECT_EQ(describe(flap(60)), "nic 9 down from 100 s to 105 s");
  Degradation background;
  background.cause = Degradation::Cause::kBackground;
  background.which.kind = PartKind::kLeafUplink;
  background.factor.mean = 0.6;
  background.season.chance_slot = Time::seconds(10);
  background.season.chance_share = 0.3;
  EXPECT_EQ(describe(background),
            "all leaf uplinks 40.0% taken by other jobs, in 30.0% of the time by chance");
}

TEST(SlowEntries, a_flap_longer_than_the_time_out_is_a_restart) {
  const std::vector<Standstill> still = {{0, Time::seconds(100.2), Time::seconds(105)}};
  const std::vector<Hit> hits = {{1, 0, 2}};
  Report report;
  report.slow_entries = slow_entries(std::vector{flap(60)}, hits, still);
  ASSERT_TRUE(report.slow_entries[0].flap);
  EXPECT_FALSE(report.slow_entries[0].flap->restart());
  EXPECT_NE(slow_entries_table(report).find("stall"), std::string::npos);
  report.slow_entries = slow_entries(std::vector{flap(1)}, hits, still);
  EXPECT_TRUE(report.slow_entries[0].flap->restart());
  EXPECT_NE(slow_entries_table(report).find("job restart at 101.200 s"), std::string::npos);
  report.slow_entries = slow_entries(std::vector{flap(4.8)}, hits, still);
  EXPECT_FALSE(report.slow_entries[0].flap->restart()) << "as long as the time-out is not longer";
  report.slow_entries = slow_entries(std::vector{flap(1)}, hits, {});
  EXPECT_NE(slow_entries_table(report).find("nothing to send"), std::string::npos);
}

}  // namespace
}  // namespace podsim::slow_entries_test
