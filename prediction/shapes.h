// Steps of all lengths that documents are padded to, from the step of the longest.
#pragma once

#include <functional>

#include "report/answer/report.h"

namespace podsim {

struct Spec;

// Each shape is predicted by itself, with what goes wrong, by `step_time`. REQUIRES: the job has shapes;
// `longest` is its report.
ShapesReport shapes_of(const Spec& spec, const Report& longest,
                       const std::function<Time(const Spec&)>& step_time);

}  // namespace podsim
