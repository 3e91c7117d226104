// A step as a longest path: the same figures as by the definition, and by no event.
#include "scheduler/simulation/longest_path/longest_path.h"

#include <gtest/gtest.h>

#include <string>

#include "scheduler/simulation/longest_path/shared_slots.h"
#include "scheduler/simulation/simulate.h"
#include "tests/rounds.h"
#include "tests/scheduler/simulation/random_overlap.h"
#include "tests/scheduler/simulation/random_trial.h"

namespace podsim::longest_path_test {
namespace {

using testing::Feature;

std::array<bool, testing::kFeatures> features_of_a_path() {
  std::array<bool, testing::kFeatures> may_have{};
  for (const Feature each : {Feature::kSlowParts, Feature::kInterference, Feature::kSkew,
                             Feature::kHostLaunches, Feature::kPrefetch, Feature::kUnfolded})
    may_have[static_cast<std::size_t>(each)] = true;
  return may_have;
}

TEST(LongestPathLaw, gives_the_figures_of_the_definition_on_1200_random_systems) {
  const int wanted = testing::rounds(1200);
  int taken = 0, meet = 0;
  for (int round = 0; round < wanted; ++round) {
    const testing::RandomTrial trial = testing::random_trial(round, features_of_a_path());
    const auto path = simulate_longest_path(trial.system, trial.options);
    if (!path) continue;
    ++taken;
    meet += !longest_path::SharedSlots(trial.system).meetings().empty();
    SimulateOptions by_the_rules = trial.options;
    by_the_rules.loop = Loop::kReference;
    const Timeline defined = simulate(trial.system, by_the_rules).front();
    ASSERT_EQ(testing::difference(testing::figures(defined), testing::figures(path->front())), "")
        << "round " << round;
  }
  EXPECT_GE(taken, wanted * 3 / 4) << "few steps are longest paths";
  EXPECT_GE(meet, taken / 4) << "few have operations that meet on links";
}

TEST(LongestPath, is_no_step_with_what_it_does_not_know) {
  testing::RandomTrial trial = testing::random_trial(3, features_of_a_path());
  ASSERT_TRUE(simulate_longest_path(trial.system, trial.options));
  for (const auto& change : std::vector<void (*)(SimulateOptions&)>{
           [](SimulateOptions& how) { how.steps = 2; }, [](SimulateOptions& how) { how.jitter = 0.1; },
           [](SimulateOptions& how) { how.keep_intervals = true; },
           [](SimulateOptions& how) { how.keep_passes = 1; }}) {
    SimulateOptions other = trial.options;
    change(other);
    EXPECT_FALSE(simulate_longest_path(trial.system, other));
  }
  trial.system.profiles.emplace_back();
  EXPECT_FALSE(simulate_longest_path(trial.system, trial.options));
}

}  // namespace
}  // namespace podsim::longest_path_test
