// The interval between checkpoints that trains most, by trying.
#pragma once

#include <functional>
#include <vector>

#include "report/answer/reliability.h"
#include "scheduler/reliability/weeks/milliseconds.h"

namespace podsim {

// `ettr` of an interval is asked at geometric steps between a quarter and four times `around`, and finer
// about the best of them; none below `least`. Gives choice, interval, trials and where the optimum is flat.
IntervalReport search_interval(Milliseconds around, Milliseconds least,
                               const std::function<double(Milliseconds)>& ettr);

}  // namespace podsim
