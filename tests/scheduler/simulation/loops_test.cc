// The definition of a step and the loops that are fast: the same figures from all of them.
#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/simulation/longest_path/longest_path_loop.h"
#include "scheduler/simulation/loop/ordered_loop.h"
#include "scheduler/simulation/simulate.h"
#include "tests/rounds.h"
#include "tests/scheduler/simulation/random_overlap.h"
#include "tests/scheduler/simulation/random_trial.h"

namespace podsim::loops_test {
namespace {

using testing::Feature;

// [job]
std::vector<testing::Figures> figures(const std::vector<Timeline>& timelines) {
  std::vector<testing::Figures> result;
  for (const Timeline& timeline : timelines) result.push_back(testing::figures(timeline));
  return result;
}

std::vector<testing::Figures> figures(const System& system, SimulateOptions options, Loop loop) {
  options.loop = loop;
  return figures(simulate(system, options));
}

// How a loop differs from the definition, or empty.
std::string difference(const std::vector<testing::Figures>& defined,
                       const std::vector<testing::Figures>& other) {
  std::string all;
  for (std::size_t j = 0; j < defined.size(); ++j) all += testing::difference(defined[j], other.at(j));
  return all;
}

std::string difference(const System& system, const SimulateOptions& options, Loop loop) {
  return difference(figures(system, options, Loop::kReference), figures(system, options, loop));
}

// What is kept along the way, which takes away some of what makes loops fast, is kept in half of the rounds.
void keep_sometimes(int round, SimulateOptions& options) {
  options.keep_intervals = round % 4 == 1;
  options.keep_passes = round % 4 == 3 ? 2 : 0;
  options.prefetch_from = 2;
}

TEST(LoopsLaw, reference_ordered_and_fast_give_the_same_figures_on_1500_random_systems) {
  const int wanted = testing::rounds(1500);
  std::array<std::array<int, testing::kFeatures>, testing::kFeatures> met{};
  int apart = 0;
  for (int round = 0; round < wanted; ++round) {
    testing::RandomTrial trial = testing::random_trial(round);
    keep_sometimes(round, trial.options);
    apart += trial.options.may_use_processes(trial.system);
    for (const Loop loop : {Loop::kOrdered, Loop::kFast})
      ASSERT_EQ(difference(trial.system, trial.options, loop), "")
          << "round " << round << ", loop " << static_cast<int>(loop);
    for (int a = 0; a < testing::kFeatures; ++a)
      for (int b = a; b < testing::kFeatures; ++b) met[a][b] += trial.has[a] && trial.has[b];
  }
  for (int a = 0; a < testing::kFeatures; ++a)
    for (int b = a; b < testing::kFeatures; ++b)
      EXPECT_GE(met[a][b], wanted / 50) << "features " << a << " and " << b << " seldom meet";
  EXPECT_GE(apart, wanted / 20) << "few come apart";
}

TEST(LoopsLaw, reference_ordered_and_fast_give_the_same_figures_on_500_random_overlaps) {
  for (int round = 0; round < testing::rounds(500); ++round) {
    testing::RandomOverlap random = testing::random_overlap(round);
    keep_sometimes(round, random.options);
    for (const Loop loop : {Loop::kOrdered, Loop::kFast})
      ASSERT_EQ(difference(random.system, random.options, loop), "")
          << "round " << round << ", loop " << static_cast<int>(loop);
  }
}

TEST(LoopsLaw, a_simulator_that_gave_up_gives_the_same_figures_as_a_new_one) {
  const int wanted = testing::rounds(200);
  int gave_up = 0;
  for (int round = 0; round < wanted; ++round) {
    testing::RandomTrial trial = testing::random_trial(round);
    Simulator simulator(trial.system);
    SimulateOptions short_of_events = trial.options;
    short_of_events.most_events = round % 40;
    try {
      simulator.run(short_of_events);
    } catch (const EventBudgetSpent&) {
      ++gave_up;
    }
    ASSERT_EQ(
        difference(figures(simulate(trial.system, trial.options)), figures(simulator.run(trial.options))), "")
        << "round " << round;
  }
  EXPECT_GE(gave_up, wanted / 2);
}

// Where nothing is drawn at random.
std::array<bool, testing::kFeatures> settled_features() {
  std::array<bool, testing::kFeatures> may_have{};
  for (const Feature each :
       {Feature::kSpeedsOverTime, Feature::kSlowParts, Feature::kHostCopies, Feature::kInterference,
        Feature::kSkew, Feature::kHostLaunches, Feature::kPrefetch, Feature::kSeveralSteps,
        Feature::kUnfolded, Feature::kSeveralJobs})
    may_have[static_cast<std::size_t>(each)] = true;
  return may_have;
}

TEST(SoloRunsLaw, what_chips_do_by_themselves_goes_as_one_with_the_figures_of_the_definition) {
  const int wanted = testing::rounds(1000);
  int with_runs = 0, between_transfers = 0, beside_wider_groups = 0;
  for (int round = 0; round < wanted; ++round) {
    const testing::RandomTrial trial = testing::random_trial(round, settled_features());
    SimulateOptions fast = trial.options;
    fast.loop = Loop::kFast;
    SystemTables tables(trial.system);
    OrderedLoop loop(tables, fast);
    ASSERT_EQ(difference(figures(trial.system, trial.options, Loop::kReference), figures(loop.run())), "")
        << "round " << round;
    with_runs += loop.solo_runs() > 0;
    between_transfers += loop.solo_runs_between_transfers() > 0;
    beside_wider_groups += loop.solo_runs() > 0 && tables.legs.beside_wider_groups() > 0;
  }
  EXPECT_GE(with_runs, wanted / 10) << "chips seldom do anything by themselves";
  EXPECT_GE(between_transfers, wanted / 100) << "transfers between stages seldom load links of collectives";
  EXPECT_GE(beside_wider_groups, wanted / 100)
      << "groups of several classes seldom load links of collectives";
}

TEST(LongestPathLaw, a_step_along_its_longest_path_has_the_figures_of_the_definition) {
  std::array<bool, testing::kFeatures> may_have{};
  for (const Feature each : {Feature::kSlowParts, Feature::kInterference, Feature::kSkew,
                             Feature::kHostLaunches, Feature::kPrefetch, Feature::kUnfolded})
    may_have[static_cast<std::size_t>(each)] = true;
  const int wanted = testing::rounds(1000);
  int followed = 0, ahead = 0, jumped = 0, undisturbed = 0, added_up = 0, beside_wider_groups = 0;
  int alike = 0, unlike = 0, parted = 0, jumped_together = 0;
  for (int round = 0; round < wanted; ++round) {
    const testing::RandomTrial trial = testing::random_trial(round, may_have);
    SystemTables tables(trial.system);
    SimulateOptions fast = trial.options;
    fast.loop = Loop::kFast;
    if (!LongestPathLoop::knows(tables, fast)) continue;
    PathPrograms programs(tables);
    const std::vector<testing::Figures> defined = figures(trial.system, trial.options, Loop::kReference);
    // The second time with all that was found out at the first.
    for (int time = 0; time < 2; ++time) {
      LongestPathLoop loop(tables, programs, fast);
      const std::optional<std::vector<Timeline>> found = loop.run();
      if (!found) break;
      ASSERT_EQ(difference(defined, figures(*found)), "") << "round " << round;
      followed += time;
      ahead += time * (loop.operations_known_ahead() > 0);
      jumped += time * (found->front().periods_skipped > 0);
      undisturbed += time * (loop.operations_undisturbed() > 0);
      added_up += time * (programs.spans().sums() > 0);
      beside_wider_groups += time * (tables.legs.beside_wider_groups() > 0);
      const LongestPathLoop::Together& together = loop.together();
      alike += time * (together.alike > 0);
      unlike += time * (together.unlike > 0);
      parted += time * (together.parted > 0);
      jumped_together += time * (together.alike + together.unlike > 0 && found->front().periods_skipped > 0);
    }
    SimulateOptions recording = trial.options;
    recording.keep_passes = 1;
    ASSERT_EQ(difference(trial.system, recording, Loop::kFast), "") << "with passes, round " << round;
  }
  EXPECT_GE(followed, wanted / 4) << "few steps are followed";
  EXPECT_GE(ahead, wanted / 10) << "operations seldom have links of their own";
  EXPECT_GE(followed - ahead, wanted / 100) << "operations seldom share links";
  EXPECT_GE(jumped, wanted / 50) << "loops are seldom periodic";
  EXPECT_GE(undisturbed, wanted / 20) << "operations seldom have links of their own for a while";
  EXPECT_GE(added_up, wanted / 20) << "what transfers cost is seldom added up";
  EXPECT_GE(beside_wider_groups, wanted / 100)
      << "groups of several classes seldom load links of collectives";
  EXPECT_GE(alike, wanted / 10) << "peers seldom go through spans together";
  EXPECT_GE(unlike, wanted / 20) << "peers seldom begin at different times or beside different transfers";
  EXPECT_GE(parted, wanted / 100) << "peers seldom part";
  EXPECT_GE(jumped_together, wanted / 100) << "loops of peers are seldom periodic";
}

}  // namespace
}  // namespace podsim::loops_test
