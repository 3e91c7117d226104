// A plan's question in words: by them the numbers of questions differ.
#pragma once

#include <string>

#include "planner/plan/plan.h"

namespace podsim {

// All that its answer hangs on beside the texts of its scenarios: two questions about the same texts have the
// same words only where they are the same.
std::string question_words(const PlanQuestion& question);

}  // namespace podsim
