// Whether the functions of a module call what is there.
#pragma once

#include <string>
#include <vector>

#include "ingest/stablehlo/module.h"

namespace podsim::stablehlo {

struct CallProblem {
  std::string function;  // that is called
  std::string message, hint;
};

// Every function that is called is there, each once, and none calls itself: nothing where that holds.
std::vector<CallProblem> call_problems(const Module& module);

}  // namespace podsim::stablehlo
