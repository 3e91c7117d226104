// Every two things that a scenario can say, together in one that loads, and every law on it.
#include "tests/swarm/combinations.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "proto/scenario/load.h"
#include "tests/swarm/laws.h"

namespace podsim::testing::combinations_test {
namespace {

const Catalog& catalog() {
  static const Catalog built_in;
  return built_in;
}

std::string pair_name(const ChoicePair& pair) {
  const auto& factors = choice_factors();
  return factors[pair.factor_a].name + " " + factors[pair.factor_a].values[pair.value_a] + " with " +
         factors[pair.factor_b].name + " " + factors[pair.factor_b].values[pair.value_b];
}

TEST(CoveringRows, have_every_possible_pair_and_no_impossible_one) {
  const std::vector<int> values = {3, 2, 4, 2, 3};
  const auto possible = [](const ChoicePair& pair) {
    return !(pair.factor_a == 0 && pair.value_a == 1 && pair.factor_b == 2 && pair.value_b >= 2);
  };
  const std::vector<ChoiceRow> rows = covering_rows(values, possible);
  for (const ChoicePair& pair : all_pairs(values)) {
    const auto with =
        std::count_if(rows.begin(), rows.end(), [&](const ChoiceRow& row) { return has(row, pair); });
    EXPECT_EQ(with > 0, possible(pair)) << pair.factor_a << pair.value_a << pair.factor_b << pair.value_b;
  }
  EXPECT_LE(rows.size(), 2u * 3 * 4);
}

TEST(Combinations, every_pair_is_in_a_scenario_that_loads_or_is_stated_impossible) {
  std::vector<ChoiceRow> loaded;
  std::vector<int> values;
  for (const ChoiceFactor& factor : choice_factors())
    values.push_back(static_cast<int>(factor.values.size()));
  for (const ChoiceRow& row : combination_rows()) {
    const LoadResult result = load_scenario("row.textproto", combination_scenario(row), catalog(), {});
    EXPECT_TRUE(result.problems.empty()) << words_of(row) << "\n" << format_problem(result.problems.at(0));
    if (result.spec) loaded.push_back(row);
  }
  for (const ChoicePair& pair : all_pairs(values)) {
    if (!why_impossible(pair).empty()) continue;
    EXPECT_TRUE(std::any_of(loaded.begin(), loaded.end(), [&](const ChoiceRow& row) {
      return has(row, pair);
    })) << pair_name(pair);
  }
}

// In parts, so that they can run side by side.
class CombinationsPart : public ::testing::TestWithParam<int> {
 public:
  static constexpr int kParts = 8;
};

TEST_P(CombinationsPart, hold_every_law) {
  const std::vector<ChoiceRow> rows = combination_rows();
  for (std::size_t i = static_cast<std::size_t>(GetParam()); i < rows.size(); i += kParts) {
    const Judgement judged = judge(combination_scenario(rows[i]), catalog());
    EXPECT_TRUE(judged.accepted) << words_of(rows[i]);
    if (judged.finding)
      ADD_FAILURE() << words_of(rows[i]) << "\n"
                    << judged.finding->law << ": " << judged.finding->what << "\n"
                    << combination_scenario(rows[i]);
  }
}

INSTANTIATE_TEST_SUITE_P(All, CombinationsPart, ::testing::Range(0, CombinationsPart::kParts));

}  // namespace
}  // namespace podsim::testing::combinations_test
