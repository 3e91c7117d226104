// --set with several values: every combination of them is a scenario of its own.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "proto/text/override.h"

namespace podsim {

struct SweepPoint {
  std::vector<std::string> values;  // [swept path]
  std::vector<Override> overrides;  // all of the command, each with one value
};

struct Sweep {
  std::vector<std::string> paths;  // that are given several values, in the order of the command
  std::vector<SweepPoint> points;  // the last path varies fastest; one point where nothing is swept
};

// Commas separate the values of a number, of true or false, and of names; a text of which a part is more than
// a word (letters, digits, "_", "-", ".") is one value, and so is the question. A list takes its elements
// with commas, and several lists in brackets: "[8,8,4],[4,4,16]". Nothing when there are more than
// kMostPoints points.
inline constexpr std::size_t kMostPoints = 1000;
std::optional<Sweep> sweep_of(const std::vector<Override>& overrides, std::size_t most = kMostPoints);

// Whether a field of a scenario is a whole number.
bool takes_whole_numbers(const std::string& path);

// The first values of all paths together, then the second, and so on; a path with one value has it
// throughout. Nothing where two paths have several, and not as many.
std::optional<Sweep> zipped_sweep(const std::vector<Override>& overrides);

}  // namespace podsim
