// Arithmetic over named figures, as the columns of a suite have it.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace podsim {

// A value, or why there is none.
struct Evaluated {
  std::optional<double> value;
  std::string problem;
};

// Numbers, + - * / ^, parentheses, the functions abs, sqrt, exp, log, floor, min and max, and figures, which
// begin with a letter or a bracket: "slices[slice_chips=256].goodput / 2", "1 - exp(-x)", "[1].S". In a
// figure everything up to the closing bracket or quote belongs to it: S_by_optype."forward-compute". A figure
// that `figure` has no value for is a problem, as is text that is no expression, and a result that is not
// finite.
Evaluated evaluate(const std::string& expression, const std::function<Evaluated(const std::string&)>& figure);

// Without figures.
Evaluated evaluate(const std::string& expression);

}  // namespace podsim
