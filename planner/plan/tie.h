// Where two courses cross: the value of an assumption at which a choice changes.
#pragma once

#include <functional>
#include <optional>

namespace podsim {

// `below` and `above` bracket the tie: the difference changes its sign between them.
struct Tie {
  double below = 0, above = 0;
  int evaluations = 0;
};

// Bisects between `from` and `to`, 0 < from < to, until they are nearer than a 2,000th, or are neighbours
// where only whole numbers count. Nothing where the difference has one sign at both ends. Of several ties it
// finds one.
std::optional<Tie> find_tie(const std::function<double(double)>& difference, double from, double to,
                            bool whole_numbers);

}  // namespace podsim
