// What a CHECK that fails says: its place, and what the thread was at work on.
#include "engine/check.h"

#include <gtest/gtest.h>

#include "engine/check_scope.h"
#include "engine/parallel_for.h"
#include "engine/units.h"

namespace podsim::check_test {
namespace {

const std::string kName = "one_slow_chip";
const std::uint64_t kSeed = 17;

TEST(CheckDeathTest, tells_condition_and_message_alone_where_nothing_else_is_known) {
  EXPECT_DEATH(PODSIM_CHECK(1 > 2, "one is less"),
               "check_test.cc:[0-9]+: CHECK failed: 1 > 2: one is less\n$");
}

TEST(CheckDeathTest, tells_scenario_seed_and_the_simulated_time_when_it_fails) {
  Time now;
  const CheckScope scope({.scenario = &kName, .seed = &kSeed, .now_ps = &now.ps});
  now = Time{1'500'000'000'000};
  EXPECT_DEATH(PODSIM_CHECK(false, "why"),
               "scenario one_slow_chip, seed 17, simulated time 1.500000 s .1500000000000 ps.");
}

TEST(CheckDeathTest, an_inner_scope_adds_to_the_outer_one_and_takes_it_away_again) {
  const CheckScope outer({.scenario = &kName, .seed = &kSeed, .now_ps = nullptr});
  const std::uint64_t draw = 18;
  {
    const CheckScope inner({.scenario = nullptr, .seed = &draw, .now_ps = nullptr});
    EXPECT_DEATH(PODSIM_CHECK(false, "why"), "scenario one_slow_chip, seed 18\n");
  }
  EXPECT_DEATH(PODSIM_CHECK(false, "why"), "scenario one_slow_chip, seed 17\n");
}

TEST(CheckScope, is_known_to_the_threads_of_a_loop) {
  const CheckScope scope({.scenario = &kName, .seed = &kSeed, .now_ps = nullptr});
  std::vector<const std::string*> known(8);
  parallel_for(known.size(), 4, [&](std::size_t i) { known[i] = current_work().scenario; });
  EXPECT_EQ(known, std::vector<const std::string*>(8, &kName));
}

}  // namespace
}  // namespace podsim::check_test
