// How the device of one rank spent its time: computing, communicating, both at once, neither.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ingest/imported/account.h"
#include "ingest/kineto/profile.h"

namespace podsim::kineto {

// Unions over all streams, in ns. exposed = communication while nothing is computed.
struct DeviceTime {
  std::int64_t span = 0, busy = 0;  // from the first beginning to the last end; of it with any work
  std::int64_t compute = 0, communication = 0, memory = 0;
  std::int64_t overlap = 0, exposed = 0;
  std::int64_t exposed_beyond_memory = 0;  // and nothing is copied either
};

// Of the work that a step launched, whenever it ran.
struct StepTime {
  Step step;
  std::optional<std::int64_t> to_next_ns;         // from its mark on the host to that of the next
  std::optional<std::int64_t> device_to_next_ns;  // from its first work on the device to that of the next
  std::int64_t launched = 0;
  DeviceTime device;

  // A host that does not wait for its device marks steps faster than these run, until its queue is full: the
  // device's own interval counts where both steps have work there.
  std::int64_t lasts_ns() const {
    if (device_to_next_ns) return *device_to_next_ns;
    return to_next_ns.value_or(step.end_ns - step.begin_ns);
  }
};

struct StreamTime {
  std::int64_t events = 0, busy_ns = 0;
};

// Kernels that carry out the same collective.
struct CollectiveTime {
  CollectiveCall call;
  std::int64_t count = 0, sum_ns = 0, shortest_ns = 0;
};

struct Summary {
  std::int64_t compute_kernels = 0, communication_kernels = 0, memory_operations = 0;
  std::int64_t sum_compute_ns = 0, sum_communication_ns = 0, sum_memory_ns = 0;
  std::map<std::string, StreamTime> streams;
  DeviceTime whole;
  std::vector<StepTime> steps;
  std::vector<CollectiveTime> collectives;  // by the words of their figures
  std::int64_t undescribed = 0;             // communication kernels that do not say what they carry
};

// REQUIRES: the profile has events of a device.
Summary summarize(const Profile& profile);

// By their beginnings: those whose launch lies in the step.
std::vector<const DeviceEvent*> launched_in(const Profile& profile, const Step& step);

Account account_of(const Profile& profile);

}  // namespace podsim::kineto
