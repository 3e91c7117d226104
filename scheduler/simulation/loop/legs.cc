// Where hosts are beside legs.
#include "scheduler/simulation/loop/legs.h"

#include <algorithm>

namespace podsim {

void LegOutcome::clear() {
  length = host_add = {};
  host_floor = kNever;
  bucket.fill({});
  exposed.clear();
}

bool HostAhead::in_time(std::span<const HostCall> calls, Time begin, Time& latest) {
  Time least = latest;
  for (const HostCall& call : calls) {
    const Time at = begin + call.at;
    if (call.synchronises) {
      add_ = LegOutcome::kNever;
      floor_ = at;
      continue;
    }
    add_ = LegOutcome::later(add_, call.length);
    floor_ = LegOutcome::later(floor_, call.length);
    if (lead_ < Time::max()) floor_ = std::max(floor_, at - lead_);
    if (add_ != LegOutcome::kNever) least = std::min(least, at - add_ - kRoundingMargin);
    if (floor_ + kRoundingMargin > at) return false;
  }
  latest = least;
  return true;
}

}  // namespace podsim
