// Rows of choices in which every pair of choices occurs: a covering array of strength 2.
#pragma once

#include <functional>
#include <vector>

namespace podsim::testing {

using ChoiceRow = std::vector<int>;  // [factor] which of its values

// Two choices, of which each is a factor and one of its values.
struct ChoicePair {
  int factor_a, value_a, factor_b, value_b;  // factor_a < factor_b
};

// All pairs of factors with so many values each.
std::vector<ChoicePair> all_pairs(const std::vector<int>& values);

// Whether the row has both.
bool has(const ChoiceRow& row, const ChoicePair& pair);

// Few rows in which every possible pair occurs and no impossible one. The same arguments give the same rows.
// REQUIRES: every possible pair is in some row without an impossible one, found by taking factor after
// factor.
std::vector<ChoiceRow> covering_rows(const std::vector<int>& values,
                                     const std::function<bool(const ChoicePair&)>& possible);

}  // namespace podsim::testing
