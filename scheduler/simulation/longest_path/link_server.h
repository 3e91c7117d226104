// Operations of slots that meet on links, in order of time.
#pragma once

#include <cstdint>
#include <queue>
#include <utility>
#include <vector>

#include "engine/fluid.h"
#include "scheduler/folding/system.h"

namespace podsim::longest_path {

// Rule 10 of simulate.h for whatever is given to it, one operation of a slot at a time.
class LinkServer {
 public:
  // REQUIRES: the system outlives this.
  explicit LinkServer(const System& system);

  // The slot's operation starts. REQUIRES: not before the last instant that advance() has come to.
  void start(std::int32_t slot, std::int32_t message, Time now);

  // When something happens next; never where nothing is under way.
  Time next();

  // What happens at an instant: slots whose transfers begin or have drained, and those whose operations end.
  struct Instant {
    std::vector<std::int32_t> began, drained, ended;
  };
  // REQUIRES: now == next(), and whatever starts later starts now at the earliest. Valid until the next call.
  const Instant& advance(Time now);

 private:
  struct Operation {
    std::int32_t message = -1;
    std::size_t phase = 0;
  };
  using Event = std::pair<Time, std::int32_t>;  // slot

  const std::vector<ClassPhase>& phases_of(std::int32_t slot) const;
  Bytes bytes_of(std::int32_t slot) const { return system_.step.messages[operations_[slot].message].bytes; }
  void begin_phase(std::int32_t slot, Time now);
  void await_arrival(std::int32_t slot, Time now);

  const System& system_;
  Fluid links_;                        // owners are slots
  std::vector<Operation> operations_;  // [slot]
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  Instant instant_;
};

}  // namespace podsim::longest_path
