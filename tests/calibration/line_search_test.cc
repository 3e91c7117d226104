// The way between two points against functions whose least is known.
#include "calibration/line_search.h"

#include <gtest/gtest.h>

#include <cmath>

namespace podsim::line_search_test {
namespace {

constexpr double kSettled = 1e-6;

FitProblem one_row() {
  FitProblem problem;
  problem.weight = {1};
  problem.scale = {0.01};
  return problem;
}

TriedPoint search(const std::function<double(double)>& error, double to) {
  const ErrorsAt errors = [&](const std::vector<double>& x) { return std::vector<double>{error(x[0])}; };
  return least_on_the_way(one_row(), {{0}, {error(0)}}, {to}, errors, kSettled);
}

TEST(LineSearch, a_way_that_leads_beyond_zero_ends_where_it_meets_it) {
  const auto steep = [](double x) { return std::log(0.002 + x) - std::log(0.004); };
  const TriedPoint best = search(steep, 1);
  EXPECT_NEAR(best.offsets[0], 0.002, 1e-4);
  EXPECT_NEAR(best.errors[0], 0, 1e-3);
}

TEST(LineSearch, a_way_along_which_the_cost_falls_is_gone_to_its_end) {
  EXPECT_EQ(search([](double x) { return -1 + 0.3 * x; }, 2).offsets[0], 2);
}

TEST(LineSearch, a_way_that_only_begins_downhill_is_gone_a_part_of) {
  const auto valley = [](double x) { return std::abs(x - 0.02) + 0.3; };
  EXPECT_NEAR(search(valley, 1).offsets[0], 0.02, 0.013);
}

TEST(LineSearch, nothing_better_on_the_way_leaves_the_beginning) {
  const TriedPoint best = search([](double x) { return 0.1 + x; }, 1);
  EXPECT_EQ(best.offsets[0], 0);
  EXPECT_EQ(best.errors[0], 0.1);
}

// At the jump from -0.1 to 0.5 no place hits zero: the cost decides.
TEST(LineSearch, a_jump_over_zero_is_not_taken_where_it_leads_further_off) {
  const auto jump = [](double x) { return x < 0.4 ? -0.2 + 0.25 * x : 0.5; };
  const TriedPoint best = search(jump, 1);
  EXPECT_LT(best.offsets[0], 0.4);
  EXPECT_GT(best.offsets[0], 0.39);
}

}  // namespace
}  // namespace podsim::line_search_test
