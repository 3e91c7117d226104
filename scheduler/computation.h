// How fast chips compute: speed, random jitter, and transfers that run beside computation.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/event_queue.h"
#include "engine/random.h"
#include "scheduler/accounts.h"
#include "scheduler/running.h"
#include "scheduler/simulate.h"

namespace podsim {

// At most one computation of each chip class at a time. Its end is a kComputed event on the queue; one whose
// version is out of date was overtaken by a change of pace.
class Computation {
 public:
  // REQUIRES: all of them outlive this object.
  Computation(const System& system, const SimulateOptions& options, EventQueue<Event>& queue,
              Accounts& accounts);

  // An operation that takes `duration` on a chip of speed 1 without jitter, and the wait for slower hosts.
  void begin(std::int32_t chip, Time now, Time duration);

  // A pause of this length, whatever the chip's speed and the transfers beside it.
  void begin_pause(std::int32_t chip, Time now, Time duration);

  // A transfer of the pattern begins (+1) or ends (-1) on the chip; what it computes goes on at the new pace.
  void change_transfers(std::int32_t chip, std::int32_t pattern, int difference, Time now);

  // Whether this kComputed event ends what the chip computes now.
  bool ends(const Event& event) const { return event.version == chips_[event.index].version; }

  // The chip's computation is over. What it lost to transfers beside it, booked already.
  Time end(std::int32_t chip, Time now);

  // Of scheduler/steady_state.h; the transfers beside a chip are those of its meetings.
  template <class Visitor>
  void visit(Visitor& state) {
    for (Chip& chip : chips_) {
      state.fixed(chip.computing + 2 * chip.pausing);
      if (!chip.computing) continue;
      state.fixed(chip.left_ps);
      state.fixed(chip.lost.ps);
      state.moving(chip.updated);
    }
  }

 private:
  struct Chip {
    bool computing = false, pausing = false;
    std::int64_t left_ps = 0;  // of the present computation at `updated`, at full speed
    Time updated;
    double interference = 0;  // of the job's stack
    double skew = 0;          // of its stage
    std::uint32_t version = 0;
    Time lost;                               // of the present computation, to transfers beside it
    int transfers = 0;                       // that the chip takes part in now
    std::vector<std::int32_t> transfers_of;  // [pattern]
    std::uint64_t operations = 0;            // so far; addresses the chip's random draws
  };

  void start(std::int32_t chip, Time now, Time duration, bool pause);
  double slowdown(const Chip& chip) const;
  void settle(std::int32_t chip, Time now);
  void schedule_end(std::int32_t chip, Time now);

  const System& system_;
  const SimulateOptions& options_;
  EventQueue<Event>& queue_;
  Accounts& accounts_;
  Lognormal jitter_;
  std::vector<Chip> chips_;
};

}  // namespace podsim
