// Where two courses cross: the value of an assumption at which a choice changes.
#pragma once

#include <functional>
#include <optional>

namespace podsim {

// `below` and `above` bracket the tie: the difference changes its sign between them.
struct Tie {
  double below = 0, above = 0;
  int evaluations = 0;
  bool again = false;  // there is another one above, since the difference has one sign at both ends
};

// Nothing for a value at which there is no difference, since one of the two cannot have it.
using Difference = std::function<std::optional<double>(double)>;

// Bisects between `from` and `to`, 0 < from < to, until they are nearer than a 2,000th, or are neighbours
// among the whole numbers that have a difference where only these count. Where the sign is the same at both
// ends, 15 values between are looked at, evenly by ratio, and the least tie that these show is found; nothing
// where they show none. REQUIRES: both ends have a difference.
std::optional<Tie> find_tie(const Difference& difference, double from, double to, bool whole_numbers);

}  // namespace podsim
