// Halves the range, by ratio where it is wide.
#include "planner/plan/tie.h"

#include <cmath>

#include "engine/check.h"

namespace podsim {
namespace {

constexpr double kNear = 1.0 / 2000;
constexpr int kHalvings = 4;      // of a range by ratio into those in which a tie is looked for
constexpr int kMostTries = 4096;  // of whole numbers on either side of one that has no difference

// A value and the sign of the difference there.
struct SideOfTie {
  double at = 0;
  bool positive = false;
};

class TieFinder {
 public:
  TieFinder(const Difference& difference, bool whole_numbers)
      : difference_(difference), whole_numbers_(whole_numbers) {}

  std::optional<Tie> run(double from, double to) {
    const std::optional<SideOfTie> first = side_at(from), last = side_at(to);
    PODSIM_CHECK(first && last, "there is a difference at both ends");
    if (first->positive != last->positive) return bisected(*first, *last);
    double step = to / from;
    for (int i = 0; i < kHalvings; ++i) step = std::sqrt(step);
    SideOfTie before = *first;
    double value = from;
    for (int i = 1; i < 1 << kHalvings; ++i) {
      value *= step;
      if (value <= before.at) continue;
      const std::optional<SideOfTie> side = side_near(value, before.at, to);
      if (!side) continue;
      if (side->positive != first->positive) {
        Tie tie = bisected(before, *side);
        tie.again = true;
        return tie;
      }
      before = *side;
    }
    return std::nullopt;
  }

 private:
  std::optional<SideOfTie> side_at(double value) {
    const std::optional<double> difference = difference_(value);
    if (!difference) return std::nullopt;
    ++evaluations_;
    return SideOfTie{value, *difference > 0};
  }

  // The one nearest to `middle` of those that are between two others.
  std::optional<SideOfTie> side_near(double middle, double below, double above) {
    if (!whole_numbers_) return side_at(middle);
    middle = std::floor(middle);
    for (int away = 0; away <= kMostTries; ++away) {
      const double higher = middle + away, lower = middle - away;
      if (higher >= above && lower <= below) break;
      if (higher > below && higher < above)
        if (const auto side = side_at(higher)) return side;
      if (away > 0 && lower > below && lower < above)
        if (const auto side = side_at(lower)) return side;
    }
    return std::nullopt;
  }

  // REQUIRES: the signs of the two are not the same.
  Tie bisected(SideOfTie below, SideOfTie above) {
    const auto is_near = [&] {
      return whole_numbers_ ? above.at - below.at <= 1 : above.at <= below.at * (1 + kNear);
    };
    while (!is_near()) {
      const bool is_wide = above.at > 2 * below.at;
      const double middle = is_wide ? std::sqrt(below.at * above.at) : (below.at + above.at) / 2;
      const std::optional<SideOfTie> side = side_near(middle, below.at, above.at);
      if (!side) break;
      (side->positive == below.positive ? below : above) = *side;
    }
    return {below.at, above.at, evaluations_};
  }

  const Difference& difference_;
  const bool whole_numbers_;
  int evaluations_ = 0;
};

}  // namespace

std::optional<Tie> find_tie(const Difference& difference, double from, double to, bool whole_numbers) {
  return TieFinder(difference, whole_numbers).run(from, to);
}

}  // namespace podsim
