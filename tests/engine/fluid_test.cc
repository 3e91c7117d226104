// Rules of draining: when amounts that share resources are gone.
#include "engine/fluid.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/random.h"

namespace podsim::fluid_test {
namespace {

using Uses = std::vector<Use>;
using Owners = std::vector<std::int32_t>;

constexpr double kMilli = 1000;  // ticks per second in tests whose times are whole milliseconds

Owners end(Fluid& fluid, Tick now) {
  Owners owners;
  fluid.end(now, owners);
  return owners;
}

TEST(Fluid, an_amount_alone_takes_amount_over_capacity) {
  Fluid fluid({50e9}, 1e12);
  Uses link = {{0, kUsageUnit}};
  fluid.begin(0, link, 1e6, 7);
  EXPECT_EQ(fluid.next(), 20'000'000);  // 20 us
  EXPECT_EQ(end(fluid, 20'000'000), Owners{7});
  EXPECT_TRUE(fluid.idle());
  EXPECT_EQ(fluid.next(), kNever);
}

TEST(Fluid, two_share_and_the_second_speeds_up_when_the_first_is_gone) {
  Fluid fluid({10}, kMilli);
  Uses link = {{0, kUsageUnit}};
  fluid.begin(0, link, 10, 0);
  fluid.begin(0, link, 20, 1);
  EXPECT_EQ(fluid.next(), 2000);
  EXPECT_EQ(end(fluid, 2000), Owners{0});
  EXPECT_EQ(fluid.next(), 3000);
  EXPECT_EQ(end(fluid, 3000), Owners{1});
}

TEST(Fluid, a_later_arrival_slows_what_already_drains) {
  Fluid fluid({10}, kMilli);
  Uses link = {{0, kUsageUnit}};
  fluid.begin(0, link, 20, 0);
  EXPECT_EQ(fluid.next(), 2000);
  fluid.begin(1000, link, 20, 1);
  EXPECT_EQ(fluid.next(), 3000);
  EXPECT_EQ(end(fluid, 3000), Owners{0});
  EXPECT_EQ(fluid.next(), 4000);
}

TEST(Fluid, time_alone_is_that_on_the_link_that_limits) {
  Fluid fluid({50, 20, 0}, kMilli);
  const Uses both = {{0, 2 * kUsageUnit}, {1, kUsageUnit}}, stopped = {{0, kUsageUnit}, {2, kUsageUnit}};
  EXPECT_EQ(fluid.time_alone(both, 40), 2000);
  EXPECT_EQ(fluid.time_alone(stopped, 40), kNever);
}

// The first has drained 10 of 30 at a rate of 10 when the second comes.
TEST(Fluid, what_was_alone_is_joined_as_if_it_had_begun_here) {
  Fluid fluid({10}, kMilli);
  const Uses link = {{0, kUsageUnit}};
  fluid.begin_alone(0, 1000, link, 30, 0);
  fluid.begin(1000, link, 10, 1);
  EXPECT_EQ(fluid.next(), 3000);
  EXPECT_EQ(end(fluid, 3000), Owners{1});
  EXPECT_EQ(fluid.next(), 4000);
  EXPECT_EQ(end(fluid, 4000), Owners{0});
}

TEST(Fluid, what_was_alone_keeps_its_end_where_the_other_does_not_slow_it) {
  Fluid fluid({7, 3, 3}, 1e12);
  const Uses first = {{0, kUsageUnit}, {1, kUsageUnit}}, second = {{0, kUsageUnit}, {2, kUsageUnit}};
  const Tick end_alone = fluid.time_alone(first, 1.0 / 7);
  fluid.begin_alone(0, 12345, first, 1.0 / 7, 0);
  fluid.begin(12345, second, 1000, 1);
  EXPECT_EQ(fluid.next(), end_alone);
}

TEST(Fluid, equal_amounts_end_together_in_the_order_in_which_they_began_after_one_solve) {
  Fluid fluid({10, 10}, kMilli);
  Uses first = {{0, kUsageUnit}}, second = {{1, kUsageUnit}};
  Owners expected;
  for (std::int32_t i = 0; i < 100; ++i) {
    fluid.begin(0, i % 2 ? first : second, 1, 100 - i);
    expected.push_back(100 - i);
  }
  EXPECT_EQ(fluid.next(), 5000);
  EXPECT_EQ(end(fluid, 5000), expected);
  EXPECT_EQ(fluid.solves(), 1);
}

TEST(Fluid, a_capacity_step_changes_the_rate_from_then_on) {
  Fluid fluid({10}, kMilli);
  Uses link = {{0, kUsageUnit}};
  fluid.begin(0, link, 40, 0);
  EXPECT_EQ(fluid.next(), 4000);
  fluid.set_capacity(1000, 0, 0);
  EXPECT_EQ(fluid.next(), kNever);
  EXPECT_EQ(fluid.stalled(), Owners{0});
  EXPECT_EQ(fluid.stalled_since(0), 1000);
  fluid.set_capacity(5000, 0, 30);
  EXPECT_EQ(fluid.next(), 6000);
  EXPECT_TRUE(fluid.stalled().empty());
}

TEST(Fluid, an_end_beyond_the_last_tick_is_never) {
  Fluid fluid({1e-3}, 1e15);
  Uses link = {{0, kUsageUnit}};
  fluid.begin(0, link, 1e3, 0);
  EXPECT_EQ(fluid.next(), kNever);
  EXPECT_TRUE(fluid.stalled().empty());
  EXPECT_FALSE(fluid.idle());
}

TEST(Fluid, many_changes_of_rate_leave_the_last_end_in_force) {
  Fluid fluid({10}, kMilli);
  Uses link = {{0, kUsageUnit}};
  fluid.begin(0, link, 1e6, 0);
  for (Tick now = 0; now < 10'000; ++now) {
    fluid.set_capacity(now, 0, now % 2 ? 10 : 1);
    EXPECT_GT(fluid.next(), now);
  }
  fluid.set_capacity(10'000, 0, 10);
  EXPECT_EQ(fluid.next(), 10'000 + 100'000'000 - 5'500);  // 55 of a million are gone
}

// A random system with arrivals and capacity steps at random instants. Between two instants nothing crosses a
// resource faster than its capacity; what has begun ends once, and the work that the resources did is all of
// it.
TEST(Fluid, all_that_begins_drains_and_never_faster_than_capacity) {
  for (int round = 0; round < 100; ++round) {
    std::uint64_t draw = 0;
    auto below = [&](std::uint64_t n) {
      return static_cast<std::int64_t>(random_bits(5, RandomPurpose::kTest, round, draw++) % n);
    };
    const auto resources = 1 + below(6);
    std::vector<double> capacity, room, work(resources, 0);
    for (int r = 0; r < resources; ++r) capacity.push_back(1 + static_cast<double>(below(20)));
    room = std::vector<double>(resources, 0);  // capacity x time so far
    Fluid fluid(capacity, 1e9);
    std::vector<Uses> uses(40);
    for (Uses& u : uses) {
      for (std::int32_t r = 0; r < resources; ++r)
        if (below(3) == 0) u.push_back({r, fixed_usage(0.5 * static_cast<double>(1 + below(4)))});
      if (u.empty()) u.push_back({0, kUsageUnit});
    }
    Tick now = 0;
    std::vector<int> ended(uses.size(), 0);
    auto pass = [&](Tick until) {
      for (int r = 0; r < resources; ++r) room[r] += capacity[r] * static_cast<double>(until - now) * 1e-9;
      now = until;
    };
    auto drain_until = [&](Tick until) {
      while (fluid.next() <= until && fluid.next() != kNever) {
        pass(fluid.next());
        for (std::int32_t owner : end(fluid, now)) {
          ++ended[owner];
          const double amount = 1 + owner % 7;
          for (const Use& use : uses[owner])
            work[use.resource] += amount * static_cast<double>(use.usage) / static_cast<double>(kUsageUnit);
        }
        for (int r = 0; r < resources; ++r) ASSERT_LE(work[r], room[r] * (1 + 1e-9) + 1e-6);
      }
    };
    for (std::size_t a = 0; a < uses.size(); ++a) {
      const Tick start = now + below(3) * 300'000'000;
      drain_until(start);
      pass(start);
      fluid.begin(now, uses[a], 1 + static_cast<double>(a % 7), static_cast<std::int32_t>(a));
      if (below(4) == 0) {
        const auto r = static_cast<std::int32_t>(below(resources));
        capacity[r] = static_cast<double>(below(20));
        fluid.set_capacity(now, r, capacity[r]);
      }
    }
    for (std::int32_t r = 0; r < resources; ++r) {
      capacity[r] = 5;
      fluid.set_capacity(now, r, 5);
    }
    drain_until(kNever - 1);
    EXPECT_TRUE(fluid.idle());
    EXPECT_TRUE(std::all_of(ended.begin(), ended.end(), [](int times) { return times == 1; }));
  }
}

// One resource, shared equally: the i-th shortest of n amounts is gone when all have got as much as it.
TEST(Fluid, amounts_on_one_resource_end_at_the_closed_form) {
  Fluid fluid({8}, 1e12);
  Uses link = {{0, kUsageUnit}};
  const int n = 50;
  for (int i = 0; i < n; ++i) fluid.begin(0, link, 1 + (i * 13) % n, i);
  double seconds = 0;
  for (int i = 0; i < n; ++i) {
    seconds += static_cast<double>(n - i) * 1 / 8;
    ASSERT_NEAR(static_cast<double>(fluid.next()) * 1e-12, seconds, 1e-10);
    EXPECT_EQ(end(fluid, fluid.next()).size(), 1u);
  }
}

}  // namespace
}  // namespace podsim::fluid_test
