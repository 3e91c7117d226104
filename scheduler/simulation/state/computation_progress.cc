// Takes computations over the instants at which their pace changes.
#include "scheduler/simulation/state/computation_progress.h"

namespace podsim {
Time ComputationProgress::follow(CollectiveAhead& only, double slowdown, Time until) {
  Time lost = skip(only, slowdown, until);
  while (only.next < std::min(end, until)) {
    const Time next = only.next;
    lost += settle(next);
    only.pass(next);
    const double changed = only.drains() ? slowdown : 1;
    if (changed == pace) continue;
    go_on_at(changed);
    lost += skip(only, slowdown, until);
  }
  return lost;
}

// Takes a computation that stands at an edge of the collective over those that follow before `until` and
// surely before its end, as settling at each of them would. What it loses.
Time ComputationProgress::skip(CollectiveAhead& only, double slowdown, Time until) {
  if (only.passed == 0) return {};
  const TransferEdge *at = only.edges + only.passed - 1, *to = only.edges + only.count - 1;
  if (only.start + at->after != updated) return {};
  const auto reaches = [&](const TransferEdge& edge) {
    return left - (edge.done - at->done) >= kMargin && only.start + edge.after < until;
  };
  while (to > at && !reaches(*to)) --to;
  // Where a transfer begins as another ends the pace stays, and with it the end that was foreseen before.
  while (to > at &&
         (to[-1].after == to->after || (to + 1 < only.edges + only.count && to[1].after == to->after)))
    --to;
  if (to == at) return {};
  const Time elapsed = to->after - at->after, done = to->done - at->done;
  left -= done;
  updated += elapsed;
  only.go_to(only.passed + static_cast<std::uint32_t>(to - at));
  pace = only.drains() ? slowdown : 1;
  end = updated + scaled(left, pace);
  return elapsed - done;
}

}  // namespace podsim
