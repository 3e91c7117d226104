// Rules of max-min fair sharing.
#include "engine/sharing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "engine/random.h"

namespace podsim::sharing_test {
namespace {

using Uses = std::vector<Use>;

std::vector<ActivityId> solve(Sharing& sharing) {
  std::vector<ActivityId> changed;
  sharing.solve(changed);
  std::sort(changed.begin(), changed.end());
  return changed;
}

TEST(Sharing, usages_are_rounded_to_the_nearest_unit_and_never_to_none) {
  const auto unit = static_cast<double>(kUsageUnit);
  EXPECT_EQ(fixed_usage(1), kUsageUnit);
  EXPECT_EQ(fixed_usage(1e-30), 1);
  EXPECT_EQ(fixed_usage(2.5 / unit), 3);
  EXPECT_EQ(fixed_usage(std::nextafter(2.5, 0) / unit), 2);
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const double usage = std::exp2(60 * random_uniform(1, RandomPurpose::kTest, 2, i) - 39);
    EXPECT_EQ(fixed_usage(usage), std::llround(usage * unit));
  }
}

TEST(Sharing, one_flow_gets_the_narrowest_link_of_its_route) {
  Sharing sharing({10, 4, 8});
  Uses route = {{0, kUsageUnit}, {1, kUsageUnit}, {2, kUsageUnit}};
  ActivityId flow = sharing.add(route);
  solve(sharing);
  EXPECT_EQ(sharing.rate(flow), 4);
}

TEST(Sharing, the_textbook_line_gives_the_long_flow_its_fair_share_and_the_rest_to_the_short_ones) {
  Sharing sharing({1, 2});
  Uses both = {{0, kUsageUnit}, {1, kUsageUnit}}, first = {{0, kUsageUnit}}, second = {{1, kUsageUnit}};
  ActivityId a = sharing.add(both), b = sharing.add(first), c = sharing.add(second);
  solve(sharing);
  EXPECT_EQ(sharing.rate(a), 0.5);
  EXPECT_EQ(sharing.rate(b), 0.5);
  EXPECT_EQ(sharing.rate(c), 1.5);
}

TEST(Sharing, only_the_touched_component_changes) {
  Sharing sharing({6, 6});
  Uses left = {{0, kUsageUnit}}, right = {{1, kUsageUnit}};
  ActivityId a = sharing.add(left), b = sharing.add(right);
  solve(sharing);
  ActivityId c = sharing.add(left);
  EXPECT_EQ(solve(sharing), (std::vector<ActivityId>{a, c}));
  EXPECT_EQ(sharing.rate(a), 3);
  EXPECT_EQ(sharing.rate(b), 6);
  sharing.remove(c);
  EXPECT_EQ(solve(sharing), std::vector<ActivityId>{a});
  EXPECT_EQ(sharing.rate(a), 6);
}

TEST(Sharing, an_activity_that_stands_for_k_equal_ones_gets_the_bit_identical_rate) {
  for (int k : {2, 3, 7, 127, 1000}) {
    std::int64_t usage = fixed_usage(0.3);
    Sharing many({11.7, 5.1}), one({11.7, 5.1});
    std::vector<Uses> uses(k, Uses{{0, usage}});
    uses.push_back({{0, kUsageUnit}, {1, kUsageUnit}});
    std::vector<ActivityId> ids;
    for (const Uses& u : uses) ids.push_back(many.add(u));
    solve(many);
    Uses folded = {{0, k * usage}}, other = uses.back();
    ActivityId f = one.add(folded), o = one.add(other);
    solve(one);
    EXPECT_EQ(many.rate(ids.front()), one.rate(f));
    EXPECT_EQ(many.rate(ids.back()), one.rate(o));
  }
}

TEST(Sharing, a_flow_over_a_link_without_capacity_stands_still_until_it_has_some) {
  Sharing sharing({0, 8});
  Uses broken = {{0, kUsageUnit}, {1, kUsageUnit}}, whole = {{1, kUsageUnit}};
  ActivityId a = sharing.add(broken), b = sharing.add(whole);
  EXPECT_EQ(solve(sharing), std::vector<ActivityId>{b});
  EXPECT_EQ(sharing.rate(a), 0);
  EXPECT_EQ(sharing.rate(b), 8);
  sharing.set_capacity(0, 3);
  EXPECT_EQ(solve(sharing), (std::vector<ActivityId>{a, b}));
  EXPECT_EQ(sharing.rate(a), 3);
  EXPECT_EQ(sharing.rate(b), 5);
  sharing.set_capacity(0, 0);
  EXPECT_EQ(solve(sharing), (std::vector<ActivityId>{a, b}));
  EXPECT_EQ(sharing.rate(b), 8);
}

TEST(Sharing, weights_share_a_link_in_their_proportion) {
  Sharing sharing({12});
  Uses light = {{0, kUsageUnit}}, heavy = {{0, weighted_usage(kUsageUnit, 3)}};
  ActivityId a = sharing.add(light), b = sharing.add(heavy);
  solve(sharing);
  EXPECT_EQ(sharing.rate(a), 3);
  EXPECT_EQ(3 * sharing.rate(b), 9);  // progress is in units of the weight
}

TEST(Sharing, what_comes_and_goes_between_two_solves_leaves_no_trace) {
  Sharing sharing({6});
  Uses link = {{0, kUsageUnit}};
  ActivityId a = sharing.add(link);
  solve(sharing);
  ActivityId b = sharing.add(link);
  sharing.remove(b);
  EXPECT_EQ(solve(sharing), std::vector<ActivityId>{});
  EXPECT_EQ(sharing.rate(a), 6);
}

// Random systems: the allocation is feasible, and every activity has a resource that is full and on which
// nobody is faster.
TEST(Sharing, random_allocations_are_feasible_and_every_activity_is_held_by_a_full_resource) {
  for (int round = 0; round < 300; ++round) {
    std::uint64_t draw = 0;
    auto next = [&](std::uint64_t n) { return random_bits(3, RandomPurpose::kTest, round, draw++) % n; };
    int resources = 1 + static_cast<int>(next(12));
    std::vector<double> capacity;
    for (int r = 0; r < resources; ++r) capacity.push_back(1 + static_cast<double>(next(100)));
    Sharing sharing(capacity);
    std::vector<Uses> uses(1 + next(30));
    for (Uses& u : uses) {
      std::map<int, std::int64_t> chosen;
      for (std::uint64_t i = 0, n = 1 + next(4); i < n; ++i)
        chosen[static_cast<int>(next(resources))] = fixed_usage(0.25 * static_cast<double>(1 + next(8)));
      for (auto [r, usage] : chosen) u.push_back({r, usage});
    }
    std::map<ActivityId, const Uses*> active;
    for (const Uses& u : uses) {
      active[sharing.add(u)] = &u;
      if (next(3) == 0) solve(sharing);
      if (next(5) == 0 && active.size() > 1) {
        sharing.remove(active.begin()->first);
        active.erase(active.begin());
      }
    }
    solve(sharing);
    std::vector<double> used(resources, 0), fastest(resources, 0);
    for (auto [id, u] : active)
      for (const Use& use : *u) {
        used[use.resource] +=
            sharing.rate(id) * static_cast<double>(use.usage) / static_cast<double>(kUsageUnit);
        fastest[use.resource] = std::max(fastest[use.resource], sharing.rate(id));
      }
    for (int r = 0; r < resources; ++r) ASSERT_LE(used[r], capacity[r] * (1 + 1e-9));
    for (auto [id, u] : active)
      ASSERT_TRUE(std::any_of(u->begin(), u->end(),
                              [&, rate = sharing.rate(id)](const Use& use) {
                                return used[use.resource] > capacity[use.resource] * (1 - 1e-9) &&
                                       rate >= fastest[use.resource] * (1 - 1e-9);
                              }))
          << "round " << round;
  }
}

}  // namespace
}  // namespace podsim::sharing_test
