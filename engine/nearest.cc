// Which valid name a user probably meant.
#include "engine/nearest.h"

#include <algorithm>
#include <numeric>

namespace podsim {
namespace {

// Levenshtein distance with swaps of neighbours counted as one; letters of either case are the same.
int edit_distance(const std::string& a, const std::string& b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  std::vector<int> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      const bool swapped =
          i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

std::size_t common_start(const std::string& a, const std::string& b) {
  std::size_t same = 0;
  while (same < a.size() && same < b.size() && a[same] == b[same]) ++same;
  return same;
}

}  // namespace

std::string nearest(const std::string& name, const std::vector<std::string>& candidates) {
  constexpr std::size_t kLongestName = 64;  // beyond this a name is no misspelling
  if (name.empty() || name.size() > kLongestName) return "";
  std::string best;
  int best_distance = 0;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > kLongestName) continue;
    // Part of a name, such as "v5p" for "tpu_v5p", is as close as one wrong letter.
    const bool part = name.size() >= 3 && candidate.find(name) != std::string::npos && candidate != name;
    const int distance = part ? 1 : edit_distance(name, candidate);
    const int allowed = std::max(1, static_cast<int>(std::max(name.size(), candidate.size())) / 3);
    if (distance > allowed) continue;
    const bool nearer =
        distance < best_distance ||
        (distance == best_distance && common_start(name, candidate) > common_start(name, best));
    if (best.empty() || nearer) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace podsim
