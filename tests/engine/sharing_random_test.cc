// Random systems: solving what has changed equals solving from nothing, bit by bit, and a textbook solver.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "engine/random.h"
#include "engine/sharing.h"

namespace podsim::sharing_random_test {
namespace {

using Uses = std::vector<Use>;

class Draw {
 public:
  explicit Draw(std::uint64_t entity) : entity_(entity) {}
  std::uint64_t below(std::uint64_t n) { return random_bits(17, RandomPurpose::kTest, entity_, next_++) % n; }
  double uniform() { return random_uniform(17, RandomPurpose::kTest, entity_, next_++); }

 private:
  std::uint64_t entity_, next_ = 0;
};

// How regular a system is: equal numbers give exact ties, random ones none, thirds ties up to rounding.
enum class Numbers { kEqual, kThirds, kRandom };

double some_capacity(Draw& draw, Numbers numbers) {
  if (draw.below(12) == 0) return 0;
  if (numbers == Numbers::kRandom) return 1 + 99 * draw.uniform();
  if (numbers == Numbers::kThirds) return 10 * static_cast<double>(1 + draw.below(4)) / 3;
  return 10 * static_cast<double>(1 + draw.below(2));
}

Uses some_uses(Draw& draw, Numbers numbers, int resources) {
  std::map<int, std::int64_t> chosen;
  for (std::uint64_t i = 0, n = 1 + draw.below(4); i < n; ++i) {
    const double usage = numbers == Numbers::kRandom   ? 0.1 + draw.uniform()
                         : numbers == Numbers::kThirds ? static_cast<double>(1 + draw.below(3)) / 3
                                                       : 1;
    chosen[static_cast<int>(draw.below(resources))] = fixed_usage(usage);
  }
  Uses uses;
  for (const auto& [r, usage] : chosen) uses.push_back({r, usage});
  return uses;
}

// Progressive filling as in a textbook, with long doubles; ties within 1e-13.
std::vector<double> textbook(const std::vector<double>& capacity, const std::vector<const Uses*>& all) {
  std::vector<double> rate(all.size(), -1);
  std::vector<long double> left(capacity.begin(), capacity.end());
  const auto units = [](const Use& use) {
    return static_cast<long double>(use.usage) / static_cast<long double>(kUsageUnit);
  };
  long double level = 0;
  for (std::size_t frozen = 0; frozen < all.size();) {
    std::vector<long double> load(capacity.size(), 0);
    for (std::size_t a = 0; a < all.size(); ++a) {
      if (rate[a] >= 0) continue;
      for (const Use& use : *all[a]) load[use.resource] += units(use);
    }
    long double rise = HUGE_VALL;
    for (std::size_t r = 0; r < load.size(); ++r)
      if (load[r] > 0) rise = std::min(rise, left[r] / load[r]);
    level += rise;
    std::vector<bool> full(capacity.size());
    for (std::size_t r = 0; r < load.size(); ++r) {
      full[r] = load[r] > 0 && left[r] / load[r] <= rise + level * 1e-13L;
      left[r] = full[r] ? 0 : left[r] - rise * load[r];
    }
    for (std::size_t a = 0; a < all.size(); ++a) {
      if (rate[a] >= 0) continue;
      if (std::none_of(all[a]->begin(), all[a]->end(), [&](const Use& use) { return full[use.resource]; }))
        continue;
      rate[a] = static_cast<double>(level);
      ++frozen;
    }
  }
  return rate;
}

// A system under change, beside its solver.
struct Changing {
  Numbers numbers;
  Draw draw;
  std::vector<double> capacity;
  std::unique_ptr<Sharing> sharing;
  std::vector<std::pair<ActivityId, std::unique_ptr<Uses>>> active;
  std::map<ActivityId, double> told;  // the rates that solve() has announced

  Changing(Numbers kind, int round, int most_resources) : numbers(kind), draw(round) {
    const int resources = 1 + static_cast<int>(draw.below(most_resources));
    for (int r = 0; r < resources; ++r) capacity.push_back(some_capacity(draw, numbers));
    sharing = std::make_unique<Sharing>(capacity);
  }

  void add() {
    auto uses = std::make_unique<Uses>(some_uses(draw, numbers, static_cast<int>(capacity.size())));
    const ActivityId id = sharing->add(*uses);
    told[id] = 0;
    active.emplace_back(id, std::move(uses));
  }
  void remove_one() {
    const auto at = active.begin() + static_cast<std::ptrdiff_t>(draw.below(active.size()));
    sharing->remove(at->first);
    active.erase(at);
  }
  void change_a_capacity() {
    const auto r = static_cast<std::int32_t>(draw.below(capacity.size()));
    capacity[r] = some_capacity(draw, numbers);
    sharing->set_capacity(r, capacity[r]);
  }
  void change_something() {
    for (std::uint64_t i = 0, n = 1 + draw.below(3); i < n; ++i) {
      const std::uint64_t kind = draw.below(9);
      if (kind < 4 || active.empty()) {
        add();
      } else if (kind < 8) {
        remove_one();
      } else {
        change_a_capacity();
      }
    }
  }
  void solve() {
    std::vector<ActivityId> changed;
    sharing->solve(changed);
    for (const ActivityId id : changed) {
      EXPECT_NE(told[id], sharing->rate(id)) << "announced without a change";
      told[id] = sharing->rate(id);
    }
  }
};

class RandomSharing : public ::testing::TestWithParam<Numbers> {};
INSTANTIATE_TEST_SUITE_P(Kinds, RandomSharing,
                         ::testing::Values(Numbers::kEqual, Numbers::kThirds, Numbers::kRandom));

void expect_as_from_nothing(const Changing& system, const std::string& where) {
  Sharing fresh(system.capacity);
  std::vector<ActivityId> ids, changed;
  for (auto a = system.active.rbegin(); a != system.active.rend(); ++a) ids.push_back(fresh.add(*a->second));
  fresh.solve(changed);
  std::reverse(ids.begin(), ids.end());
  for (std::size_t a = 0; a < system.active.size(); ++a) {
    const ActivityId id = system.active[a].first;
    ASSERT_EQ(system.sharing->rate(id), fresh.rate(ids[a])) << where;
    ASSERT_EQ(system.told.at(id), fresh.rate(ids[a])) << where << ": a change was not announced";
  }
}

TEST_P(RandomSharing, solving_what_changed_equals_solving_from_nothing_bit_by_bit) {
  for (int round = 0; round < 400; ++round) {
    Changing system(GetParam(), round, round % 4 == 0 ? 40 : 10);
    for (std::uint64_t i = 0, n = system.draw.below(40); i < n; ++i) system.add();
    for (int step = 0; step < 40; ++step) {
      system.solve();
      expect_as_from_nothing(system, "round " + std::to_string(round) + ", step " + std::to_string(step));
      if (HasFatalFailure()) return;
      system.change_something();
    }
  }
}

// Thirds in fixed point make levels that differ by 3e-13, which fill together here and apart in the textbook.
TEST_P(RandomSharing, rates_are_those_of_a_textbook_solver) {
  const double tolerance = GetParam() == Numbers::kThirds ? 1e-11 : 1e-12;
  for (int round = 0; round < 400; ++round) {
    Changing system(GetParam(), 1000 + round, 20);
    for (int step = 0; step < 15; ++step) {
      system.change_something();
      system.solve();
    }
    std::vector<const Uses*> uses;
    for (const auto& [id, u] : system.active) uses.push_back(u.get());
    const std::vector<double> expected = textbook(system.capacity, uses);
    for (std::size_t a = 0; a < expected.size(); ++a)
      ASSERT_NEAR(system.sharing->rate(system.active[a].first), expected[a], expected[a] * tolerance)
          << "round " << round;
  }
}

// k copies of a system side by side, and one copy that also crosses a shared resource k times as heavily.
TEST_P(RandomSharing, a_folded_system_has_bit_identical_rates) {
  for (int round = 0; round < 200; ++round) {
    Draw draw(2000 + round);
    const int own = 1 + static_cast<int>(draw.below(8)), copies = 2 + static_cast<int>(draw.below(6));
    std::vector<double> folded_capacity, unfolded_capacity;
    for (int r = 0; r < own; ++r) folded_capacity.push_back(some_capacity(draw, GetParam()));
    for (int k = 0; k < copies; ++k)
      unfolded_capacity.insert(unfolded_capacity.end(), folded_capacity.begin(), folded_capacity.end());
    const double shared = 3 * some_capacity(draw, GetParam());
    folded_capacity.push_back(shared);
    unfolded_capacity.push_back(shared);
    std::vector<Uses> folded, unfolded;
    for (std::uint64_t a = 0, n = 1 + draw.below(12); a < n; ++a) {
      const Uses uses = some_uses(draw, GetParam(), own);
      const std::int64_t on_shared = draw.below(3) == 0 ? fixed_usage(0.2 + draw.uniform()) : 0;
      folded.push_back(uses);
      if (on_shared) folded.back().push_back({own, copies * on_shared});
      for (int k = 0; k < copies; ++k) {
        unfolded.push_back(uses);
        for (Use& use : unfolded.back()) use.resource += k * own;
        if (on_shared) unfolded.back().push_back({copies * own, on_shared});
      }
    }
    Sharing one(folded_capacity), many(unfolded_capacity);
    std::vector<ActivityId> changed;
    for (const Uses& uses : folded) one.add(uses);
    for (const Uses& uses : unfolded) many.add(uses);
    one.solve(changed);
    many.solve(changed);
    for (std::size_t a = 0; a < unfolded.size(); ++a)
      ASSERT_EQ(many.rate(static_cast<ActivityId>(a)), one.rate(static_cast<ActivityId>(a) / copies));
  }
}

TEST_P(RandomSharing, an_activity_of_weight_w_is_w_activities_that_move_together) {
  for (int round = 0; round < 100; ++round) {
    Draw draw(3000 + round);
    const int resources = 2 + static_cast<int>(draw.below(6));
    std::vector<double> capacity;
    for (int r = 0; r < resources; ++r) capacity.push_back(1 + 10 * draw.uniform());
    std::vector<Uses> single, weighted;
    std::vector<std::size_t> first;
    for (int a = 0; a < 8; ++a) {
      const Uses uses = some_uses(draw, GetParam(), resources);
      const auto weight = static_cast<std::int64_t>(1 + draw.below(4));
      weighted.push_back(uses);
      for (Use& use : weighted.back()) use.usage = weighted_usage(use.usage, static_cast<double>(weight));
      first.push_back(single.size());
      for (std::int64_t k = 0; k < weight; ++k) single.push_back(uses);
    }
    Sharing apart(capacity), together(capacity);
    std::vector<ActivityId> changed;
    for (const Uses& uses : single) apart.add(uses);
    for (const Uses& uses : weighted) together.add(uses);
    apart.solve(changed);
    together.solve(changed);
    for (std::size_t a = 0; a < weighted.size(); ++a)
      ASSERT_EQ(apart.rate(static_cast<ActivityId>(first[a])), together.rate(static_cast<ActivityId>(a)));
  }
}

}  // namespace
}  // namespace podsim::sharing_random_test
