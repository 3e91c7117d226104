// What a loop works out of a system before anything happens, and keeps for the next time that it is
// simulated.
#pragma once

#include <optional>

#include "engine/fluid.h"
#include "scheduler/folding/system.h"
#include "scheduler/simulation/loop/link_users.h"
#include "scheduler/simulation/loop/solo_legs.h"
#include "scheduler/simulation/state/stream_operations.h"
#include "scheduler/simulation/state/uncontended_collectives.h"

namespace podsim {

// Follows from the system alone. Some of it is worked out when it is asked for: not for several threads at
// once.
struct SystemTables {
  // REQUIRES: `of` outlives this object.
  explicit SystemTables(const System& of);
  SystemTables(const SystemTables&) = delete;  // parts of it refer to each other
  SystemTables& operator=(const SystemTables&) = delete;

  const System& system;
  StreamOperations lists;
  const Fluid links;  // with nothing on them
  UncontendedCollectives uncontended;
  LinkUsers users;
  SoloLegs legs;
  std::optional<bool> has_longest_path;  // of LongestPathLoop::knows, once it has been asked for
};

}  // namespace podsim
