// Takes tokens to sequences.
#include "planner/plan/batch_counts.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace podsim {
namespace {

constexpr int kMostBatchSequences = 100'000'000;  // of a step

}  // namespace

std::vector<int> batches_on(const PlanScenario& scenario, int sequence_tokens, int chips) {
  if (scenario.batch_tokens.empty() || sequence_tokens == 0) return {0};
  const auto [least, most] = std::ranges::minmax(scenario.batch_tokens);
  const auto sequences = [&](double tokens) {
    return std::min(tokens / sequence_tokens, double{kMostBatchSequences});
  };
  const auto whole = [&](double tokens) {
    return std::max(1, static_cast<int>(std::lround(sequences(tokens))));
  };
  const int low = whole(least), high = whole(most);
  std::set<int> batches;
  for (const double tokens : scenario.batch_tokens) {
    const double wanted = sequences(tokens);
    for (int ranks = chips; ranks >= 1; --ranks) {
      if (chips % ranks != 0) continue;
      const int from = (low + ranks - 1) / ranks, to = high / ranks;
      if (from > to) continue;
      batches.insert(std::clamp(static_cast<int>(std::lround(wanted / ranks)), from, to) * ranks);
      break;
    }
  }
  return {batches.begin(), batches.end()};
}

}  // namespace podsim
