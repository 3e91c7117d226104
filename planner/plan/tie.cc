// Halves the range, by ratio where it is wide.
#include "planner/plan/tie.h"

#include <cmath>

namespace podsim {

std::optional<Tie> find_tie(const std::function<double(double)>& difference, double from, double to,
                            bool whole_numbers) {
  constexpr double kNear = 1.0 / 2000;
  const bool positive_below = difference(from) > 0;
  if (positive_below == (difference(to) > 0)) return std::nullopt;
  Tie tie{from, to, 2};
  for (;;) {
    double middle =
        tie.above > 2 * tie.below ? std::sqrt(tie.below * tie.above) : (tie.below + tie.above) / 2;
    if (whole_numbers) middle = std::floor(middle);
    const bool is_near = whole_numbers ? tie.above - tie.below <= 1 : tie.above <= tie.below * (1 + kNear);
    if (is_near) return tie;
    ++tie.evaluations;
    ((difference(middle) > 0) == positive_below ? tie.below : tie.above) = middle;
  }
}

}  // namespace podsim
