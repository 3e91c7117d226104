// How often HLO loops run.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "ingest/hlo/module.h"

namespace podsim::hlo {

struct TripCount {
  enum class How : std::uint8_t { kAnnotated, kComputed, kStated, kUnknown };
  std::int64_t trips = 1;  // 1 where unknown
  How how = How::kUnknown;
};
const char* to_string(TripCount::How how);

// Of a `while`: as its backend_config says, or by its condition, a comparison of a counter with a constant,
// where the body adds a constant to the counter and the loop begins with one; all of them may hide behind
// copies, conversions and fusions.
TripCount trip_count(const Module& module, const Computation& computation, const Instruction& loop);

// All loops of a module, which must outlive this.
struct LoopCounts {
  std::map<std::string, TripCount>
      by_name;  // "while.1", or "computation/while.1" where several are called so
  std::map<const Instruction*, TripCount> of;
};

// `stated` ones, by their names, count instead of what is found.
LoopCounts loop_counts(const Module& module, const std::map<std::string, std::int64_t>& stated = {});

}  // namespace podsim::hlo
