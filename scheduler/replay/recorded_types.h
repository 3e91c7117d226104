// Which kinds of rows a trace has, and what a replay leaves out without the others.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "scheduler/replay/recorded_trace.h"

namespace podsim {

// The types of rows that a replay can use, and what it says of those that are missing.
struct RecordedTypes {
  // Sends without their receives, and receives without their sends, tell no transfer times and are not used.
  std::array<bool, kOpTypes> used{};
  std::vector<std::string> notes;  // what is missing of a job of this shape

  bool uses(OpType type) const { return used[static_cast<std::size_t>(type)]; }
};

RecordedTypes recorded_types(const RecordedTrace& trace);

}  // namespace podsim
