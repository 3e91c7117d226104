// Greedy, as Cohen et al., "The AETG System" (1997), without chance: a row begins with a pair that is
// missing, and each further factor takes the value that brings the most missing pairs.
#include "tests/swarm/covering_rows.h"

#include <algorithm>

#include "engine/check.h"
#include "engine/random.h"

namespace podsim::testing {
namespace {

constexpr int kOpen = -1;

ChoicePair ordered(int factor_a, int value_a, int factor_b, int value_b) {
  if (factor_a < factor_b) return {factor_a, value_a, factor_b, value_b};
  return {factor_b, value_b, factor_a, value_a};
}

}  // namespace

std::vector<ChoicePair> all_pairs(const std::vector<int>& values) {
  std::vector<ChoicePair> pairs;
  const int factors = static_cast<int>(values.size());
  for (int a = 0; a < factors; ++a)
    for (int b = a + 1; b < factors; ++b)
      for (int x = 0; x < values[a]; ++x)
        for (int y = 0; y < values[b]; ++y) pairs.push_back({a, x, b, y});
  return pairs;
}

bool has(const ChoiceRow& row, const ChoicePair& pair) {
  return row[pair.factor_a] == pair.value_a && row[pair.factor_b] == pair.value_b;
}

std::vector<ChoiceRow> covering_rows(const std::vector<int>& values,
                                     const std::function<bool(const ChoicePair&)>& possible) {
  std::vector<ChoicePair> missing = all_pairs(values);
  std::erase_if(missing, [&](const ChoicePair& pair) { return !possible(pair); });
  std::vector<ChoiceRow> rows;
  while (!missing.empty()) {
    ChoiceRow row(values.size(), kOpen);
    row[missing.front().factor_a] = missing.front().value_a;
    row[missing.front().factor_b] = missing.front().value_b;
    for (int factor = 0; factor < static_cast<int>(values.size()); ++factor) {
      if (row[factor] != kOpen) continue;
      int best = kOpen, most = -1;
      for (int n = 0; n < values[factor]; ++n) {
        // Begins anywhere, so that values that bring nothing new are mixed.
        const int value = (n + static_cast<int>(mix(rows.size(), factor) % 1009)) % values[factor];
        bool fits = true;
        for (int other = 0; fits && other < static_cast<int>(values.size()); ++other)
          fits =
              row[other] == kOpen || other == factor || possible(ordered(factor, value, other, row[other]));
        ChoiceRow with = row;
        with[factor] = value;
        const int brings =
            static_cast<int>(std::count_if(missing.begin(), missing.end(), [&](const ChoicePair& pair) {
              return (pair.factor_a == factor || pair.factor_b == factor) && has(with, pair);
            }));
        if (!fits || brings <= most) continue;
        best = value;
        most = brings;
      }
      PODSIM_CHECK(best != kOpen, "no value of a factor goes with the row so far");
      row[factor] = best;
    }
    std::erase_if(missing, [&](const ChoicePair& pair) { return has(row, pair); });
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace podsim::testing
